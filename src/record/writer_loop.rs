//! The writer thread: requests windows when they are due, and writes what arrives.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

use super::heap_trim::HeapTrim;
use super::segments::CompleteSegment;
use super::sink::{RecordingSink, RecordingTotals, TakenWindow};
use crate::format::trace::events::Events;
use crate::sampler::v8::{Callback, V8Profile};

/// A message to the writer thread. Recordings are named by their ids.
pub(super) enum WriterMessage {
    /// A recording has started.
    Open(Box<RecordingSink>),
    /// A recording's window was taken.
    Window { recording: u32, taken: TakenWindow },
    /// The script of a recorded worker is known.
    Rename { recording: u32, script: String },
    /// A recording ends with its last window.
    Close { recording: u32, last: Option<TakenWindow>, reply: SyncSender<ClosedRecording> },
    /// A signal is about to end the process.
    FinishAll(Waiter),
    /// The recording that covers workers is being stopped.
    StopWorkers { parent: u32, waiter: Waiter },
}

/// The result of a recording whose files are complete.
pub(super) struct ClosedRecording {
    /// Contents of the files, and of those of the workers that the recording covers.
    pub totals: RecordingTotals,
    /// Profiles of V8 that are not deleted yet.
    pub undeleted: Vec<V8Profile>,
    /// Segments of the trace, if their history is limited.
    pub segments: Vec<CompleteSegment>,
}

/// A thread that waits for windows of other threads.
pub(super) struct Waiter {
    /// Threads that have not answered by then are blocked in native code.
    pub deadline: Instant,
    /// Answer to the waiting thread.
    pub reply: SyncSender<()>,
}

struct ActiveRecording {
    sink: RecordingSink,
    /// Time of the next request for a window.
    due: Instant,
    /// Whether a window was requested and has not been written. There is one request at a time: a
    /// blocked thread keeps its samples in V8, and they come with its next window. A slow disk
    /// delays the next request in the same way.
    is_window_requested: bool,
    /// Whether the files are finished after the next window, which may be the last.
    is_finishing: bool,
    /// Totals of the ended workers that this recording covers.
    worker_totals: RecordingTotals,
}

impl ActiveRecording {
    fn id(&self) -> u32 {
        self.sink.link.id()
    }

    fn is_covered_by(&self, recording: u32) -> bool {
        self.sink.link.is_covered_by(recording)
    }

    fn request_window(&mut self, rotate: Callback) {
        if !self.is_window_requested {
            self.is_window_requested = self.sink.link.wake(rotate);
        }
    }
}

/// The state of the writer thread.
pub(super) struct WriterLoop {
    /// Takes a window; runs on the recorded thread.
    rotate: Callback,
    recordings: Vec<ActiveRecording>,
    /// Buffer for encoded events.
    events: Events,
    /// The thread that waits for all recordings, because a signal is about to end the process.
    finish_waiter: Option<Waiter>,
    /// The threads that wait for the workers of a recording, by the recording's id.
    worker_waiters: Vec<(u32, Waiter)>,
    heap: HeapTrim,
}

impl WriterLoop {
    /// Creates a loop without recordings.
    pub(super) fn new(rotate: Callback) -> Self {
        Self {
            rotate,
            recordings: Vec::new(),
            events: Events::default(),
            finish_waiter: None,
            worker_waiters: Vec::new(),
            heap: HeapTrim::default(),
        }
    }

    /// Handles messages until the queue is closed.
    pub(super) fn run(mut self, queue: &Receiver<WriterMessage>) {
        loop {
            let message = match self.next_wake_up() {
                Some(at) => {
                    queue.recv_timeout(at.saturating_duration_since(Instant::now())).map(Some)
                }
                None => queue.recv().map(Some).map_err(|_| RecvTimeoutError::Disconnected),
            };
            let message = match message {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => None,
                Ok(message) => message,
            };
            // A bug in here must cost a profile, not the program.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                match message {
                    Some(message) => self.handle(message),
                    None => self.tick(),
                }
                self.answer_finish_waiter();
                self.answer_worker_waiters();
            }));
        }
    }

    fn next_wake_up(&self) -> Option<Instant> {
        let waiters = self.worker_waiters.iter().map(|(_, waiter)| waiter);
        let deadlines = waiters.chain(&self.finish_waiter).map(|waiter| waiter.deadline);
        let windows = self.recordings.iter().map(|recording| recording.due);
        windows.chain(deadlines).chain(self.heap.due()).min()
    }

    fn tick(&mut self) {
        let now = Instant::now();
        for recording in &mut self.recordings {
            if recording.due <= now {
                recording.due = now + recording.sink.flush_interval;
                recording.request_window(self.rotate);
            }
        }
        self.heap.tick(self.recordings.len(), now);
    }

    fn handle(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Open(sink) => self.open(*sink),
            WriterMessage::Window { recording, taken } => self.write(recording, taken),
            WriterMessage::Rename { recording, script } => self.rename(recording, &script),
            WriterMessage::Close { recording, last, reply } => {
                if let Some(closed) = self.close(recording, last) {
                    let _ = reply.send(closed);
                }
            }
            WriterMessage::FinishAll(waiter) => self.finish_all(waiter),
            WriterMessage::StopWorkers { parent, waiter } => self.stop_workers(parent, waiter),
        }
    }

    fn open(&mut self, sink: RecordingSink) {
        self.recordings.push(ActiveRecording {
            due: Instant::now() + sink.flush_interval,
            sink,
            is_window_requested: false,
            is_finishing: false,
            worker_totals: RecordingTotals::default(),
        });
        self.heap.changed(self.recordings.len());
    }

    fn write(&mut self, recording: u32, taken: TakenWindow) {
        let Some(index) = self.find(recording) else { return };
        let recording = &mut self.recordings[index];
        recording.is_window_requested = false;
        recording.sink.write(taken, &mut self.events);
        if mem::take(&mut recording.is_finishing) {
            recording.sink.finish(&mut self.events);
        }
    }

    fn rename(&mut self, recording: u32, script: &str) {
        if let Some(index) = self.find(recording) {
            self.recordings[index].sink.rename(script, &mut self.events);
        }
    }

    fn close(&mut self, recording: u32, last: Option<TakenWindow>) -> Option<ClosedRecording> {
        let index = self.find(recording)?;
        let ActiveRecording { mut sink, worker_totals, .. } = self.recordings.swap_remove(index);
        self.heap.changed(self.recordings.len());
        if let Some(taken) = last {
            sink.write(taken, &mut self.events);
        }
        sink.finish(&mut self.events);
        let mut totals = sink.totals();
        let parent = self.recordings.iter_mut().find(|other| sink.link.is_covered_by(other.id()));
        if let Some(parent) = parent {
            parent.worker_totals.add(totals.clone());
        }
        totals.add(worker_totals);
        // The file of a blocked worker exists already, and may still be finished.
        for worker in self.recordings.iter().filter(|worker| worker.is_covered_by(recording)) {
            totals.add(worker.sink.totals());
        }
        let (undeleted, segments) = sink.into_rest();
        Some(ClosedRecording { totals, undeleted, segments })
    }

    fn finish_all(&mut self, waiter: Waiter) {
        for recording in &mut self.recordings {
            recording.is_finishing = recording.sink.link.can_wake();
            recording.request_window(self.rotate);
            if !recording.is_finishing {
                recording.sink.finish(&mut self.events);
            }
        }
        self.finish_waiter = Some(waiter);
    }

    fn stop_workers(&mut self, parent: u32, waiter: Waiter) {
        for worker in &mut self.recordings {
            if worker.is_covered_by(parent) {
                worker.sink.link.request_stop();
                worker.request_window(self.rotate);
            }
        }
        self.worker_waiters.push((parent, waiter));
    }

    /// Answers once every thread has handed over its last window, or the deadline has passed.
    fn answer_finish_waiter(&mut self) {
        let Some(waiter) = &self.finish_waiter else { return };
        let is_late = Instant::now() >= waiter.deadline;
        if !is_late && self.recordings.iter().any(|recording| recording.is_finishing) {
            return;
        }
        for recording in self.recordings.iter_mut().filter(|recording| recording.is_finishing) {
            recording.is_finishing = false;
            recording.sink.finish(&mut self.events);
        }
        let _ = waiter.reply.send(());
        self.finish_waiter = None;
    }

    /// Answers once every worker that can be woken has ended, or the deadline has passed.
    fn answer_worker_waiters(&mut self) {
        let (recordings, now) = (&self.recordings, Instant::now());
        self.worker_waiters.retain(|(parent, waiter)| {
            let is_over = now >= waiter.deadline
                || !recordings
                    .iter()
                    .any(|worker| worker.is_covered_by(*parent) && worker.sink.link.can_wake());
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
