//! What is read of a thread with each sampling signal, in a handler around V8's.
//!
//! The readers add what they find, with the times before and after V8's handler, to rings. The writer thread
//! pairs the records with V8's samples by their times: V8's time of a sample is between the two.
//!
//! Rules for what runs in the handler:
//! - Nothing locks, allocates or panics.
//! - Nothing of V8 is called, and no handle is made.
//! - A thread reads only what is its own, and V8's code.

mod missing_frame;
mod sampled_thread;
mod threads;

pub(crate) use self::missing_frame::FrameFinder;
pub(crate) use self::missing_frame::{CodeKind, V8Code};
pub(crate) use self::sampled_thread::around_sample;
pub(crate) use self::sampled_thread::{OwnSampling, SignalReading, is_read_here};
