//! The flags and the waker that a recorded thread shares with the writer thread.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::sampler::v8::{Callback, Waker};

/// The connection between one recorded thread and the writer thread.
pub(super) struct RecordingLink {
    id: u32,
    /// Id of the recording that covers this worker.
    parent: Option<u32>,
    /// None where JavaScript takes the windows, at times of its own.
    waker: Option<Waker>,
    has_failed: AtomicBool,
    is_abandoned: AtomicBool,
    is_restart_requested: AtomicBool,
    is_stop_requested: AtomicBool,
}

impl RecordingLink {
    /// Creates the link of a new recording.
    pub(super) fn new(parent: Option<u32>, waker: Option<Waker>) -> Self {
        static NEXT_ID: AtomicU32 = AtomicU32::new(0);
        let (has_failed, is_abandoned, is_restart_requested, is_stop_requested) =
            Default::default();
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            parent,
            waker,
            has_failed,
            is_abandoned,
            is_restart_requested,
            is_stop_requested,
        }
    }

    /// Returns the recording's id, unique in the process.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether this is a worker that is covered by a recording of another thread.
    pub(super) fn is_covered(&self) -> bool {
        self.parent.is_some()
    }

    /// Returns whether this is a worker that is covered by the given recording.
    pub(super) fn is_covered_by(&self, recording: u32) -> bool {
        self.parent == Some(recording)
    }

    /// Returns whether the thread can be woken.
    pub(super) fn can_wake(&self) -> bool {
        self.waker.is_some()
    }

    /// Requests that `callback` runs on the thread. Returns false if the thread cannot be woken.
    pub(super) fn wake(&self, callback: Callback) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.wake(callback))
    }

    /// Closes the waker: once this has returned, the thread is not woken again.
    pub(super) fn close_waker(&self) {
        if let Some(waker) = &self.waker {
            waker.close();
        }
    }

    /// Notes that an output file cannot be written, so that the thread stops sampling.
    pub(super) fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns whether an output file could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes that the thread no longer waits for the writer. Its isolate may be gone, so the writer
    /// must not delete profiles of that isolate.
    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// Returns whether the thread no longer waits for the writer.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed)
    }

    /// Requests that the next rotation restarts V8's stuck sampling thread.
    pub(super) fn request_restart(&self) {
        self.is_restart_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether a restart was requested, and clears the request.
    pub(super) fn take_restart_request(&self) -> bool {
        self.is_restart_requested.swap(false, Ordering::Relaxed)
    }

    /// Requests that the thread stops recording, because the recording that covers it was stopped.
    pub(super) fn request_stop(&self) {
        self.is_stop_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether the thread should stop recording.
    pub(super) fn is_stop_requested(&self) -> bool {
        self.is_stop_requested.load(Ordering::Relaxed)
    }
}
