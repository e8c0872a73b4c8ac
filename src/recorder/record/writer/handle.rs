//! The handle of the writer thread: what other threads ask it to do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::event_loop::{ClosedRecording, Waiter, WriterLoop, WriterMessage};
use crate::record::link::recording_link::RecordingLink;
use crate::record::link::taken_window::TakenWindow;
use crate::record::output::recording_writer::RecordingWriter;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::v8::Callback;
use cpu_prof_core::base::system;

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
        let _ = self.queue.send(WriterMessage::Open(Box::new(output)));
    }

    /// Tells that a rotation has begun on a thread.
    pub(crate) fn overlap(&self, link: &RecordingLink) {
        let _ = self.queue.send(WriterMessage::Overlap { recording: link.id() });
    }

    /// Tells that a thread has only waited for events since its last window. Only threads that
    /// cannot be woken tell this.
    pub(crate) fn extend(&self, link: &RecordingLink) {
        let _ = self.queue.send(WriterMessage::Extend { recording: link.id() });
    }

    /// Tells that many events of the program wait.
    pub(crate) fn write_events(&self, link: &RecordingLink) {
        let _ = self.queue.send(WriterMessage::Events { recording: link.id() });
    }

    /// Hands over a window.
    pub(crate) fn write(&self, link: &RecordingLink, taken: TakenWindow) {
        let _ = self.queue.send(WriterMessage::Window { recording: link.id(), taken });
    }

    /// Hands over a name of a worker.
    pub(crate) fn rename(&self, link: &RecordingLink, name: WorkerName) {
        let _ = self.queue.send(WriterMessage::Rename { recording: link.id(), name });
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
        self.queue.send(WriterMessage::Close { recording: link.id(), last, reply }).ok()?;
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
        self.wait(timeout, WriterMessage::FinishAll);
    }

    /// Stops the workers that a recording covers, as far as that is possible within `timeout`.
    pub(crate) fn stop_workers(&self, parent: u32, timeout: Duration) {
        self.wait(timeout, |waiter| WriterMessage::StopWorkers { parent, waiter });
    }

    fn wait(&self, timeout: Duration, message: impl FnOnce(Waiter) -> WriterMessage) {
        let (reply, replies) = sync_channel(1);
        // The rest of the time is for the files of threads that did not answer.
        let deadline = Instant::now() + timeout * 4 / 5;
        if self.queue.send(message(Waiter { deadline, reply })).is_ok() {
            let _ = replies.recv_timeout(timeout);
        }
    }
}
