//! The Trace Event Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>
//! and the dialect of it that Chrome DevTools reads.

pub(crate) mod chunk_json;
pub(crate) mod edit;
pub(crate) mod emitted;
pub(crate) mod event;
pub(crate) mod event_args;
pub(crate) mod event_json;
pub(crate) mod event_names;
pub(crate) mod event_times;
pub(crate) mod events;
pub(crate) mod head;
pub(crate) mod moved_event;
pub(crate) mod own;
pub(crate) mod own_chunk;
pub(crate) mod phase;
pub(crate) mod process_span;
pub(crate) mod read;
pub(crate) mod recorded_profile;
mod rules;
pub(crate) mod scan;
pub(crate) mod side_event;
pub(crate) mod thread;
pub(crate) mod thread_names;
pub(crate) mod timing;
