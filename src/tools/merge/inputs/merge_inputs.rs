//! All that a merge reads, and what of it goes into the trace.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::Ordering;

use super::chosen_threads::ChosenThreads;
use super::other_trace::OtherTrace;
use super::recorded_processes::{RecordedProcess, RecordedProcesses};
use crate::merge::options::{MergeOptions, MergeProgress};
use crate::read::file::open_counted;
use crate::read::pprof::beside::RecordedTime;
use crate::read::read_error::ReadError;
use cpu_prof_core::files::input::Input;
use cpu_prof_session::formats::trace::scan::SoundItems;

/// The inputs of a merge. They stay as they are while events are written.
pub struct MergeInputs<'a> {
    files: &'a [Input],
    /// Count of the given paths without a name, which come before those with one.
    unnamed_paths: usize,
    options: &'a MergeOptions,
    progress: &'a MergeProgress,
    recorded: RecordedProcesses,
    /// Time of the recordings of the first clock; none if they do not tell the time of day.
    recorded_time: Option<RecordedTime>,
    others: Vec<OtherTrace>,
    chosen: ChosenThreads,
}

impl<'a> MergeInputs<'a> {
    /// Returns inputs of which all threads are chosen.
    pub fn new(
        files: &'a [Input],
        unnamed_paths: usize,
        options: &'a MergeOptions,
        progress: &'a MergeProgress,
        recorded: RecordedProcesses,
        others: Vec<OtherTrace>,
    ) -> Self {
        let chosen = ChosenThreads::default();
        let recorded_time = recorded.time();
        Self { files, unnamed_paths, options, progress, recorded, recorded_time, others, chosen }
    }

    /// Leaves out all threads but those that are chosen.
    pub fn limit(&mut self, chosen: ChosenThreads) {
        self.recorded.limit(&chosen);
        self.chosen = chosen;
    }

    /// Returns what the user asks for.
    pub fn options(&self) -> &'a MergeOptions {
        self.options
    }

    /// Returns an input by its index.
    pub fn file(&self, index: usize) -> &'a Input {
        &self.files[index]
    }

    /// Returns the name of an input's file.
    pub fn file_name(&self, index: usize) -> Cow<'a, str> {
        self.file(index).path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Returns the recorded processes that have chosen threads.
    pub fn recorded(&self) -> &[RecordedProcess] {
        &self.recorded.list
    }

    /// Returns the traces that are not recordings.
    pub fn others(&self) -> &[OtherTrace] {
        &self.others
    }

    /// Returns the choice of threads.
    pub fn chosen(&self) -> &ChosenThreads {
        &self.chosen
    }

    /// Returns the name that the user gave an input; none without one.
    pub fn name(&self, index: usize) -> Option<&'a str> {
        let number = self.file(index).group.checked_sub(self.unnamed_paths)?;
        self.options.names.get(number).map(|(name, _)| name.as_str())
    }

    /// Returns the inputs that are neither copies nor unreadable.
    pub(crate) fn used_files(&self) -> impl Iterator<Item = &'a Input> {
        let recorded = self.recorded().iter().flat_map(RecordedProcess::recordings);
        let others = self.others.iter().map(|trace| trace.input);
        recorded.map(|recording| recording.input).chain(others).map(|index| self.file(index))
    }

    /// Returns the count of the recordings that have chosen threads.
    pub fn recordings(&self) -> usize {
        self.recorded().iter().flat_map(RecordedProcess::recordings).count()
    }

    /// Returns whether a time is far from all recordings.
    pub(crate) fn are_far_from(&self, ts: i64) -> bool {
        self.recorded.are_far_from(ts)
    }

    /// Adds the bytes of one reading of all inputs to the bytes to read.
    pub(crate) fn expect_reading(&self) {
        let bytes: u64 = self.files.iter().map(|file| file.bytes).sum();
        self.progress.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Opens an input to read its sound events.
    pub fn open(&self, index: usize) -> Result<SoundItems<Box<dyn Read>>, ReadError> {
        open_counted(self.file(index), &self.progress.done, self.recorded_time.as_ref())
    }
}
