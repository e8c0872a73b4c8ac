//! The flags and the waker that a recorded thread shares with the writer thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::event_buffer::EventBuffer;
use super::script_maps::RecordedMaps;
use crate::sampler::v8::{Callback, CollectionLog, DeletionQueue, Waker};
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::{CpuTimes, MeasuredThread};

/// The time that a thread has spent up to a moment, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadActivity {
    /// The moment: CLOCK_MONOTONIC.
    pub now_us: i64,
    /// CPU time.
    pub cpu_us: i64,
    /// Time that the event loop has waited for events.
    pub waited_us: i64,
}

impl ThreadActivity {
    /// Returns whether the thread has waited for events since an earlier moment, apart from the
    /// way back into its event loop.
    pub(crate) fn has_waited_since(&self, earlier: &Self) -> bool {
        /// More than the end of a rotation takes, and too little for a sample at most intervals.
        const MAX_CPU_US: i64 = 250;
        /// A thread on its way into the loop may have to wait for a core.
        const MAX_OUTSIDE_US: i64 = 10_000;
        let waited_us = self.waited_us - earlier.waited_us;
        let outside_us = self.now_us - earlier.now_us - waited_us;
        self.cpu_us - earlier.cpu_us <= MAX_CPU_US && outside_us <= MAX_OUTSIDE_US
    }

    /// Returns a counter of the time in which the thread slept, microseconds. `core_wait_us` is the
    /// time that the thread has waited for a core.
    pub(crate) fn slept_us(&self, core_wait_us: i64) -> i64 {
        self.now_us - self.cpu_us - core_wait_us
    }

    /// Returns whether the thread has mostly waited for events since an earlier moment.
    pub(crate) fn has_mostly_waited_since(&self, earlier: &Self) -> bool {
        2 * (self.waited_us - earlier.waited_us) > self.now_us - earlier.now_us
    }
}

/// The connection between one recorded thread and the writer thread.
pub(crate) struct RecordingLink {
    id: u32,
    /// Id of the recording that covers this worker.
    parent: Option<u32>,
    /// None where JavaScript takes the windows, at times of its own.
    waker: Option<Waker>,
    thread: MeasuredThread,
    is_main: bool,
    /// Collections of the thread's isolate that are not written yet.
    pub collections: Arc<CollectionLog>,
    /// Source maps of scripts.
    pub script_maps: RecordedMaps,
    /// Events of the program that are not written yet.
    pub program_events: EventBuffer,
    /// Profiles that were read and are not deleted yet.
    pub read_profiles: DeletionQueue,
    is_suspended: AtomicBool,
    has_failed: AtomicBool,
    is_restart_requested: AtomicBool,
    is_stop_requested: AtomicBool,
}

impl RecordingLink {
    /// Creates the link of a new recording of the calling thread.
    pub(crate) fn new(
        parent: Option<u32>,
        waker: Option<Waker>,
        is_main: bool,
        script_maps: RecordedMaps,
    ) -> Self {
        static NEXT_ID: AtomicU32 = AtomicU32::new(0);
        let (is_suspended, has_failed, is_restart_requested, is_stop_requested) =
            Default::default();
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            parent,
            waker,
            thread: MeasuredThread::this(is_main),
            is_main,
            collections: Arc::default(),
            script_maps,
            program_events: EventBuffer::default(),
            read_profiles: DeletionQueue::default(),
            is_suspended,
            has_failed,
            is_restart_requested,
            is_stop_requested,
        }
    }

    /// Returns the recording's id, unique in the process.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether the thread is the main thread.
    pub(crate) fn is_main(&self) -> bool {
        self.is_main
    }

    /// Returns whether this is a worker that is covered by a recording of another thread.
    pub(crate) fn is_covered(&self) -> bool {
        self.parent.is_some()
    }

    /// Returns whether this is a worker that is covered by the given recording.
    pub(crate) fn is_covered_by(&self, recording: u32) -> bool {
        self.parent == Some(recording)
    }

    /// Returns whether the thread can be woken.
    pub(crate) fn can_wake(&self) -> bool {
        self.waker.is_some()
    }

    /// Requests that `callback` runs on the thread. Returns false if the thread cannot be woken.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.wake(callback))
    }

    /// Returns the CPU times of the thread.
    pub(crate) fn cpu_times(&self) -> CpuTimes {
        self.thread.times()
    }

    /// Returns how the thread has spent its time up to now; none if that cannot be known.
    pub(crate) fn activity(&self) -> Option<ThreadActivity> {
        self.activity_with(self.waker.as_ref()?.waited_us()?)
    }

    /// Returns how the thread has spent its time up to now, when its loop has waited for `waited_us`.
    pub(crate) fn activity_with(&self, waited_us: i64) -> Option<ThreadActivity> {
        Some(ThreadActivity { now_us: system::now_us(), cpu_us: self.thread.cpu_us()?, waited_us })
    }

    /// Closes the waker: once this has returned, the thread is not woken again.
    pub(crate) fn close_waker(&self) {
        if let Some(waker) = &self.waker {
            waker.close();
        }
    }

    /// Notes whether the thread's sampling is suspended, because the thread has waited for long.
    pub(crate) fn set_suspended(&self, is_suspended: bool) {
        self.is_suspended.store(is_suspended, Ordering::Relaxed);
    }

    /// Returns whether the thread's sampling is suspended.
    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Relaxed)
    }

    /// Notes that an output file cannot be written, so that the thread stops sampling.
    pub(crate) fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns whether an output file could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Requests that the next rotation restarts V8's stuck sampling thread.
    pub(crate) fn request_restart(&self) {
        self.is_restart_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether a restart was requested, and clears the request.
    pub(crate) fn take_restart_request(&self) -> bool {
        self.is_restart_requested.swap(false, Ordering::Relaxed)
    }

    /// Requests that the thread stops recording, because the recording that covers it was stopped.
    pub(crate) fn request_stop(&self) {
        self.is_stop_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether the thread should stop recording.
    pub(crate) fn is_stop_requested(&self) -> bool {
        self.is_stop_requested.load(Ordering::Relaxed)
    }
}
