//! Work on recordings that are finished.

#[cfg(test)]
mod agreement;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod merge;
pub(crate) mod report;
