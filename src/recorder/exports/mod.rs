//! The functions that JavaScript calls to record.

mod armed;
mod calling_thread;
mod events;
mod labels;
mod push;
mod record;
