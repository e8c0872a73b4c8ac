//! Files on the disk, whatever their format.

pub mod atomic;
pub mod input;
pub mod live_trace;
