//! The Trace Event Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>
//! and the dialect of it that Chrome DevTools reads.

pub mod check;
pub mod event_names;
pub mod lines;
pub mod ours;
pub mod phase;
pub mod process_label;
pub mod write;
