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
mod threads;

use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use napi::sys as napi_sys;

use self::frame::FrameReader;
pub(crate) use self::ring::{LabelRecord, LabelRing};
pub(crate) use self::sampled_thread::LabelSampling;
#[cfg(test)]
pub(super) use self::slot::LabelApi;
pub(crate) use self::slot::SlotSearch;
use super::symbols::Isolate;

/// Where the id of a thread's current label set is. Used on the thread only.
#[derive(Clone, Copy)]
pub(crate) enum LabelSource {
    /// In the frame of the asynchronous context, whose environment is given.
    Frames(FrameReader, napi_sys::napi_env),
    /// In memory that JavaScript writes whenever the context changes.
    Cell(ptr::NonNull<AtomicI32>),
}

impl LabelSource {
    /// Returns the source that JavaScript writes, a typed array of one number. The array must not be freed as long as the source is used.
    pub(crate) fn cell(cell: &mut [i32]) -> Option<Self> {
        Some(Self::Cell(ptr::NonNull::new(cell.first_mut()?)?.cast()))
    }

    /// Returns the id; none if there is none, or if anything is not as expected. May be called in a signal
    /// handler.
    ///
    /// # Safety
    /// Must be called on the thread, while its environment is alive, outside of collections.
    unsafe fn read(&self) -> Option<i32> {
        match self {
            // SAFETY: the caller promises the same.
            Self::Frames(reader, _) => unsafe { reader.read() },
            // SAFETY: the memory is there as long as the environment.
            Self::Cell(cell) => Some(unsafe { cell.as_ref() }.load(Ordering::Relaxed)),
        }
    }

    /// Returns the id, in a call from JavaScript.
    pub(crate) fn read_now(&self) -> Option<i32> {
        // SAFETY: a source is used on its thread only, and the call shows that the environment is alive.
        // JavaScript runs, so no collection does.
        unsafe { self.read() }
    }

    /// Returns whether the source can be trusted, without running JavaScript.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Frames(reader, env) => slot::is_current(reader, *env),
            Self::Cell(_) => true,
        }
    }

    /// Returns the isolate whose collections move what the source reads.
    fn isolate(&self) -> Option<*mut Isolate> {
        match self {
            Self::Frames(reader, _) => Some(reader.isolate),
            Self::Cell(_) => None,
        }
    }
}
