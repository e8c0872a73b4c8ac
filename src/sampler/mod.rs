//! The sources of samples.

pub(crate) mod inspector;
pub(crate) mod native_names;
pub(crate) mod source;
pub(crate) mod v8;
