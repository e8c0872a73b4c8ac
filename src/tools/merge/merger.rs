//! The state of a merge while the inputs pass through.

use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::labels::Labels;
use super::members::OtherMembers;
use super::notes;
use super::outcome::{MergeProgress, MergeResult};
use super::processes::OutputProcesses;
use crate::files::input::{Failed, Input};
use crate::format::trace::scan::{ScanError, Scanner};

/// The state of a merge.
pub(super) struct Merger<'a> {
    pub inputs: &'a [Input],
    pub output: &'a Path,
    pub progress: &'a MergeProgress,
    pub processes: OutputProcesses,
    pub labels: Labels,
    /// Ids of the profiles in the trace, with their quotes.
    pub profile_ids: FxHashSet<Vec<u8>>,
    pub members: OtherMembers,
    /// Traces without frames: those of other tools.
    pub generic: Vec<PathBuf>,
    /// The outcome so far. `processes` counts only those of other traces.
    pub result: MergeResult,
}

impl<'a> Merger<'a> {
    pub(super) fn new(
        inputs: &'a [Input],
        output: &'a Path,
        progress: &'a MergeProgress,
        processes: OutputProcesses,
    ) -> Self {
        Self {
            inputs,
            output,
            progress,
            processes,
            labels: Labels::default(),
            profile_ids: FxHashSet::default(),
            members: OtherMembers::default(),
            generic: Vec::new(),
            result: MergeResult::default(),
        }
    }

    /// Opens an input; none if the input cannot be read, which is noted.
    pub(super) fn open(&mut self, input: &Input) -> Option<Scanner<Box<dyn Read>>> {
        match input.open_counted(&self.progress.done) {
            Ok(reader) => Some(Scanner::new(reader)),
            Err(error) => {
                self.fail(input, format!("the file cannot be read: {error}"));
                None
            }
        }
    }

    /// Notes that an input cannot be read, and why.
    pub(super) fn fail(&mut self, input: &Input, reason: String) {
        self.result.failed.push(Failed { path: input.path.clone(), reason });
    }

    /// Notes that an input cannot be read to its end.
    pub(super) fn fail_midway(&mut self, input: &Input, error: &ScanError) {
        self.fail(input, format!("{error}; the events before that are in the trace"));
    }

    /// Notes that damaged events of an input were left out.
    pub(super) fn repaired(&mut self, input: &Input) {
        if !self.result.repaired.contains(&input.path) {
            self.result.repaired.push(input.path.clone());
        }
    }

    /// Returns the outcome so far.
    pub(super) fn finish(&mut self) -> MergeResult {
        if !self.labels.is_generic() {
            self.result.notes.extend(notes::of_generic(&self.generic));
        }
        std::mem::take(&mut self.result)
    }
}
