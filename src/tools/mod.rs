//! Work on recordings that are finished.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod merge;
pub(crate) mod report;
