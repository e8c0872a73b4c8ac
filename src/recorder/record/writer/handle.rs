//! The handle of the writer thread: what other threads ask it to do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::event_loop::{ClosedRecording, RecordingMessage, WriterLoop, WriterMessage};
use super::waiter::Waiter;
use crate::record::link::recording_link::RecordingLink;
use crate::record::link::taken_window::TakenWindow;
use crate::record::output::recording_writer::RecordingWriter;
use crate::sampler::v8::Callback;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::met_condition::MetCondition;

/// The handle of the writer thread.
pub(crate) struct Writer {
    queue: Sender<WriterMessage>,
    /// Whether a thread has given up waiting for its files, because the disk hangs. Other threads
    /// then do not wait at all.
    has_timed_out: AtomicBool,
}

impl Writer {
    /// Starts the thread. `rotate` takes a window; it runs on each recorded thread.
    pub(crate) fn start(rotate: Callback) -> io::Result<Self> {
        let (queue, messages) = channel();
        system::with_signals_blocked(|| {
            thread::Builder::new()
                .name("cpu-prof".into())
                .spawn(move || WriterLoop::new(rotate).run(&messages))
        })?;
        Ok(Self { queue, has_timed_out: AtomicBool::new(false) })
    }

    /// Hands over the writer of a recording that has started.
    pub(crate) fn open(&self, output: RecordingWriter) {
        self.send(WriterMessage::Open(Box::new(output)));
    }

    /// Tells what has happened to a recording.
    pub(crate) fn tell(&self, link: &RecordingLink, message: RecordingMessage) {
        self.send(WriterMessage::Tell(link.id, message));
    }

    /// Marks a condition that was met now, and keeps the history and what comes for a time.
    pub(crate) fn keep_history(&self, met: MetCondition, for_: Duration) {
        self.send(WriterMessage::KeepHistory(met, for_));
    }

    /// Hands over the last window, and waits until the files are complete. Returns None after a
    /// timeout; the writer may then still be reading the profiles.
    pub(crate) fn close(
        &self,
        link: &RecordingLink,
        last: Option<TakenWindow>,
    ) -> Option<ClosedRecording> {
        const TIMEOUT: Duration = Duration::from_secs(10);
        let (reply, replies) = sync_channel(1);
        self.send(WriterMessage::Close(link.id, last, reply));
        let has_timed_out = self.has_timed_out.load(Ordering::Relaxed);
        let timeout = if has_timed_out { Duration::ZERO } else { TIMEOUT };
        let closed = replies.recv_timeout(timeout).ok();
        if closed.is_none() {
            self.has_timed_out.store(true, Ordering::Relaxed);
        }
        closed
    }

    /// Requests the last window of every thread and finishes all files, as far as that is possible
    /// within `timeout`. If the process survives, the recordings continue.
    pub(crate) fn finish_all(&self, timeout: Duration) {
        self.wait(None, timeout, WriterMessage::FinishAll);
    }

    /// Stops the workers that a recording covers, as far as that is possible within `timeout`.
    pub(crate) fn stop_workers(&self, parent: u32, timeout: Duration) {
        self.wait(Some(parent), timeout, WriterMessage::StopWorkers);
    }

    fn wait(&self, parent: Option<u32>, timeout: Duration, message: fn(Waiter) -> WriterMessage) {
        let (reply, replies) = sync_channel(1);
        // The rest of the time is for the files of threads that did not answer.
        let deadline = Instant::now() + timeout * 4 / 5;
        self.send(message(Waiter { parent, deadline, reply }));
        let _ = replies.recv_timeout(timeout);
    }

    fn send(&self, message: WriterMessage) {
        let _ = self.queue.send(message);
    }
}
