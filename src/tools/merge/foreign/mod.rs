//! Traces of other tools.

pub(crate) mod event;
pub(crate) mod page_frames;
pub(crate) mod profiles;
pub(crate) mod spans;
pub(crate) mod trace;
