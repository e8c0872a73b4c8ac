//! The writer thread.

pub(crate) mod event_loop;
pub(crate) mod handle;
pub(crate) mod heap_trim;
mod suspension;
mod waiter;
