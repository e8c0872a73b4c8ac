//! The writer thread: requests windows when they are due, and writes what arrives.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::heap_trim::HeapTrim;
use super::suspension::Suspensions;
use super::waiter::Waiter;
use crate::record::files::complete_segment::CompleteSegment;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::pending_exit;
use crate::record::link::recording_link::ThreadActivity;
use crate::record::link::taken_window::TakenWindow;
use crate::record::output::recording_writer::RecordingWriter;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::v8::{Callback, EntryHook};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::met_condition::MetCondition;

/// Time to the first flush. Each of the next takes twice as long, up to the flush interval: a process that
/// dies early, as for lack of memory, loses half of its time at most.
const FIRST_FLUSH: Duration = Duration::from_millis(100);
/// The longest flush interval with earlier flushes. Who sets a longer one wants few flushes.
const MAX_EARLY_INTERVAL: Duration = Duration::from_secs(1);

/// A message to the writer thread.
pub(super) enum WriterMessage {
    /// A recording has started.
    Open(Box<RecordingWriter>),
    /// Something has happened to the recording of this id.
    Tell(u32, RecordingMessage),
    /// The recording of this id ends with its last window.
    Close(u32, Option<TakenWindow>, SyncSender<ClosedRecording>),
    /// A signal is about to end the process.
    FinishAll(Waiter),
    /// The recording that covers workers is being stopped.
    StopWorkers(Waiter),
    /// A condition was met, around which all recordings keep their history, and for so long.
    KeepHistory(MetCondition, Duration),
}

/// What has happened to a recording.
pub(crate) enum RecordingMessage {
    /// A rotation has begun on the thread.
    Overlap,
    /// The sampling that was suspended has resumed.
    Resumed,
    /// The thread has only waited for events since its last window. Only threads that cannot be woken
    /// tell this.
    Extend,
    /// A window was taken.
    Window(TakenWindow),
    /// Many events of observers wait.
    Events,
    /// A name of the worker is known.
    Rename(WorkerName),
}

/// The result of a recording whose files are complete.
#[derive(Default)]
pub(crate) struct ClosedRecording {
    /// Contents of the files, and of those of the workers that the recording covers.
    pub totals: RecordingTotals,
    /// Segments of the trace, if their history is limited.
    pub segments: Vec<CompleteSegment>,
}

/// A recording, as the writer thread knows it.
struct ActiveRecording {
    output: RecordingWriter,
    /// Time of the next request for a window.
    due: Instant,
    /// Time between the last such request and the next.
    interval: Duration,
    rotation: Rotation,
    suspensions: Suspensions,
    /// The thread's activity up to its last window.
    activity: Option<ThreadActivity>,
    /// Whether the files are finished after the next window, which may be the last.
    is_finishing: bool,
    /// Whether the files were finished for a signal without a window. One can be on its way.
    has_finished: bool,
    /// Totals of the ended workers that this recording covers.
    worker_totals: RecordingTotals,
}

impl ActiveRecording {
    /// Returns a recording that begins now.
    fn new(output: RecordingWriter, now: Instant) -> Self {
        let is_early = output.link.can_wake() && output.pace.flush_interval <= MAX_EARLY_INTERVAL;
        let interval = if is_early { FIRST_FLUSH } else { output.pace.flush_interval };
        let interval = interval.min(output.pace.flush_interval);
        Self {
            due: now + interval,
            interval,
            output,
            rotation: Rotation::None,
            suspensions: Suspensions::new(now, EntryHook::is_available()),
            activity: None,
            is_finishing: false,
            has_finished: false,
            worker_totals: RecordingTotals::default(),
        }
    }

    /// Sets the time of the next request for a window.
    fn postpone(&mut self, now: Instant) {
        self.interval = (2 * self.interval).min(self.output.pace.flush_interval);
        self.due = now + self.interval;
    }

    fn id(&self) -> u32 {
        self.output.link.id
    }

    fn is_covered_by(&self, recording: u32) -> bool {
        self.output.link.parent == Some(recording)
    }

    fn handle(&mut self, message: RecordingMessage, events: &mut Events) {
        match message {
            RecordingMessage::Overlap => {
                let until = Instant::now() + self.output.pace.overlap;
                self.rotation = Rotation::Overlapping { until };
            }
            RecordingMessage::Resumed => {
                self.suspensions.end(Instant::now(), self.output.link.activity())
            }
            RecordingMessage::Extend => self.output.extend(events),
            RecordingMessage::Window(taken) => self.write(taken, events),
            RecordingMessage::Events => self.output.write_waiting(events),
            RecordingMessage::Rename(name) => self.output.rename(&name, events),
        }
    }

    /// Writes a window, which ends the rotation.
    fn write(&mut self, taken: TakenWindow, events: &mut Events) {
        self.rotation = Rotation::None;
        if taken.circumstances.is_suspended {
            self.suspensions.begin();
        }
        self.activity = taken.circumstances.activity;
        self.output.write(taken, events);
        let was_finished = mem::take(&mut self.has_finished);
        if mem::take(&mut self.is_finishing) || was_finished {
            self.output.finish_for_now(events);
        }
    }

    /// Begins a rotation, unless one has begun.
    fn request_window(&mut self, rotate: Callback) {
        if self.rotation == Rotation::None {
            self.wake(rotate);
        }
    }

    /// Wakes a thread that waits to suspend its sampling, if that is worth it.
    fn suspend_if_idle(&mut self, now: Instant, rotate: Callback) {
        let waiting = self.suspensions.check(now, || self.output.link.activity());
        if waiting.is_some() && self.rotation == Rotation::None {
            *self.output.link.suspension.waiting_since.lock() = waiting;
            self.wake(rotate);
        }
    }

    fn wake(&mut self, rotate: Callback) {
        let is_woken = self.output.link.wake(rotate);
        self.rotation = if is_woken { Rotation::Requested } else { Rotation::None };
    }

    /// Returns whether the thread has waited for events since its last window, and noted no request.
    fn is_idle(&self) -> bool {
        let link = &self.output.link;
        self.rotation == Rotation::None && link.has_waited(self.activity, link.activity())
    }

    /// Returns the time of the next action.
    fn next_due(&self) -> Instant {
        let due = self.suspensions.due.map_or(self.due, |due| due.min(self.due));
        match self.rotation {
            Rotation::Overlapping { until } => until.min(due),
            _ => due,
        }
    }
}

/// The stage of a rotation, as the writer knows it. There is one rotation at a time: a blocked
/// thread keeps its samples in V8, and they come with its next window. A slow disk delays the next
/// rotation in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rotation {
    /// No window is wanted.
    None,
    /// The thread was asked to take the next step.
    Requested,
    /// The old and the next profile run until then.
    Overlapping { until: Instant },
}

/// The state of the writer thread.
pub(super) struct WriterLoop {
    /// Takes a window; runs on the recorded thread.
    rotate: Callback,
    recordings: Vec<ActiveRecording>,
    /// Buffer for encoded events.
    events: Events,
    waiters: Vec<Waiter>,
    /// Time at which a process that a signal was about to end has survived.
    survival: Option<Instant>,
    heap: HeapTrim,
}

impl WriterLoop {
    /// Creates a loop without recordings.
    pub(super) fn new(rotate: Callback) -> Self {
        Self {
            rotate,
            recordings: Vec::new(),
            events: Events::default(),
            waiters: Vec::new(),
            survival: None,
            heap: HeapTrim::default(),
        }
    }

    /// Handles messages until the queue is closed.
    pub(super) fn run(mut self, queue: &Receiver<WriterMessage>) {
        loop {
            let message = match self.next_wake_up() {
                Some(at) => queue.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => queue.recv().map_err(RecvTimeoutError::from),
            };
            if matches!(message, Err(RecvTimeoutError::Disconnected)) {
                return;
            }
            // A bug in here must cost a profile, not the program.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                match message {
                    Ok(message) => self.handle(message),
                    Err(_) => self.tick(),
                }
                self.answer_waiters();
            }));
        }
    }

    fn next_wake_up(&self) -> Option<Instant> {
        let deadlines = self.waiters.iter().map(|waiter| waiter.deadline);
        let windows = self.recordings.iter().map(ActiveRecording::next_due);
        windows.chain(deadlines).chain(self.heap.due).min()
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.survival.take_if(|at| *at <= now).is_some() {
            pending_exit::note_survival();
        }
        for recording in &mut self.recordings {
            if matches!(recording.rotation, Rotation::Overlapping { until } if until <= now) {
                recording.wake(self.rotate);
            }
            recording.suspend_if_idle(now, self.rotate);
            if recording.due > now {
                continue;
            }
            recording.postpone(now);
            // Also while the thread itself is busy in one call.
            recording.output.write_files(false, &mut self.events);
            if recording.is_idle() {
                recording.output.extend(&mut self.events);
            } else {
                recording.request_window(self.rotate);
            }
        }
        self.heap.tick(self.recordings.len(), now);
    }

    fn handle(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Open(output) => self.open(*output),
            WriterMessage::Tell(recording, message) => {
                // The recording may be closed.
                if let Some(index) = self.find(recording) {
                    self.recordings[index].handle(message, &mut self.events);
                }
            }
            WriterMessage::Close(recording, last, reply) => {
                if let Some(closed) = self.close(recording, last) {
                    let _ = reply.send(closed);
                }
            }
            WriterMessage::FinishAll(waiter) => self.finish_all(waiter),
            WriterMessage::StopWorkers(waiter) => self.stop_workers(waiter),
            WriterMessage::KeepHistory(met, for_) => {
                let outputs = self.recordings.iter_mut().map(|recording| &mut recording.output);
                outputs.for_each(|output| output.keep_history(&met, for_, &mut self.events));
            }
        }
    }

    fn open(&mut self, mut output: RecordingWriter) {
        output.open();
        self.recordings.push(ActiveRecording::new(output, Instant::now()));
        self.heap.changed(self.recordings.len());
    }

    /// Ends a recording with its last window.
    fn close(&mut self, recording: u32, last: Option<TakenWindow>) -> Option<ClosedRecording> {
        let index = self.find(recording)?;
        let ActiveRecording { mut output, worker_totals, .. } = self.recordings.swap_remove(index);
        self.heap.changed(self.recordings.len());
        if let Some(taken) = last {
            output.write(taken, &mut self.events);
        }
        output.finish(&mut self.events);
        let mut totals = output.totals();
        let parent =
            self.recordings.iter_mut().find(|other| output.link.parent == Some(other.id()));
        if let Some(parent) = parent {
            parent.worker_totals.add(totals.clone());
        }
        totals.add(worker_totals);
        // The file of a blocked worker exists already, and may still be finished.
        for worker in self.recordings.iter().filter(|worker| worker.is_covered_by(recording)) {
            totals.add(worker.output.totals());
        }
        Some(ClosedRecording { totals, segments: output.into_segments() })
    }

    /// Finishes all files, because a signal is about to end the process.
    fn finish_all(&mut self, waiter: Waiter) {
        /// A process that does not survive has ended by then. Its traces end with `trace.end`.
        const END_TIME: Duration = Duration::from_secs(1);
        let survival = waiter.deadline + END_TIME;
        self.survival = Some(survival);
        for recording in &mut self.recordings {
            recording.due = survival;
            // A suspended thread has handed over its samples.
            let link = &recording.output.link;
            recording.is_finishing = link.can_wake() && !link.suspension.is_on.get();
            if recording.is_finishing {
                recording.request_window(self.rotate);
            } else {
                recording.output.finish_for_now(&mut self.events);
                recording.has_finished = true;
            }
        }
        self.waiters.push(waiter);
    }

    /// Stops the workers of a recording that is being stopped.
    fn stop_workers(&mut self, waiter: Waiter) {
        for worker in &mut self.recordings {
            if waiter.parent.is_some_and(|parent| worker.is_covered_by(parent)) {
                worker.output.link.requests.stop.set(true);
                if worker.rotation != Rotation::Requested {
                    worker.wake(self.rotate);
                }
            }
        }
        self.waiters.push(waiter);
    }

    /// Answers those who wait for all recordings once every thread has handed over its last window, and
    /// those who wait for workers once every worker that can be woken has ended; all when their deadline
    /// has passed.
    fn answer_waiters(&mut self) {
        let now = Instant::now();
        if self.waiters.iter().any(|waiter| waiter.parent.is_none() && now >= waiter.deadline) {
            for recording in &mut self.recordings {
                if mem::take(&mut recording.is_finishing) {
                    recording.output.finish_for_now(&mut self.events);
                    recording.has_finished = true;
                }
            }
        }
        let recordings = &self.recordings;
        self.waiters.retain(|waiter| {
            let is_awaited = |recording: &ActiveRecording| match waiter.parent {
                None => recording.is_finishing,
                Some(id) => recording.is_covered_by(id) && recording.output.link.can_wake(),
            };
            let is_over = now >= waiter.deadline || !recordings.iter().any(is_awaited);
            if is_over {
                let _ = waiter.reply.send(());
            }
            !is_over
        });
    }

    fn find(&self, recording: u32) -> Option<usize> {
        self.recordings.iter().position(|other| other.id() == recording)
    }
}
