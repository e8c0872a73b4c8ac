//! One event of a trace that is read: its parts, its rules, and edits of its text.

pub mod chunk_json;
pub mod edit;
pub mod event_json;
pub mod event_times;
pub mod head;
pub mod our_chunk;
pub mod recorded_profile;
pub mod rules;
