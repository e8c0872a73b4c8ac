//! The data of the HTML report: all samples, on one call tree.

pub(crate) mod json;
pub(crate) mod page;
mod series;
mod tables;
