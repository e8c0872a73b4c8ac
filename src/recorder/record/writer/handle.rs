//! The handle of the writer thread: what other threads ask it to do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::event_loop::{ActiveRecording, ClosedRecording, Waiter, WriterLoop, WriterRequest};
use crate::record::link::recording_link::RecordingLink;
use crate::record::link::taken_window::TakenWindow;
use crate::record::output::recording_writer::RecordingWriter;
use crate::sampler::v8::Callback;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::events::Events;

/// The handle of the writer thread.
pub(crate) struct Writer {
    queue: Sender<WriterRequest>,
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
        self.send(|writer| writer.open(output));
    }

    /// Calls `f` on the writer thread, with a recording and a buffer, unless the recording is closed.
    pub(crate) fn with(
        &self,
        link: &RecordingLink,
        f: impl FnOnce(&mut ActiveRecording, &mut Events) + Send + 'static,
    ) {
        let id = link.id;
        self.send(move |writer| writer.with(id, f));
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
        let id = link.id;
        self.send(move |writer| {
            if let Some(closed) = writer.close(id, last) {
                let _ = reply.send(closed);
            }
        });
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
        self.wait(None, timeout, WriterLoop::finish_all);
    }

    /// Stops the workers that a recording covers, as far as that is possible within `timeout`.
    pub(crate) fn stop_workers(&self, parent: u32, timeout: Duration) {
        self.wait(Some(parent), timeout, WriterLoop::stop_workers);
    }

    fn wait(&self, parent: Option<u32>, timeout: Duration, request: fn(&mut WriterLoop, Waiter)) {
        let (reply, replies) = sync_channel(1);
        // The rest of the time is for the files of threads that did not answer.
        let deadline = Instant::now() + timeout * 4 / 5;
        self.send(move |writer| request(writer, Waiter { parent, deadline, reply }));
        let _ = replies.recv_timeout(timeout);
    }

    fn send(&self, request: impl FnOnce(&mut WriterLoop) + Send + 'static) {
        let _ = self.queue.send(Box::new(request));
    }
}
