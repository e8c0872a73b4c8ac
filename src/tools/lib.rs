//! Work on recordings that are finished, for the addons that JavaScript loads.

// A verb's function is in the file of its name.
#![allow(clippy::module_inception)]

#[cfg(test)]
mod agreement;
pub mod analysis;
pub mod border;
pub mod check;
pub mod compare;
pub mod convert;
pub mod follow;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod merge;
pub mod names;
pub mod page;
pub mod read;
pub mod report;
pub mod wall;
