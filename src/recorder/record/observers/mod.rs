//! What is recorded beside the profile: an observer for each kind of events.

mod core_waits;
mod event_loop;
mod gc;
pub(crate) mod http;
pub(crate) mod labels;
pub(crate) mod list;
mod memory;
mod native;
pub(crate) mod observer;
pub(crate) mod on_thread;
pub(crate) mod on_writer;
mod processes;
mod scripts;
mod timings;
mod typescript;
pub(crate) mod user_events;
