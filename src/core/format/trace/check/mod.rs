//! What is wrong with one event.

pub mod event_text;
pub mod fields;
pub mod one_event;
pub mod problems;
