//! The names of a lake: which folder and which file has what.

pub(crate) mod partition;
pub(crate) mod segment;
pub(crate) mod stem;
