//! What is chosen before the first event is written.

pub(crate) mod choose_slices;
pub(crate) mod choose_threads;
pub(crate) mod survey;
pub(crate) mod times;
