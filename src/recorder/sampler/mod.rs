//! The sources of samples.

pub(crate) mod inspector;
pub(crate) mod source;
pub(crate) mod v8;
