//! Reaches a thread of JavaScript: from other threads, from its parent, and at its next safe moment.

pub(super) mod linked_binding;
pub(super) mod microtask;
pub(super) mod running_stack;
mod waker;

pub(crate) use self::linked_binding::{WorkerFunction, offer as offer_to_workers};
pub(crate) use self::microtask::{KeptFunction, run_soon};
pub(crate) use self::running_stack::text_of;
pub(crate) use self::running_stack::{RunningFunction, innermost_functions, running_functions};
pub(crate) use self::waker::Waker;
