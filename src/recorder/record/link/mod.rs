//! What the recorded thread and the writer thread share.

pub(crate) mod growing_traces;
pub(crate) mod javascript_threads;
pub(crate) mod pending_exit;
pub(crate) mod recording_link;
pub(crate) mod taken_window;
