//! Writes the windows of one recording to its files. Runs on the writer thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::link::RecordingLink;
use super::output::{CpuProfileFile, OutputFiles, TraceFile};
use crate::base::config::{Config, Source};
use crate::base::error::Error;
use crate::base::stderr::warn_once;
use crate::base::system;
use crate::format::trace::event::Flush;
use crate::format::trace::events::Events;
use crate::format::trace::thread::ThreadTrace;
use crate::profile::call_tree::{CallTree, PlacedWindow};
use crate::profile::window::Window;
use crate::sampler::native_names;
use crate::sampler::source::RawWindow;
use crate::sampler::v8::{StallDetector, V8Profile};

/// A window on its way to the disk.
pub(super) struct TakenWindow {
    /// The window as its source returned it.
    pub window: RawWindow,
    /// Time that taking the window cost the program's thread.
    pub pause: Duration,
}

/// Contents of a recording's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecordingTotals {
    /// Absolute paths of the files.
    pub files: Vec<PathBuf>,
    /// Number of samples in the files.
    pub samples: u64,
    /// Number of call-tree nodes in the files.
    pub nodes: u64,
    /// Number of samples that could not be written.
    pub dropped_samples: u64,
}

impl RecordingTotals {
    /// Adds the contents of another recording's files.
    pub(super) fn add(&mut self, other: RecordingTotals) {
        self.files.extend(other.files);
        self.samples += other.samples;
        self.nodes += other.nodes;
        self.dropped_samples += other.dropped_samples;
    }
}

/// A recording's files and the state that is needed to fill them.
pub(super) struct RecordingSink {
    /// Link to the recorded thread.
    pub link: Arc<RecordingLink>,
    /// Time between two flushes.
    pub flush_interval: Duration,
    trace: Option<TraceFile>,
    /// None once it is written.
    cpuprofile: Option<CpuProfileFile>,
    tree: CallTree,
    stall: StallDetector,
    /// Number of times that V8's sampling thread was restarted.
    restarts: u32,
    /// Profiles of V8 that were read and are not deleted yet.
    undeleted: Vec<V8Profile>,
    /// Time of the last sample, for a source whose windows overlap. Later windows repeat the samples
    /// up to this time.
    taken_until_us: Option<i64>,
    totals: RecordingTotals,
}

impl RecordingSink {
    /// Creates the sink of a recording that writes to `files`.
    pub(super) fn new(
        link: Arc<RecordingLink>,
        config: &Config,
        source: Source,
        files: OutputFiles,
    ) -> Self {
        let OutputFiles { trace, cpuprofile } = files;
        // A `.cpuprofile` holds each path once, so the tree must not forget any.
        let max_nodes = if cpuprofile.is_some() { usize::MAX } else { config.max_nodes };
        Self {
            link,
            flush_interval: config.flush_interval(source),
            trace,
            cpuprofile,
            tree: CallTree::new(max_nodes),
            stall: StallDetector::new(config.interval_us),
            restarts: 0,
            undeleted: Vec::new(),
            taken_until_us: (source == Source::Inspector).then_some(i64::MIN),
            totals: RecordingTotals::default(),
        }
    }

    /// Writes a window. `events` is a buffer.
    pub(super) fn write(&mut self, taken: TakenWindow, events: &mut Events) {
        let mut window = self.read(taken.window);
        native_names::rename(&mut window);
        if self.stall.is_stuck(&window) {
            self.link.request_restart();
            self.restarts += 1;
        }
        self.remove_taken_samples(&mut window);
        let placed = if window.samples.is_empty() {
            PlacedWindow::default()
        } else {
            self.tree.place(&window)
        };
        if let Some(file) = &mut self.cpuprofile {
            file.add(&window, &placed);
        }
        let pause_us = u64::try_from(taken.pause.as_micros()).unwrap_or(u64::MAX);
        let flush = Flush { pause_us, restarts: self.restarts };
        let is_written = self.append(events, |trace, events| {
            trace.window(events, &window, &placed, flush);
        });
        let samples = window.samples.len() as u64;
        if is_written {
            self.totals.samples += samples;
            self.totals.nodes += placed.new_nodes.len() as u64;
        } else {
            self.totals.dropped_samples += samples;
        }
    }

    fn read(&mut self, window: RawWindow) -> Window {
        match window {
            RawWindow::V8(profile) => {
                let window = profile.read();
                self.undeleted.push(profile);
                if let Some(newest) = window.samples.last()
                    && !self.link.is_abandoned()
                {
                    V8Profile::delete_if_safe(&mut self.undeleted, newest.time_us);
                }
                window
            }
            RawWindow::Inspector(profile) => profile.read().unwrap_or_else(|error| {
                warn_once(&error);
                Window::default()
            }),
        }
    }

    fn remove_taken_samples(&mut self, window: &mut Window) {
        if let Some(until_us) = &mut self.taken_until_us {
            window.samples.retain(|sample| sample.time_us > *until_us);
            *until_us = window.samples.last().map_or(*until_us, |sample| sample.time_us);
        }
    }

    /// Names a worker by its script.
    pub(super) fn rename(&mut self, script: &str, events: &mut Events) {
        self.append(events, |trace, events| trace.rename_worker(events, script));
    }

    /// Completes the files.
    pub(super) fn finish(&mut self, events: &mut Events) {
        let end_us = system::now_us();
        self.append(events, |trace, events| trace.close(events, end_us));
        if let Some(file) = self.cpuprofile.take() {
            match file.write(end_us) {
                Ok(path) => self.totals.files.push(path),
                Err(error) => {
                    self.fail(&error);
                    if self.trace.is_none() {
                        let dropped_samples = self.totals.samples + self.totals.dropped_samples;
                        self.totals =
                            RecordingTotals { dropped_samples, ..RecordingTotals::default() };
                    }
                }
            }
        }
    }

    /// Returns the contents of the files so far.
    pub(super) fn totals(&self) -> RecordingTotals {
        let mut totals = self.totals.clone();
        if let Some(trace) = &self.trace {
            totals.files.insert(0, trace.path().to_owned());
        }
        totals
    }

    /// Returns the profiles of V8 that are not deleted yet.
    pub(super) fn into_undeleted(self) -> Vec<V8Profile> {
        self.undeleted
    }

    /// Appends events to the trace, if there is one. Returns whether the files are intact.
    fn append(
        &mut self,
        events: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> bool {
        if self.link.has_failed() {
            return false;
        }
        let Some(trace) = &mut self.trace else { return true };
        let result = trace.append(events, encode);
        if let Err(error) = &result {
            self.fail(error);
        }
        result.is_ok()
    }

    fn fail(&self, error: &Error) {
        self.link.fail();
        warn_once(error);
    }
}
