//! What is known before the first event is written.

pub(crate) mod choose_slices;
pub(crate) mod choose_threads;
pub(crate) mod notes;
pub(crate) mod sizes;
pub(crate) mod sorted_inputs;
pub(crate) mod survey;
pub(crate) mod thread_cpu;
pub(crate) mod times;
