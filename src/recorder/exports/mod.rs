//! The functions that JavaScript calls to record.

mod events;
mod labels;
mod record;
