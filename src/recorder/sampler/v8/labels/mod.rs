//! The labels of work at the moment of each sample.
//!
//! A handler around V8's handler of the sampling signal finds the id of the current label set, and adds it
//! with the time to a ring. The writer thread pairs the records with V8's samples by their times: V8's time
//! of a sample is between the times before and after its handler.
//!
//! Rules for what runs in the handler:
//! - Nothing of V8 is called, and no handle is made.
//! - Memory of another isolate is never read: a thread finds its own entry only.
//! - Whatever is not as expected means 'no labels'.

mod frame;
mod ring;
mod sampled_thread;
mod slot;
mod source;
mod threads;

pub(crate) use self::ring::{LabelRecord, LabelRing};
pub(crate) use self::sampled_thread::LabelSampling;
#[cfg(test)]
pub(super) use self::slot::LabelApi;
pub(crate) use self::slot::SlotSearch;
pub(crate) use self::source::LabelSource;
