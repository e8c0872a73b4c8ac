//! One recording's way from its windows to its files. All of it runs on the writer's thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::call_tree::{CallTree, Placed};
use crate::error::complain;
use crate::output::Output;
use crate::source::v8::{Finished, Pulse, Waker};
use crate::system;
use crate::trace::encode::Events;
use crate::trace::event::Flush;
use crate::trace::thread::ThreadTrace;

/// What a recording and the writer both see.
pub struct Link {
    /// Wakes the recorded thread.
    pub waker: Waker,
    /// The file cannot be written any more: there is no use in sampling on.
    pub failed: AtomicBool,
    /// The thread has gone without waiting, and with it the isolate that its profiles belong to.
    pub abandoned: AtomicBool,
    /// V8 has to be stopped and started again.
    pub is_stuck: AtomicBool,
}

impl Link {
    /// A link to the thread that `waker` wakes.
    pub fn new(waker: Waker) -> Self {
        let (failed, abandoned, is_stuck) = Default::default();
        Self { waker, failed, abandoned, is_stuck }
    }
}

/// A window on its way to the disk.
pub struct Taken {
    /// The profile that was stopped.
    pub profile: Finished,
    /// What taking it cost the program's thread.
    pub pause: Duration,
    /// How often V8's sampling had to be restarted so far.
    pub restarts: u32,
}

/// A recording's files and what is needed to fill them, handed to the writer at the start.
pub struct Track {
    /// The recorded thread's side.
    pub link: Arc<Link>,
    /// Between two flushes.
    pub flush_interval: Duration,
    /// The trace's file; its head is written already.
    pub output: Output,
    /// The trace's events.
    pub trace: ThreadTrace,
    /// The recording's call tree.
    pub tree: CallTree,
    /// Whether samples still come.
    pub pulse: Pulse,
    /// Profiles that have been read, and wait to be deleted.
    pub read: Vec<Finished>,
    /// What was written so far.
    pub written: Written,
}

/// What a recording has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Its files, absolute.
    pub files: Vec<PathBuf>,
    /// Samples in them.
    pub samples: u64,
    /// Call-tree nodes in them.
    pub nodes: u64,
    /// Samples that could not be written.
    pub dropped_samples: u64,
}

impl Track {
    /// Writes a window.
    pub fn write(&mut self, taken: Taken, events: &mut Events) {
        let window = taken.profile.read();
        self.read.push(taken.profile);
        if let Some(newest) = window.samples.last()
            && !self.link.abandoned.load(Ordering::Relaxed)
        {
            Finished::delete_if_safe(&mut self.read, newest.time_us);
        }
        let placed =
            if window.samples.is_empty() { Placed::default() } else { self.tree.place(&window) };
        if self.pulse.is_stuck(&window) {
            self.link.is_stuck.store(true, Ordering::Relaxed);
        }
        let pause_us = u64::try_from(taken.pause.as_micros()).unwrap_or(u64::MAX);
        events.clear();
        self.trace.window(events, &window, &placed, Flush { pause_us, restarts: taken.restarts });
        let samples = window.samples.len() as u64;
        if self.append(events) {
            self.written.samples += samples;
            self.written.nodes += placed.new_nodes.len() as u64;
        } else {
            self.written.dropped_samples += samples;
        }
    }

    /// Names a worker by its script.
    pub fn rename(&mut self, script: &str, events: &mut Events) {
        events.clear();
        self.trace.rename_worker(events, script);
        self.append(events);
    }

    /// Completes the files.
    pub fn finish(&mut self, events: &mut Events) {
        events.clear();
        self.trace.close(events, system::now_us());
        self.append(events);
    }

    fn append(&mut self, events: &Events) -> bool {
        if self.link.failed.load(Ordering::Relaxed) {
            return false;
        }
        let result = self.output.append(events.as_bytes());
        if let Err(error) = &result {
            self.link.failed.store(true, Ordering::Relaxed);
            complain(error);
        }
        result.is_ok()
    }
}
