//! Files on the disk, whatever their format.

pub(crate) mod atomic;
pub(crate) mod input;
pub(crate) mod live_trace;
