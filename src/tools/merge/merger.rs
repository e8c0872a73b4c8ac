//! The state of a merge while the inputs pass through.

use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::inputs::foreign_pids::ForeignPid;
use super::inputs::processes::OutputProcesses;
use super::outcome::{MergeOptions, MergeProgress, MergeResult};
use super::output::labels::Labels;
use super::output::members::OtherMembers;
use super::output::part::OutputParts;
use super::plan::choose_threads::ChosenThreads;
use super::plan::notes;
use super::plan::sizes::TraceSizes;
use super::profiles::ids::ProfileIds;
use super::profiles::mapped_frames::MappedFrames;
use super::profiles::rewrite::Rewriting;
use crate::read::sniff::open_counted;
use cpu_prof_core::files::input::{Failed, Input};
use cpu_prof_core::format::trace::scan::{ScanError, SoundItems};

/// The state of a merge.
pub(super) struct Merger<'a> {
    pub inputs: &'a [Input],
    /// Names of inputs, which come after so many paths without a name.
    names: &'a [(String, PathBuf)],
    unnamed_paths: usize,
    pub output: &'a Path,
    pub progress: &'a MergeProgress,
    pub processes: OutputProcesses,
    /// Threads that go into the trace.
    pub chosen: ChosenThreads,
    /// Changes of profiles.
    pub rewriting: Rewriting,
    /// Places of frames in the sources.
    pub mapped: MappedFrames,
    /// Categories of other tools' events that go into the trace; empty for all.
    pub categories: &'a [String],
    pub labels: Labels,
    pub profile_ids: ProfileIds,
    pub members: OtherMembers,
    /// Threads of other traces, by their ids in the output.
    pub foreign_threads: FxHashSet<(u32, u32)>,
    /// Facts about processes of merged traces, by their pids in the trace.
    pub facts: Vec<(u32, Map<String, Value>)>,
    pub sizes: TraceSizes,
    /// Other traces whose times are far from those of the recordings.
    pub far: Vec<PathBuf>,
    /// Their processes, by the pids in the output.
    pub far_pids: FxHashSet<u32>,
    /// Processes of other traces that have another pid in the output: path of the trace, own pid, pid
    /// in the output.
    pub renumbered: Vec<(PathBuf, ForeignPid, u32)>,
    /// Traces without frames: those of other tools.
    pub generic: Vec<PathBuf>,
    /// Count of recordings of which nothing could be read.
    pub empty_inputs: usize,
    /// The outcome so far.
    pub result: MergeResult,
}

impl<'a> Merger<'a> {
    pub(super) fn new(
        inputs: &'a [Input],
        unnamed_paths: usize,
        output: &'a Path,
        options: &'a MergeOptions,
        progress: &'a MergeProgress,
        processes: OutputProcesses,
        chosen: ChosenThreads,
    ) -> Self {
        let MergeOptions { filter, interval_us, categories, .. } = options;
        Self {
            inputs,
            names: &options.names,
            unnamed_paths,
            output,
            progress,
            processes,
            chosen,
            rewriting: Rewriting { stacks: filter.stacks.clone(), interval_us: *interval_us },
            mapped: MappedFrames::new(options.source_maps),
            categories,
            labels: Labels::default(),
            profile_ids: ProfileIds::default(),
            members: OtherMembers::default(),
            foreign_threads: FxHashSet::default(),
            facts: Vec::new(),
            sizes: TraceSizes::default(),
            far: Vec::new(),
            far_pids: FxHashSet::default(),
            renumbered: Vec::new(),
            generic: Vec::new(),
            empty_inputs: 0,
            result: MergeResult::default(),
        }
    }

    /// Returns the name of an input, by its index.
    pub(super) fn input_name(&self, input: usize) -> Option<&'a str> {
        let unnamed = self.inputs.get(input)?.group.checked_sub(self.unnamed_paths)?;
        self.names.get(unnamed).map(|(name, _)| name.as_str())
    }

    /// Returns whether profiles pass unchanged.
    pub(super) fn copies_profiles(&self, parts: &OutputParts) -> bool {
        parts.slices.is_everything() && !self.rewriting.is_limited()
    }

    /// Opens an input; none if the input cannot be read, which is noted.
    pub(super) fn open(&mut self, input: &Input) -> Option<SoundItems<Box<dyn Read>>> {
        let opened = open_counted(input, &self.progress.done);
        opened.map_err(|reason| self.fail(input, reason)).ok()
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

    /// Returns a remark on a trace that is large for DevTools.
    pub(super) fn size_note(&self, bytes: u64, length_us: i64, is_split: bool) -> Option<String> {
        let smaller = self.sizes.smaller(bytes, length_us, notes::DEVTOOLS_SLOW_BYTES);
        notes::of_size(bytes, is_split, &smaller, |pid| self.labels.url(pid))
    }

    /// Returns the outcome so far.
    pub(super) fn finish(&mut self) -> MergeResult {
        self.result.notes.extend(notes::of_renumbered(&self.renumbered));
        if !self.labels.is_generic() {
            self.result.notes.extend(notes::of_generic(&self.generic));
        }
        self.result.notes.extend(notes::of_far(&self.far));
        self.result.notes.extend(self.mapped.originals.notes());
        std::mem::take(&mut self.result)
    }
}
