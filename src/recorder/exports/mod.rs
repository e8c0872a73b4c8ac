//! The functions that JavaScript calls to record. They pass values as those of the tools do.

mod armed;
mod calling_thread;
mod events;
mod labels;
mod push;
mod record;
