//! The data of the HTML report: all samples, on one call tree.

pub mod json;
pub mod page;
mod series;
mod tables;
