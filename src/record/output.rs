//! The output files of one recording.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::name_pattern::FileNames;
use crate::files::atomic::write_whole;
use crate::files::live_trace::LiveTrace;
use crate::format::cpuprofile::CpuProfile;
use crate::format::trace::events::Events;
use crate::format::trace::thread::{ThreadInfo, ThreadTrace};
use crate::profile::call_tree::PlacedWindow;
use crate::profile::window::Window;

/// One file for each requested format, under one name.
pub(super) struct OutputFiles {
    /// The streamed trace.
    pub trace: Option<TraceFile>,
    /// The `.cpuprofile`, until it is written.
    pub cpuprofile: Option<CpuProfileFile>,
}

impl OutputFiles {
    /// Creates the trace with its head, and prepares the `.cpuprofile`.
    pub(super) fn create(
        config: &Config,
        mut names: FileNames,
        info: ThreadInfo,
        start_us: i64,
    ) -> Result<Self, Error> {
        let mut trace = None;
        if config.formats.trace {
            trace = Some(TraceFile::create(&config.dir, &mut names, info, start_us)?);
        }
        let cpuprofile = config.formats.cpuprofile.then(|| CpuProfileFile {
            profile: CpuProfile::new(start_us),
            dir: config.dir.clone(),
            names,
        });
        Ok(Self { trace, cpuprofile })
    }

    /// Removes the trace of a recording that did not start.
    pub(super) fn discard(self) {
        if let Some(trace) = self.trace {
            // If this fails, an empty trace is left.
            let _ = std::fs::remove_file(trace.output.path());
        }
    }
}

/// A trace that is valid after each write.
pub(super) struct TraceFile {
    output: LiveTrace,
    trace: ThreadTrace,
}

impl TraceFile {
    fn create(
        dir: &Path,
        names: &mut FileNames,
        info: ThreadInfo,
        start_us: i64,
    ) -> Result<Self, Error> {
        let trace = ThreadTrace::new(info, start_us);
        let output = LiveTrace::create(dir, ".trace.json", names, &trace.head())?;
        Ok(Self { output, trace })
    }

    /// Appends the events that `encode` writes into `buffer`.
    pub(super) fn append(
        &mut self,
        buffer: &mut Events,
        encode: impl FnOnce(&mut ThreadTrace, &mut Events),
    ) -> Result<(), Error> {
        buffer.clear();
        encode(&mut self.trace, buffer);
        self.output.append(buffer.as_bytes())
    }

    /// Writes events that the next write replaces.
    pub(super) fn extend(
        &mut self,
        buffer: &mut Events,
        encode: impl FnOnce(&ThreadTrace, &mut Events),
    ) -> Result<(), Error> {
        buffer.clear();
        encode(&self.trace, buffer);
        self.output.extend(buffer.as_bytes())
    }

    /// Returns whether the recorded thread is a worker.
    pub(super) fn is_worker(&self) -> bool {
        self.trace.is_worker()
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        self.output.path()
    }
}

/// A `.cpuprofile`, which is collected in memory and written at the end.
pub(super) struct CpuProfileFile {
    profile: CpuProfile,
    dir: PathBuf,
    names: FileNames,
}

impl CpuProfileFile {
    /// Adds a window. `placed` is the window's place in the recording's call tree.
    pub(super) fn add(&mut self, window: &Window, placed: &PlacedWindow) {
        self.profile.window(window, placed);
    }

    /// Writes the file, and returns its path.
    pub(super) fn write(mut self, end_us: i64) -> Result<PathBuf, Error> {
        let profile = &self.profile;
        let write = |file: &mut File| profile.write(file, end_us);
        write_whole(&self.dir, ".cpuprofile", &mut self.names, write)
    }
}
