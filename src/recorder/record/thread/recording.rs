//! The recording of the calling thread, and what the exports ask of it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::next_window::NextWindow;
use super::reading::ThreadReading;
use super::sampling::ThreadSampler;
use crate::record::files::complete_segment::CompleteSegment;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::recording_link::ThreadActivity;
use crate::record::link::taken_window::{Circumstances, TakenWindow};
use crate::record::observers::observer::{ObservedThread, ThreadObserver};
use crate::record::observers::on_thread::ThreadObservers;
use crate::record::process::host::HostProcess;
use crate::record::process::signals;
use crate::record::window::worker_name::WorkerName;
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::RawWindow;
use crate::sampler::v8::{EntryHook, EventLoop, Profiler};
use cpu_prof_core::base::settings::categories::Categories;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::system;

thread_local! {
    /// The running recording. V8's side of it never leaves its thread, and callbacks find it here
    /// without a pointer that could outlive it.
    pub(super) static RECORDING: RefCell<Option<ThreadRecording>> = const { RefCell::new(None) };
    /// The profiler of the last recording. Creating one is the slowest part of a start.
    pub(super) static IDLE_PROFILER: RefCell<Option<Profiler>> = const { RefCell::new(None) };
    /// The recording that ended before the program stopped it.
    pub(super) static ENDED_EARLY: RefCell<Option<StoppedRecording>> = const { RefCell::new(None) };
}

/// A running recording.
pub(super) struct ThreadRecording {
    /// The process.
    pub process: &'static HostProcess,
    /// The thread, and its link to the writer thread.
    pub thread: ObservedThread,
    /// Settings.
    pub config: Config,
    /// The source of the samples.
    pub sampler: RefCell<ThreadSampler>,
    /// The waits of the thread.
    pub waits: ThreadWaiting,
    /// What the signal handler reads of the thread.
    pub reading: ThreadReading,
    /// Notes for the next window.
    pub next_window: NextWindow,
    /// What is recorded beside the profile.
    pub observers: ThreadObservers,
    /// Where the recording comes from.
    pub origin: RecordingOrigin,
}

/// How the waits of a thread for events are known, in which its sampling can be suspended.
pub(super) struct ThreadWaiting {
    /// The thread's event loop, if V8's sampling does not end the loop's waits.
    pub event_loop: Option<EventLoop>,
    /// Resumes the sampling that is suspended while the thread waits.
    pub entry_hook: Option<EntryHook>,
    /// The thread's activity up to the last window.
    pub last_activity: Cell<Option<ThreadActivity>>,
}

/// Where a recording comes from.
pub(super) struct RecordingOrigin {
    /// Why the recording started, if not with its program. It is then part of the recording of all threads
    /// that is the link's parent.
    pub reason: Option<StartReason>,
    /// The recording before the program sent itself a signal that it survived.
    pub earlier: Option<StoppedRecording>,
}

/// A recording that has ended, with complete files.
pub(crate) struct StoppedRecording {
    /// Contents of the files.
    pub totals: RecordingTotals,
    /// Segments among the files, if their history is limited.
    pub segments: Vec<CompleteSegment>,
    /// Time from start to end, microseconds.
    pub duration_us: i64,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Source of the samples.
    pub source: Source,
}

impl StoppedRecording {
    /// Takes out the segments, for a recording that continues this one.
    pub(super) fn take_segments(&mut self) -> Vec<CompleteSegment> {
        let segments = std::mem::take(&mut self.segments);
        self.totals.take_out(&segments);
        segments
    }
}

impl ThreadRecording {
    /// Returns whether this thread has only waited for events since its last window, and has nothing to hand over.
    pub(super) fn has_waited(&self) -> bool {
        self.thread.link.has_waited(self.waits.last_activity.get(), self.activity())
    }

    /// Returns whether the writer thread wants this thread to suspend its sampling, and the thread has
    /// still only waited.
    pub(super) fn should_suspend(&self) -> bool {
        let waiting_since = self.thread.link.suspension.waiting_since.lock().take();
        let activities = waiting_since.zip(self.activity());
        activities.is_some_and(|(since, now)| now.has_waited_since(&since))
    }

    /// Returns a window that ends now. `pause` is the time that the window cost this thread.
    pub(super) fn window(&self, window: RawWindow, pause: Duration) -> TakenWindow {
        let NextWindow { rotation, resumed_us, began_in, addon_call_us } = &self.next_window;
        let begun = rotation.take();
        let mut pause = pause + begun.map(|begun| begun.pause).unwrap_or_default();
        let resumed_us = resumed_us.take();
        if let Some((from_us, to_us)) = resumed_us {
            pause += Duration::from_micros(u64::try_from(to_us - from_us).unwrap_or(0));
        }
        let activity = self.activity();
        let earlier = self.waits.last_activity.replace(activity);
        let was_waiting = activity
            .zip(earlier)
            .is_some_and(|(activity, earlier)| activity.has_mostly_waited_since(&earlier));
        self.thread.link.has_notes.set(false);
        self.observers.end_window();
        TakenWindow {
            window,
            pause,
            circumstances: Circumstances {
                profiler_span_us: begun.map(|begun| begun.span_us),
                resumed_us,
                is_suspended: self.thread.link.suspension.is_on.get(),
                activity,
                was_waiting,
                began_in: began_in.take(),
                addon_call_us: addon_call_us.take(),
            },
        }
    }

    /// Returns how this thread has spent its time up to now; none if V8's sampling ends its waits, or its
    /// CPU time is not known.
    fn activity(&self) -> Option<ThreadActivity> {
        self.thread.link.activity_with(self.waits.event_loop.as_ref()?.waited_us())
    }

    /// Lets the signal handler read what the observers want from now on.
    pub(super) fn begin_reading(&self) {
        self.reading.begin(self.observers.reads());
    }

    /// Tells the writer thread what has happened to this recording.
    pub(super) fn tell_writer(&self, message: RecordingMessage) {
        self.process.writer.tell(&self.thread.link, message);
    }

    /// Hands a window over to the writer thread.
    pub(super) fn hand_over(&self, taken: TakenWindow) {
        self.tell_writer(RecordingMessage::Window(taken));
        if self.thread.tid == 0 {
            signals::arm();
        }
    }
}

/// Takes the recording of this thread, to end it. A forked child has the memory of a recording, but
/// neither the writer thread nor V8's sampling thread, and would wait for both.
pub(super) fn take_recording() -> Option<ThreadRecording> {
    if system::is_forked() { None } else { RECORDING.take() }
}

/// Returns whether this thread is being recorded.
pub(crate) fn is_recording() -> bool {
    !system::is_forked() && RECORDING.with_borrow(Option::is_some)
}

/// Calls `f` with an observer of the calling thread, if the thread is recorded and has the observer.
pub(crate) fn with_observer<O: ThreadObserver, T>(f: impl FnOnce(&O) -> T) -> Option<T> {
    if system::is_forked() {
        return None;
    }
    RECORDING.with_borrow(|recording| recording.as_ref()?.observers.get().map(f))
}

/// Lets the signal handler read the calling thread anew, if it is recorded: an observer wants something else.
pub(crate) fn read_again() {
    RECORDING.with_borrow(|recording| {
        if let Some(recording) = recording.as_ref().filter(|_| !system::is_forked()) {
            recording.begin_reading();
        }
    });
}

/// Returns the categories whose events the calling thread's trace has, if the thread has a trace.
pub(crate) fn categories() -> Option<Categories> {
    if system::is_forked() {
        return None;
    }
    RECORDING.with_borrow(|recording| {
        let config = &recording.as_ref()?.config;
        config.formats.trace.then_some(config.categories)
    })
}

/// Returns whether this is a worker that is recorded only because a recording covers it.
pub(crate) fn is_covered() -> bool {
    RECORDING
        .with_borrow(|recording| recording.as_ref().is_some_and(|r| r.thread.link.parent.is_some()))
}

/// Names this thread, a worker, if there is a name.
pub(crate) fn name_worker(name: Option<WorkerName>) {
    RECORDING.with_borrow(|recording| {
        if let (Some(recording), Some(name)) = (recording, name) {
            recording.tell_writer(RecordingMessage::Rename(name));
        }
    });
}
