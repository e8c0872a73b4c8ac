//! The flags and the waker that a recorded thread shares with the writer thread.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use super::javascript_threads::RecordedThread;
use crate::sampler::v8::{Callback, DeletionQueue, Waker};
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::MeasuredThread;

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

/// A flag that both threads read and change.
#[derive(Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Returns the flag.
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Changes the flag.
    pub(crate) fn set(&self, is_set: bool) {
        self.0.store(is_set, Ordering::Relaxed);
    }

    /// Returns the flag, and clears it.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Returns the next id of a recording: of a thread, or of all armed threads.
pub(crate) fn next_recording_id() -> u32 {
    static NEXT_ID: AtomicU32 = AtomicU32::new(0);
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// The connection between one recorded thread and the writer thread.
pub(crate) struct RecordingLink {
    /// Id of the recording, unique in the process.
    pub id: u32,
    /// Id of the recording that covers this worker, or of the one of all threads.
    pub parent: Option<u32>,
    /// None where JavaScript takes the windows, at times of its own.
    waker: Option<Waker>,
    /// The thread.
    pub thread: LinkedThread,
    /// Profiles that were read and are not deleted yet.
    pub read_profiles: DeletionQueue,
    /// The suspension of the thread's sampling.
    pub suspension: SharedSuspension,
    /// Whether an observer has noted what the thread takes with its next window.
    pub has_notes: Flag,
    /// Whether an output file could not be written, so that the thread stops sampling.
    pub has_failed: Flag,
    /// What the writer thread asks of the thread.
    pub requests: ThreadRequests,
}

/// A recorded thread, as the writer thread knows it.
pub(crate) struct LinkedThread {
    /// The thread's counters.
    pub measured: MeasuredThread,
    /// Whether the thread is the main thread.
    pub is_main: bool,
    /// Tells the thread's time from that of native threads.
    _recorded: RecordedThread,
}

/// The suspension of a thread's sampling while the thread waits.
#[derive(Default)]
pub(crate) struct SharedSuspension {
    /// Whether the sampling is suspended.
    pub is_on: Flag,
    /// The thread's activity up to a moment: a thread that has only waited since then suspends its
    /// sampling.
    pub waiting_since: Mutex<Option<ThreadActivity>>,
}

/// What a thread does with its next step.
#[derive(Default)]
pub(crate) struct ThreadRequests {
    /// Whether the next rotation restarts V8's stuck sampling thread.
    pub restart: Flag,
    /// Whether the thread should stop recording, because the recording that covers it was stopped.
    pub stop: Flag,
}

impl RecordingLink {
    /// Creates the link of a new recording of the calling thread.
    pub(crate) fn new(parent: Option<u32>, waker: Option<Waker>, is_main: bool) -> Self {
        let measured = MeasuredThread::this(is_main);
        Self {
            id: next_recording_id(),
            parent,
            waker,
            thread: LinkedThread {
                _recorded: RecordedThread::note(measured.id()),
                measured,
                is_main,
            },
            read_profiles: DeletionQueue::default(),
            suspension: SharedSuspension::default(),
            has_notes: Flag::default(),
            has_failed: Flag::default(),
            requests: ThreadRequests::default(),
        }
    }

    /// Returns whether the thread can be woken.
    pub(crate) fn can_wake(&self) -> bool {
        self.waker.is_some()
    }

    /// Requests that `callback` runs on the thread. Returns false if the thread cannot be woken.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.wake(callback))
    }

    /// Returns how the thread has spent its time up to now; none if that cannot be known.
    pub(crate) fn activity(&self) -> Option<ThreadActivity> {
        self.activity_with(self.waker.as_ref()?.waited_us()?)
    }

    /// Returns how the thread has spent its time up to now, when its loop has waited for `waited_us`.
    pub(crate) fn activity_with(&self, waited_us: i64) -> Option<ThreadActivity> {
        Some(ThreadActivity {
            now_us: system::now_us(),
            cpu_us: self.thread.measured.cpu_us()?,
            waited_us,
        })
    }

    /// Returns whether the thread has only waited for events between two moments, and has nothing to hand over.
    pub(crate) fn has_waited(
        &self,
        last: Option<ThreadActivity>,
        now: Option<ThreadActivity>,
    ) -> bool {
        !self.has_failed.get()
            && !self.has_notes.get()
            && last.zip(now).is_some_and(|(last, now)| now.has_waited_since(&last))
    }

    /// Closes the waker: once this has returned, the thread is not woken again.
    pub(crate) fn close_waker(&self) {
        if let Some(waker) = &self.waker {
            waker.close();
        }
    }
}
