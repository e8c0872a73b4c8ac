//! Where the id of a thread's current label set is found.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering};

use napi::Env;
use napi::bindgen_prelude::{Int32Array, Object};
use napi::sys as napi_sys;

use super::super::symbols::Isolate;
use super::frame::FrameReader;
use super::slot::{self, SlotSearch};

/// Where the id of a thread's current label set is. Used on the thread only.
#[derive(Clone, Copy)]
pub(crate) enum LabelSource {
    /// In the frame of the asynchronous context, whose environment is given.
    Frames(FrameReader, napi_sys::napi_env),
    /// In memory that JavaScript writes whenever the context changes.
    Cell(NonNull<AtomicI32>),
}

impl LabelSource {
    /// Returns the source in the frames, from a search that has begun in another context. The id is the value
    /// of `storage`.
    pub(crate) fn frames(env: &Env, search: SlotSearch, storage: &Object<'_>) -> Option<Self> {
        Some(Self::Frames(search.end(env, storage)?, env.raw()))
    }

    /// Returns the source that JavaScript writes: an array of one number, which must stay as long as the
    /// environment.
    pub(crate) fn cell(mut cell: Int32Array) -> Option<Self> {
        // SAFETY: nobody else uses the memory during the call. Later both sides use the memory on this
        // thread, and a number is written at once.
        let numbers = unsafe { cell.as_mut() };
        Some(Self::Cell(NonNull::from(numbers.first_mut()?).cast()))
    }

    /// Returns the current frame, for JavaScript; none if there is none, or if this is no source in frames.
    pub(crate) fn frame<'env>(&self, env: &'env Env) -> Option<Object<'env>> {
        matches!(self, Self::Frames(..)).then(|| slot::frame_object(env)).flatten()
    }

    /// Returns whether there is no current frame. Not so if this is no source in frames.
    pub(crate) fn is_outside(&self, env: &Env) -> bool {
        matches!(self, Self::Frames(reader, _) if slot::is_outside(reader, env))
    }

    /// Makes a frame the current one if there is none. Returns whether it is.
    pub(crate) fn enter(&self, env: &Env, frame: &Object<'_>) -> bool {
        matches!(self, Self::Frames(reader, _) if slot::enter(reader, env, frame))
    }

    /// Returns the id; none if there is none, or if anything is not as expected. May be called in a signal
    /// handler.
    ///
    /// # Safety
    /// Must be called on the thread, while its environment is alive, outside of collections.
    pub(super) unsafe fn read(&self) -> Option<i32> {
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
    pub(super) fn isolate(&self) -> Option<*mut Isolate> {
        match self {
            Self::Frames(reader, _) => Some(reader.isolate),
            Self::Cell(_) => None,
        }
    }
}
