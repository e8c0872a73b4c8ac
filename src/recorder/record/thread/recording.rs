//! The recording of the calling thread, and what the exports ask of it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use crate::record::files::complete_segment::CompleteSegment;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::recording_link::{RecordingLink, ThreadActivity};
use crate::record::link::taken_window::{Circumstances, TakenWindow};
use crate::record::process::host::HostProcess;
use crate::record::process::signals;
use crate::record::window::worker_name::WorkerName;
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::RawWindow;
use crate::sampler::v8::{
    EntryHook, EventLoop, FrameFinder, Heap, NotedRequest, Profiler, RequestNotes, RunningFunction,
    SignalReading,
};
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::request::HttpRequest;

thread_local! {
    /// The running recording. V8's side of it never leaves its thread, and callbacks find it here
    /// without a pointer that could outlive it.
    pub(super) static RECORDING: RefCell<Option<ThreadRecording>> = const { RefCell::new(None) };
    /// The profiler of the last recording. Creating one is the slowest part of a start.
    pub(super) static IDLE_PROFILER: RefCell<Option<Profiler>> = const { RefCell::new(None) };
    /// The recording that ended before the program stopped it.
    pub(super) static ENDED_EARLY: RefCell<Option<StoppedRecording>> = const { RefCell::new(None) };
}

/// The tracks of requests, in the order of their numbers in JavaScript.
const TRACKS: [&str; 3] = ["HTTP server", "HTTP requests", "fetch"];

/// A running recording.
pub(super) struct ThreadRecording {
    /// The process.
    pub process: &'static HostProcess,
    /// V8's profiler; none where JavaScript takes the windows from the inspector.
    pub profiler: Option<Profiler>,
    /// Link to the writer thread.
    pub link: Arc<RecordingLink>,
    /// Settings.
    pub config: Config,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Start: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// The thread's event loop, if V8's sampling does not end the loop's waits.
    pub event_loop: Option<EventLoop>,
    /// The thread's heap, if its collections or its memory are wanted.
    pub heap: Option<Heap>,
    /// Resumes the sampling that is suspended while the thread waits.
    pub entry_hook: Option<EntryHook>,
    /// Finds the frames that code of the thread has not made, where that is possible.
    pub frames: Option<FrameFinder>,
    /// Reads the thread with each sample, where that is possible or wanted.
    pub reading: RefCell<Option<SignalReading>>,
    /// Where JavaScript notes the requests that have ended, if they are wanted, and the time of Node's clock at
    /// which the program's clock was 0, microseconds.
    pub request_notes: RefCell<Option<(RequestNotes, i64)>>,
    /// Start and end of the step that resumed sampling in this window: CLOCK_MONOTONIC,
    /// microseconds.
    pub resumed_us: Cell<Option<(i64, i64)>>,
    /// Functions in which the thread was at the start, the outermost first, until the first window.
    pub began_in: Cell<Vec<RunningFunction>>,
    /// Start and end of the call in which V8 takes a sample with the name of addons' functions, in this window:
    /// CLOCK_MONOTONIC, microseconds.
    pub addon_call_us: Cell<Option<(i64, i64)>>,
    /// The rotation that has begun.
    pub rotation: Cell<Option<BegunRotation>>,
    /// The thread's activity up to the last window.
    pub last_activity: Cell<Option<ThreadActivity>>,
    /// Why the recording started, if not with its program. It is then part of the recording of all threads
    /// that is the link's parent.
    pub reason: Option<StartReason>,
    /// The recording before the program sent itself a signal that it survived.
    pub earlier: Option<StoppedRecording>,
}

/// The first step of a rotation, which has been taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct BegunRotation {
    /// Time that the step took on the thread.
    pub pause: Duration,
    /// Start and end of the step: CLOCK_MONOTONIC, microseconds.
    pub span_us: (i64, i64),
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
    /// Returns whether this thread has only waited for events since its last window, and noted no request.
    pub(super) fn has_waited(&self) -> bool {
        self.link.has_waited(self.last_activity.get(), self.activity())
    }

    /// Returns the time between two flushes, microseconds.
    pub(super) fn flush_us(&self) -> u64 {
        let source = if self.profiler.is_some() { Source::V8 } else { Source::Inspector };
        u64::try_from(self.config.flush_interval(source).as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns whether the writer thread wants this thread to suspend its sampling, and the thread has
    /// still only waited.
    pub(super) fn should_suspend(&self) -> bool {
        let waiting_since = self.link.waiting_since.lock().take();
        let activities = waiting_since.zip(self.activity());
        activities.is_some_and(|(since, now)| now.has_waited_since(&since))
    }

    /// Returns a window that ends now. `pause` is the time that the window cost this thread.
    pub(super) fn window(&self, window: RawWindow, pause: Duration) -> TakenWindow {
        let begun = self.rotation.take();
        let mut pause = pause + begun.map(|begun| begun.pause).unwrap_or_default();
        let resumed_us = self.resumed_us.take();
        if let Some((from_us, to_us)) = resumed_us {
            pause += Duration::from_micros(u64::try_from(to_us - from_us).unwrap_or(0));
        }
        let profiler_span_us = begun.map(|begun| begun.span_us);
        let activity = self.activity();
        let earlier = self.last_activity.replace(activity);
        let was_waiting = activity
            .zip(earlier)
            .is_some_and(|(activity, earlier)| activity.has_mostly_waited_since(&earlier));
        let memory =
            if self.config.categories.has(Category::Memory) { self.heap.as_ref() } else { None };
        TakenWindow {
            window,
            memory: memory.map(Heap::memory),
            pause,
            circumstances: Circumstances {
                profiler_span_us,
                resumed_us,
                is_suspended: self.link.is_suspended.get(),
                activity,
                was_waiting,
                began_in: self.began_in.take(),
                addon_call_us: self.addon_call_us.take(),
            },
        }
    }

    /// Returns how this thread has spent its time up to now; none if V8's sampling ends its waits, or its
    /// CPU time is not known.
    fn activity(&self) -> Option<ThreadActivity> {
        self.link.activity_with(self.event_loop.as_ref()?.waited_us())
    }

    /// Tells the writer thread what has happened to this recording.
    pub(super) fn tell_writer(&self, message: RecordingMessage) {
        self.process.writer.tell(&self.link, message);
    }

    /// Takes the requests that JavaScript has noted. May be called in V8's interrupts.
    pub(super) fn take_requests(&self) {
        let Self { link, thread_id: tid, .. } = self;
        link.has_requests.set(false);
        let mut notes = self.request_notes.borrow_mut();
        let Some((notes, offset_us)) = notes.as_mut() else { return };
        let offset_us = *offset_us - system::node_clock_lead_us();
        let mut is_much = false;
        notes.take(|NotedRequest { kind, status, start_ms, duration_ms, name }| {
            let ts = offset_us + (start_ms * 1e3) as i64;
            let duration_us = (duration_ms * 1e3) as i64;
            // A recording that has just started finds requests that ended before.
            let is_wanted = !link.has_failed.get() && ts + duration_us >= self.start_us;
            let Some(track) = TRACKS.get(kind).filter(|_| is_wanted) else { return };
            let number = link.program_events.next_span();
            let at = At { pid: self.process.program.pid, tid: *tid, ts };
            let request = HttpRequest { number, track, status, at, start_ms, duration_us };
            is_much |= link.program_events.add_request(name, request);
        });
        if is_much {
            self.tell_writer(RecordingMessage::Events);
        }
    }

    /// Hands a window over to the writer thread.
    pub(super) fn hand_over(&self, taken: TakenWindow) {
        self.take_requests();
        self.tell_writer(RecordingMessage::Window(taken));
        if self.thread_id == 0 {
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

/// Returns whether this is a worker that is recorded only because a recording covers it.
pub(crate) fn is_covered() -> bool {
    RECORDING.with_borrow(|recording| recording.as_ref().is_some_and(|r| r.link.parent.is_some()))
}

/// Names this thread, a worker, if there is a name.
pub(crate) fn name_worker(name: Option<WorkerName>) {
    RECORDING.with_borrow(|recording| {
        if let (Some(recording), Some(name)) = (recording, name) {
            recording.tell_writer(RecordingMessage::Rename(name));
        }
    });
}
