//! Work on recordings that are finished.

pub mod convert;
pub mod merge;
pub mod report;
