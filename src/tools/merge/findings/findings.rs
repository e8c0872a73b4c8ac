//! What a merge finds out while events are written, and what the result tells of it.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::left_out::LeftOut;
use super::notes;
use super::thread_cpu::ThreadCpus;
use crate::merge::inputs::foreign_pid::ForeignPid;
use crate::merge::output::mapped_frames::MappedFrames;
use crate::merge::output::process_labels::Labels;
use crate::merge::result::MergeResult;
use crate::read::read_error::ReadError;
use cpu_prof_core::files::input::{Failed, Input};
use cpu_prof_session::formats::trace::scan::ScanError;

/// The findings of a merge so far.
#[derive(Debug, Default)]
pub struct MergeFindings {
    /// Time on a core by thread.
    pub cpus: ThreadCpus,
    /// Threads of other traces, by their ids in the output.
    foreign_threads: FxHashSet<(u32, u32)>,
    /// Processes of other traces that have another pid in the output: path of the trace, pid in the
    /// trace, pid in the output.
    renumbered: Vec<(PathBuf, ForeignPid, u32)>,
    /// Traces without frames: those of other tools.
    generic: Vec<PathBuf>,
    /// Other traces whose times are far from those of the recordings.
    far: Vec<PathBuf>,
    /// Count of recordings of which nothing could be read.
    unread_recordings: usize,
    result: MergeResult,
}

/// How an input was read.
pub enum Reading {
    Whole,
    /// Events were left out.
    Damaged,
    /// The input could not be read to its end.
    Cut(ScanError),
    /// The input could not be opened, or nothing of it could be read.
    Failed(ReadError),
}

impl MergeFindings {
    /// Returns what was found out before anything is written.
    pub fn new(failed: Vec<Failed>, notes: Vec<String>) -> Self {
        let result = MergeResult { failed, notes, ..MergeResult::default() };
        Self { result, ..Self::default() }
    }

    /// Notes how an input was read.
    pub(crate) fn note_reading(&mut self, input: &Input, reading: Reading) {
        let path = &input.path;
        match reading {
            Reading::Whole => {}
            Reading::Damaged if self.result.repaired.contains(path) => {}
            Reading::Damaged => self.result.repaired.push(path.clone()),
            Reading::Failed(error) => {
                let reason = error.to_string();
                self.result.failed.push(Failed { path: path.clone(), reason });
            }
            Reading::Cut(error) => {
                let reason = format!("{error}; the events before that are in the trace");
                self.result.failed.push(Failed { path: path.clone(), reason });
            }
        }
    }

    /// Notes what of another tool's trace is not in the output.
    pub(crate) fn note_left_out(&mut self, input: &Input, left_out: &LeftOut) {
        self.result.notes.extend(left_out.note(&input.path));
    }

    /// Notes that nothing could be read of a recording.
    pub(crate) fn note_unread_recording(&mut self, input: &Input, error: ReadError) {
        self.note_reading(input, Reading::Failed(error));
        self.unread_recordings += 1;
    }

    /// Counts a recorded process with its threads.
    pub(crate) fn count_recorded(&mut self, threads: usize) {
        self.result.processes += 1;
        self.result.threads += threads;
    }

    /// Counts processes of another trace, and those of its threads that no earlier trace has.
    pub(crate) fn count_foreign(
        &mut self,
        processes: usize,
        threads: impl Iterator<Item = (u32, u32)>,
    ) {
        let new = threads.filter(|thread| self.foreign_threads.insert(*thread));
        self.result.threads += new.count();
        self.result.processes += processes;
    }

    /// Notes processes of another trace that have another pid in the output.
    pub(crate) fn note_renumbered(
        &mut self,
        trace: &Path,
        pids: impl Iterator<Item = (ForeignPid, u32)>,
    ) {
        self.renumbered.extend(pids.map(|(foreign, pid)| (trace.to_owned(), foreign, pid)));
    }

    /// Notes a trace whose times are far from those of the recordings.
    pub(crate) fn note_far(&mut self, trace: &Path) {
        self.far.push(trace.to_owned());
    }

    /// Notes a trace without frames.
    pub(crate) fn note_generic(&mut self, trace: &Path) {
        self.generic.push(trace.to_owned());
    }

    /// Returns the count of recordings of which nothing could be read.
    pub(crate) fn unread_recordings(&self) -> usize {
        self.unread_recordings
    }

    /// Returns the inputs that could not be read.
    pub(crate) fn into_failed(self) -> Vec<Failed> {
        self.result.failed
    }

    /// Returns the result with the notes on what was found, without the files.
    pub(crate) fn into_result(self, labels: &Labels, frames: &MappedFrames) -> MergeResult {
        let mut result = self.result;
        result.notes.extend(notes::of_renumbered(&self.renumbered));
        if !labels.is_generic() {
            result.notes.extend(notes::of_generic(&self.generic));
        }
        result.notes.extend(notes::of_far(&self.far));
        result.notes.extend(frames.notes());
        result
    }
}
