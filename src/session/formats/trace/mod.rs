//! The Trace Event Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>
//! and the dialect of it that Chrome DevTools reads.

pub mod clean_facts;
pub mod event;
pub mod read;
pub mod samples;
pub mod scan;
