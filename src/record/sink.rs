//! One recording's way from its windows to its files. All of it runs on the writer's thread.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::base::error::Error;
use crate::base::name_pattern::FileNames;
use crate::base::stderr::warn_once;
use crate::base::system;
use crate::files::atomic::write_whole;
use crate::files::live_trace::LiveTrace;
use crate::format::cpuprofile::CpuProfile;
use crate::format::trace::event::Flush;
use crate::format::trace::events::Events;
use crate::format::trace::thread::{ThreadInfo, ThreadTrace};
use crate::profile::call_tree::{CallTree, Placed};
use crate::profile::window::Window;
use crate::sampler::native_names;
use crate::sampler::source::RawWindow;
use crate::sampler::v8::{self, Callback, StallDetector, Waker};

/// What a recording and the writer both see.
pub(crate) struct RecordingLink {
    /// Wakes the recorded thread, if that can be done.
    waker: Option<Waker>,
    /// The file cannot be written any more: there is no use in sampling on.
    pub failed: AtomicBool,
    /// The thread has gone without waiting, and with it the isolate that its profiles belong to.
    pub abandoned: AtomicBool,
    /// V8 has to be stopped and started again.
    pub is_stuck: AtomicBool,
    /// The recording that this one belongs to was stopped.
    pub is_over: AtomicBool,
}

impl RecordingLink {
    /// A link to the thread that `waker` wakes; without one it comes of itself.
    pub(crate) fn new(waker: Option<Waker>) -> Self {
        let (failed, abandoned, is_stuck, is_over) = Default::default();
        Self { waker, failed, abandoned, is_stuck, is_over }
    }

    /// Whether the thread can be asked for anything.
    pub(crate) fn can_wake(&self) -> bool {
        self.waker.is_some()
    }

    /// Has `callback` run on the thread. False if that cannot be.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        self.waker.as_ref().is_some_and(|waker| waker.wake(callback))
    }

    /// Never wakes the thread again, once this has returned.
    pub(crate) fn close(&self) {
        if let Some(waker) = &self.waker {
            waker.close();
        }
    }
}

/// A window on its way to the disk.
pub(crate) struct TakenWindow {
    /// The profile that was stopped.
    pub profile: RawWindow,
    /// What taking it cost the program's thread.
    pub pause: Duration,
}

/// A recording's files and what is needed to fill them, handed to the writer at the start.
pub(crate) struct RecordingSink {
    /// Tells the process's recordings apart.
    pub id: u32,
    /// The recording that covers this worker: it lists its files, and stops it.
    pub parent: Option<u32>,
    /// The recorded thread's side.
    pub link: Arc<RecordingLink>,
    /// Between two flushes.
    pub flush_interval: Duration,
    /// The streamed trace, if it is wanted.
    pub trace: Option<TraceFile>,
    /// The `.cpuprofile`, if it is wanted and not written yet.
    pub cpuprofile: Option<CpuProfileFile>,
    /// The recording's call tree.
    pub tree: CallTree,
    /// Whether samples still come.
    pub pulse: StallDetector,
    /// How often they did not, so that V8 was started anew.
    pub restarts: u32,
    /// V8's profiles that have been read, and wait to be deleted.
    pub read: Vec<v8::V8Profile>,
    /// The last sample's time, if two profiles can run at once: what is not after it was taken.
    pub taken_until_us: Option<i64>,
    /// What was written so far.
    pub written: RecordingTotals,
}

/// What a recording has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecordingTotals {
    /// Its files, absolute.
    pub files: Vec<PathBuf>,
    /// Samples in them.
    pub samples: u64,
    /// Call-tree nodes in them.
    pub nodes: u64,
    /// Samples that could not be written.
    pub dropped_samples: u64,
}

/// A trace on its way to the disk.
pub(crate) struct TraceFile {
    output: LiveTrace,
    trace: ThreadTrace,
}

impl TraceFile {
    /// Creates the file, and writes its head.
    pub(crate) fn create(
        dir: &Path,
        names: &mut FileNames,
        info: ThreadInfo,
        start_us: i64,
    ) -> Result<Self, Error> {
        let trace = ThreadTrace::new(info, start_us);
        let output = LiveTrace::create(dir, ".trace.json", names, &trace.head())?;
        Ok(Self { output, trace })
    }

    /// Removes the file: nothing comes after its head.
    pub(crate) fn discard(self) {
        // A file without samples is the worst that can come of it.
        let _ = std::fs::remove_file(self.output.path());
    }
}

/// A `.cpuprofile`, which is written at the end.
pub(crate) struct CpuProfileFile {
    profile: CpuProfile,
    dir: PathBuf,
    names: FileNames,
}

impl CpuProfileFile {
    /// A profile that will be written to `dir`.
    pub(crate) fn new(dir: &Path, names: FileNames, start_us: i64) -> Self {
        Self { profile: CpuProfile::new(start_us), dir: dir.to_owned(), names }
    }

    fn write(mut self, end_us: i64) -> Result<PathBuf, Error> {
        let profile = &self.profile;
        let write = |file: &mut File| profile.write(file, end_us);
        write_whole(&self.dir, ".cpuprofile", &mut self.names, write)
    }
}

impl RecordingTotals {
    /// Adds what another recording has come to.
    pub(crate) fn add(&mut self, other: RecordingTotals) {
        self.files.extend(other.files);
        self.samples += other.samples;
        self.nodes += other.nodes;
        self.dropped_samples += other.dropped_samples;
    }
}

impl RecordingSink {
    /// Whether it is a worker's, recorded for the sake of the recording of this number.
    pub(crate) fn is_covered_by(&self, recording: u32) -> bool {
        self.parent == Some(recording)
    }

    /// Writes a window.
    pub(crate) fn write(&mut self, taken: TakenWindow, events: &mut Events) {
        let mut window = self.read(taken.profile);
        native_names::rename(&mut window);
        if self.pulse.is_stuck(&window) {
            self.link.is_stuck.store(true, Ordering::Relaxed);
            self.restarts += 1;
        }
        if let Some(until_us) = &mut self.taken_until_us {
            window.samples.retain(|sample| sample.time_us > *until_us);
            *until_us = window.samples.last().map_or(*until_us, |sample| sample.time_us);
        }
        let placed =
            if window.samples.is_empty() { Placed::default() } else { self.tree.place(&window) };
        if let Some(file) = &mut self.cpuprofile {
            file.profile.window(&window, &placed);
        }
        let pause_us = u64::try_from(taken.pause.as_micros()).unwrap_or(u64::MAX);
        let flush = Flush { pause_us, restarts: self.restarts };
        let is_written = self.append(events, |trace, events| {
            trace.window(events, &window, &placed, flush);
        });
        let samples = window.samples.len() as u64;
        if is_written {
            self.written.samples += samples;
            self.written.nodes += placed.new_nodes.len() as u64;
        } else {
            self.written.dropped_samples += samples;
        }
    }

    fn read(&mut self, profile: RawWindow) -> Window {
        let details = self.cpuprofile.is_some();
        match profile {
            RawWindow::V8(profile) => {
                let window = if details { profile.read_details() } else { profile.read() };
                self.read.push(profile);
                if let Some(newest) = window.samples.last()
                    && !self.link.abandoned.load(Ordering::Relaxed)
                {
                    v8::V8Profile::delete_if_safe(&mut self.read, newest.time_us);
                }
                window
            }
            RawWindow::Inspector(profile) => profile.read(details).unwrap_or_else(|error| {
                warn_once(&error);
                Window::default()
            }),
        }
    }

    /// Names a worker by its script.
    pub(crate) fn rename(&mut self, script: &str, events: &mut Events) {
        self.append(events, |trace, events| trace.rename_worker(events, script));
    }

    /// Completes the files.
    pub(crate) fn finish(&mut self, events: &mut Events) {
        let end_us = system::now_us();
        self.append(events, |trace, events| trace.close(events, end_us));
        if let Some(file) = self.cpuprofile.take() {
            match file.write(end_us) {
                Ok(path) => self.written.files.push(path),
                Err(error) => {
                    self.fail(&error);
                    if self.trace.is_none() {
                        let dropped_samples = self.written.samples + self.written.dropped_samples;
                        self.written =
                            RecordingTotals { dropped_samples, ..RecordingTotals::default() };
                    }
                }
            }
        }
    }

    /// What there is in the files by now.
    pub(crate) fn written(&self) -> RecordingTotals {
        let mut written = self.written.clone();
        if let Some(file) = &self.trace {
            written.files.insert(0, file.output.path().to_owned());
        }
        written
    }

    fn append(
        &mut self,
        events: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> bool {
        if self.link.failed.load(Ordering::Relaxed) {
            return false;
        }
        let Some(TraceFile { output, trace }) = &mut self.trace else { return true };
        events.clear();
        encode(trace, events);
        let result = output.append(events.as_bytes());
        if let Err(error) = &result {
            self.fail(error);
        }
        result.is_ok()
    }

    fn fail(&self, error: &Error) {
        self.link.failed.store(true, Ordering::Relaxed);
        warn_once(error);
    }
}
