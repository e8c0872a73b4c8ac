//! The output files of one recording.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::complete_segment::CompleteSegment;
use super::segments::TraceSegments;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::settings::values::Formats;
use cpu_prof_core::base::system;
use cpu_prof_core::files::atomic::write_whole;
use cpu_prof_core::format::cpuprofile::CpuProfile;
use cpu_prof_core::format::cpuprofile::facts::ProfileFacts;
use cpu_prof_core::format::trace::write::thread::ThreadInfo;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::CallTree;

/// One file for each requested format, under one name.
pub(crate) struct OutputFiles {
    /// The streamed trace.
    pub trace: Option<TraceSegments>,
    /// The `.cpuprofile`, until it is complete.
    pub cpuprofile: Option<CpuProfileFile>,
    /// Start of the recording, CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
}

impl OutputFiles {
    /// Creates the trace with its head, and prepares the `.cpuprofile`. `earlier` are segments of a
    /// recording that this one continues.
    pub(crate) fn create(
        config: &Config,
        mut names: FileNames,
        info: ThreadInfo,
        start_us: i64,
        earlier: Vec<CompleteSegment>,
    ) -> Result<Self, Error> {
        let facts = config.formats.cpuprofile.then(|| ProfileFacts::of_recording(&info));
        let mut trace = None;
        if config.formats.trace {
            trace = Some(TraceSegments::create(config, &mut names, info, start_us, earlier)?);
        }
        let cpuprofile = facts.map(|facts| CpuProfileFile {
            profile: CpuProfile::new(start_us, Some(facts)),
            tree: CallTree::new(usize::MAX),
            dir: config.dir.clone(),
            other_dir: std::env::temp_dir(),
            user: system::user(),
            names,
            written: None,
        });
        Ok(Self { trace, cpuprofile, start_us })
    }

    /// Returns the paths of the files so far.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.trace.as_ref().map(TraceSegments::paths).unwrap_or_default()
    }

    /// Removes the trace of a recording that did not start.
    pub(crate) fn discard(self) {
        if let Some(trace) = self.trace {
            // If this fails, an empty trace is left.
            let _ = std::fs::remove_file(trace.output.path);
        }
    }
}

/// A `.cpuprofile`, which is collected in memory and written at the end.
pub(crate) struct CpuProfileFile {
    profile: CpuProfile,
    /// The tree, which forgets no path: the file holds each once.
    tree: CallTree,
    dir: PathBuf,
    /// Folder for a process that gave up its rights.
    other_dir: PathBuf,
    /// User id at the start.
    user: Option<u32>,
    names: FileNames,
    /// Path of the file that was written when the process seemed to end.
    written: Option<PathBuf>,
}

impl CpuProfileFile {
    /// Adds a window. Returns the count of its new call-tree nodes.
    pub(crate) fn add(&mut self, window: &Window) -> usize {
        if window.samples.is_empty() {
            return 0;
        }
        let placed = self.tree.place(window);
        self.profile.window(window, &placed);
        placed.new_nodes.len()
    }

    /// Names the worker.
    pub(crate) fn name_worker(&mut self, name: &str) {
        if let Some(facts) = &mut self.profile.facts {
            facts.name_worker(name);
        }
    }

    /// Writes the file, in the place of an earlier one, and returns its path. A process that gave up the
    /// right to write to the folder (`process.setuid()`) writes into the folder for temporary files,
    /// which the error tells.
    pub(crate) fn write(&mut self, end_us: i64) -> Result<PathBuf, Error> {
        let profile = &self.profile;
        let (names, written) = (&mut self.names, &mut self.written);
        let mut write_to = |dir: &Path| -> Result<PathBuf, Error> {
            let write = |file: &mut File| profile.write(file, end_us);
            let path = write_whole(dir, Formats::CPUPROFILE_EXTENSION, names, write)?;
            Ok(match written.take().filter(|earlier| std::fs::rename(&path, earlier).is_ok()) {
                Some(earlier) => written.insert(earlier).clone(),
                None => written.insert(path).clone(),
            })
        };
        let error = match write_to(&self.dir) {
            Err(error) if error.is_of_rights() && system::user() != self.user => error,
            result => return result,
        };
        match write_to(&self.other_dir) {
            Ok(place) => {
                Err(error.described(|path, source| Error::OtherPlace { path, source, place }))
            }
            Err(_) => Err(error),
        }
    }
}
