//! Many files into one trace that DevTools shows well, without holding them in memory.
//!
//! What a file is its beginning tells ([`survey`]); whose recordings belong together is settled
//! before anything is written ([`processes`]). Then file after file passes: a thread's only
//! recording line by line as it is, several of one thread through [`rebuild`], what is not ours
//! through [`foreign`]. Names of processes and what is known of them come at the end.

mod cpuprofile;
mod ends;
mod foreign;
mod outcome;
mod part;
mod processes;
mod recordings;
mod rewrite;
mod slices;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;
use serde_json::Value;

pub(crate) use self::outcome::{MergeError, MergeOptions, MergeProgress, MergeResult, ProcessExit};
use self::part::OutputParts;
use self::processes::OutputProcesses;
use self::slices::OutputSlices;
use crate::files::atomic::{Spool, keep};
use crate::files::input::{Failed, Input, find};
use crate::format::trace::scan::Scanner;
use crate::read::sniff::{SniffedFile, survey};

/// More than this DevTools does not load, uncompressed.
const DEVTOOLS_MAX_BYTES: u64 = 536_000_000;

/// More than this takes it long.
pub(crate) const DEVTOOLS_SLOW_BYTES: u64 = 200_000_000;

/// A process's label in the trace.
struct OutputFrame {
    pid: u32,
    url: String,
    start_us: i64,
    /// None for one of ours.
    frame: Option<String>,
    parent: Option<String>,
    /// Made up for a trace that names no frames; needed only beside others that do.
    is_generic: bool,
}

/// What is known while a merge goes on.
struct Merge {
    processes: OutputProcesses,
    frames: Vec<OutputFrame>,
    /// As they are written.
    profile_ids: FxHashSet<Vec<u8>>,
    threads: usize,
    foreign_processes: usize,
    repaired: Vec<PathBuf>,
    failed: Vec<Failed>,
    notes: Vec<String>,
    /// Members of other traces, written as members.
    members: Option<Spool>,
    /// Files that name no frames, as those of other tools.
    generic: Vec<PathBuf>,
    member_keys: FxHashSet<String>,
    /// Their metadata.
    sources: Vec<Value>,
}

/// Merges files and folders of them into `output`. A failed merge leaves nothing there.
pub(crate) fn merge(
    paths: &[PathBuf],
    output: &Path,
    options: &MergeOptions,
    progress: &MergeProgress,
) -> Result<MergeResult, MergeError> {
    let (mut inputs, mut failed) = find(paths);
    // A folder may hold the result of the last time.
    inputs.retain(|input| input.is_named || !is_same_file(&input.path, output));
    if inputs.is_empty() && failed.is_empty() {
        return Err(MergeError::NoInput { paths: paths.to_vec() });
    }
    let mut recordings = Vec::new();
    let mut others: Vec<(usize, bool)> = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        match survey(number, input) {
            Ok(SniffedFile::RecordingFile(recording)) => recordings.push(recording),
            Ok(SniffedFile::Other { is_merged }) => others.push((number, is_merged)),
            Err(reason) => failed.push(Failed { path: input.path.clone(), reason }),
        }
    }
    let mut notes = Vec::new();
    if !recordings.is_empty() {
        let is_result =
            |(number, is_merged): &(usize, bool)| *is_merged && !inputs[*number].is_named;
        let results = others.iter().filter(|other| is_result(other));
        let names = listed(results.map(|(number, _)| &inputs[*number].path));
        if !names.is_empty() {
            notes.push(format!("left out, for it is merged already (name it to have it): {names}"));
        }
        others.retain(|other| !is_result(other));
    }
    if recordings.is_empty() && others.is_empty() {
        return Err(MergeError::Unreadable { failed });
    }
    let processes = OutputProcesses::of(recordings, &inputs);
    let mut merge = Merge {
        processes,
        frames: Vec::new(),
        profile_ids: FxHashSet::default(),
        threads: 0,
        foreign_processes: 0,
        repaired: Vec::new(),
        failed,
        notes,
        members: None,
        generic: Vec::new(),
        member_keys: FxHashSet::default(),
        sources: Vec::new(),
    };
    merge.tell(&inputs);
    merge.run(&inputs, &others, output, options, progress)
}

impl Merge {
    fn run(
        mut self,
        inputs: &[Input],
        others: &[(usize, bool)],
        output: &Path,
        options: &MergeOptions,
        progress: &MergeProgress,
    ) -> Result<MergeResult, MergeError> {
        let bytes: u64 = inputs.iter().map(|input| input.bytes).sum();
        let needs_times =
            options.split.is_some() || options.from_us.is_some() || options.to_us.is_some();
        progress.total.store(if needs_times { 2 * bytes } else { bytes }, Ordering::Relaxed);
        let (windows, span) = if needs_times {
            let (windows, span) = self.choose_slices(inputs, others, options, progress);
            (windows, Some(span))
        } else {
            (OutputSlices::one(None, None), None)
        };
        let mut parts = OutputParts::create(output, windows)?;
        let list = std::mem::take(&mut self.processes.list);
        for process in &list {
            self.process(process, inputs, &mut parts, progress)?;
        }
        for (number, _) in others {
            self.foreign(&inputs[*number], output, &mut parts, progress)?;
        }
        let mut parts = parts.list;
        parts.retain(|part| !part.pids.is_empty());
        if parts.is_empty() {
            return Err(match span {
                Some((start_us, end_us)) => {
                    MergeError::NothingInSlice { length_ms: (end_us - start_us) / 1000 }
                }
                None => MergeError::Unreadable { failed: self.failed },
            });
        }
        self.write_ends(&list, &mut parts, options)?;
        let mut merged = MergeResult::default();
        let count = parts.len();
        let mut finished = Vec::with_capacity(count);
        for (number, part) in (1..).zip(parts) {
            let file = part.finish()?;
            merged.bytes = merged.bytes.max(file.bytes);
            let place = if count == 1 { output.to_owned() } else { numbered(output, number) };
            finished.push((file, place));
        }
        merged.files = keep(finished)?;
        if self.frames.iter().any(|frame| !frame.is_generic) {
            let names = listed(self.generic.iter());
            if !names.is_empty() {
                self.notes.push(format!(
                    "beside recordings, DevTools draws of other tools' events only those that it knows \
                     (Perfetto draws all): {names}"
                ));
            }
        }
        self.tell_size(merged.bytes, options.split.is_some());
        let recordings = list.iter().flat_map(|process| process.threads.values());
        merged.inputs = recordings.map(Vec::len).sum::<usize>() + others.len();
        merged.processes = list.len() + self.foreign_processes;
        merged.threads = self.threads;
        merged.repaired = self.repaired;
        merged.failed = self.failed;
        merged.notes = self.notes;
        Ok(merged)
    }

    /// Says what is unusual about the recordings.
    fn tell(&mut self, inputs: &[Input]) {
        let doubles = listed(self.processes.doubles.iter().map(|number| &inputs[*number].path));
        if !doubles.is_empty() {
            self.notes
                .push(format!("left out, for the same recordings are in other files: {doubles}"));
        }
        for process in &self.processes.list {
            if let (Some(mark), Some(pid)) = (&process.mark, process.own_pid) {
                self.notes.push(format!(
                    "several processes had the pid {pid} (in containers, say): one of them is marked{mark} \
                     and has the pid {} in the trace",
                    process.pid
                ));
            }
        }
        let others = self.processes.list.iter().filter(|process| process.clock > 0);
        let recordings = others.flat_map(|process| process.threads.values().flatten());
        let names = listed(recordings.map(|recording| &inputs[recording.input].path));
        if !names.is_empty() {
            self.notes.push(format!(
                "of another machine, or from before it was started anew: these keep their own times, far \
                 from the others' in the trace: {names}"
            ));
        }
    }

    fn tell_size(&mut self, bytes: u64, is_split: bool) {
        let megabytes = bytes / 1_000_000;
        let advice = "a window of time (from, to), several files (split), fewer inputs, or a longer \
                      CPU_PROF_INTERVAL makes it smaller";
        if bytes > DEVTOOLS_MAX_BYTES {
            self.notes.push(format!(
                "the trace has {megabytes} MB, and DevTools loads no more than {} MB: {advice}",
                DEVTOOLS_MAX_BYTES / 1_000_000
            ));
        } else if bytes > DEVTOOLS_SLOW_BYTES && !is_split {
            self.notes.push(format!(
                "the trace has {megabytes} MB, and DevTools takes some {} s to load it: {advice}",
                megabytes / 9
            ));
        }
    }

    fn open(
        &mut self,
        input: &Input,
        progress: &MergeProgress,
    ) -> Option<Scanner<Box<dyn io::Read>>> {
        match input.open_counted(&progress.done) {
            Ok(reader) => Some(Scanner::new(reader)),
            Err(error) => {
                let reason = format!("it cannot be read: {error}");
                self.failed.push(Failed { path: input.path.clone(), reason });
                None
            }
        }
    }
}

/// `trace.json.gz` → `trace.1.json.gz`
fn numbered(output: &Path, number: usize) -> PathBuf {
    let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at = [".json.gz", ".json", ".gz"]
        .iter()
        .find_map(|ending| {
            name.to_ascii_lowercase().ends_with(ending).then(|| name.len() - ending.len())
        })
        .unwrap_or(name.len());
    let mut numbered = OsString::from(&name[..at]);
    numbered.push(format!(".{number}{}", &name[at..]));
    output.with_file_name(numbered)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}

/// Names, not more than a person reads.
fn listed<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    const MOST: usize = 5;
    let names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
