//! Notes on a merge that a user should know.

use std::path::PathBuf;

use crate::merge::inputs::foreign_pid::ForeignPid;
use crate::merge::inputs::recorded_processes::{RecordedProcess, RecordedProcesses};
use crate::read::pprof::{self, is_pprof};
use cpu_prof_core::base::name_list::first_of;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::read_scope::ReadScope;

/// Names in one note.
const SHOWN: usize = 5;

/// DevTools does not load a larger trace: bytes, uncompressed.
const DEVTOOLS_MAX_BYTES: u64 = 536_000_000;

/// DevTools takes long to load a larger trace: bytes, uncompressed.
const DEVTOOLS_SLOW_BYTES: u64 = 200_000_000;

/// Returns notes on merged traces and pprof files that are left out, by their indices.
pub(crate) fn of_copies(copies: &[usize], files: &[Input]) -> Vec<String> {
    let (pprof, merged): (Vec<_>, Vec<_>) =
        copies.iter().map(|index| &files[*index]).partition(|input| is_pprof(input));
    let note = |(kind, inputs): (&str, Vec<&Input>)| {
        let names = list(inputs.iter().map(|input| &input.path));
        let note = format!("left out {kind} (name the file to merge it again): {names}");
        (!inputs.is_empty()).then_some(note)
    };
    [("merged traces", merged), ("pprof files beside traces", pprof)]
        .into_iter()
        .filter_map(note)
        .collect()
}

/// Returns notes on pprof files, by their indices.
pub(crate) fn of_pprof<'a>(
    others: impl Iterator<Item = usize> + 'a,
    files: &'a [Input],
) -> impl Iterator<Item = String> + 'a {
    let pprof = others.map(|index| &files[index]).filter(|input| is_pprof(input));
    pprof.flat_map(|input| {
        let path = input.path.display();
        pprof::notes(input, ReadScope::SAMPLES)
            .into_iter()
            .map(move |note| format!("{path}: {note}"))
    })
}

/// Returns notes on recordings that are left out, renumbered, or of another machine.
pub(crate) fn of_processes(processes: &RecordedProcesses, files: &[Input]) -> Vec<String> {
    let mut notes = Vec::new();
    let duplicates = list(processes.duplicates.iter().map(|index| &files[*index].path));
    if !duplicates.is_empty() {
        notes.push(format!("left out, because other files hold the same recordings: {duplicates}"));
    }
    notes.extend(of_marked(processes));
    let others = processes.list.iter().filter(|process| process.clock > 0);
    let recordings = others.flat_map(RecordedProcess::recordings);
    let names = list(recordings.map(|recording| &files[recording.input].path));
    if !names.is_empty() {
        notes.push(format!(
            "recordings of another machine or run, or from before a restart, keep their own times, \
             far from the others in the trace: {names}"
        ));
    }
    notes
}

/// Returns notes on processes that had one pid.
fn of_marked(processes: &RecordedProcesses) -> Vec<String> {
    let marked = processes
        .list
        .iter()
        .filter_map(|process| Some((process.mark.as_deref()?, process.recorded_pid?, process.pid)));
    let marked: Vec<_> = marked.collect();
    if marked.len() > SHOWN {
        let changes =
            marked.iter().map(|(mark, recorded, pid)| format!("{recorded}{mark} is {pid}"));
        return vec![format!(
            "{} processes had the pid of another process (for example in containers); they have a \
             mark and another pid in the trace: {}",
            marked.len(),
            first_of(&changes.collect::<Vec<_>>(), SHOWN)
        )];
    }
    let note = |(mark, recorded, pid): &(&str, u32, u32)| {
        format!(
            "several processes had the pid {recorded} (for example in containers): one of them has the \
             mark{mark} and the pid {pid} in the trace"
        )
    };
    marked.iter().map(note).collect()
}

/// Returns notes on processes of other tools that have another pid in the trace: path of the trace,
/// pid there, pid in the output.
pub(crate) fn of_renumbered(all: &[(PathBuf, ForeignPid, u32)]) -> Vec<String> {
    if all.len() > SHOWN {
        let changes = all
            .iter()
            .map(|(path, foreign, pid)| format!("{foreign} of {} is {pid}", path.display()));
        return vec![format!(
            "{} processes of other tools have another pid in the trace, because another process has \
             theirs, or because viewers read only whole numbers from 0: {}",
            all.len(),
            first_of(&changes.collect::<Vec<_>>(), SHOWN)
        )];
    }
    let note = |(path, foreign, pid): &(PathBuf, ForeignPid, u32)| {
        let reason = match foreign.as_number() {
            Some(_) => format!("another process has the pid {foreign}"),
            None => "viewers read only whole numbers from 0".to_owned(),
        };
        let path = path.display();
        format!("{path}: its process {foreign} has the pid {pid} in the trace, because {reason}")
    };
    all.iter().map(note).collect()
}

/// Returns a note on traces of other tools beside recordings.
pub(crate) fn of_generic(files: &[PathBuf]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "beside recordings, DevTools draws only those events of other tools that DevTools \
             knows (Perfetto draws all): {}",
            list(files.iter())
        )
    })
}

/// Returns a note on traces of other tools whose times are far from those of the recordings.
pub(crate) fn of_far(files: &[PathBuf]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "the times of other tools are far from those of the recordings, because they count \
             from 0 or come from another machine; the trace opens at the recordings, and a slice \
             (from, to) leaves these out: {}",
            list(files.iter())
        )
    })
}

/// Returns a note on a size that DevTools does not load, or loads slowly: bytes, uncompressed.
pub(crate) fn of_size(bytes: u64) -> Option<String> {
    let megabytes = bytes / 1_000_000;
    let problem = if bytes > DEVTOOLS_MAX_BYTES {
        format!("DevTools loads at most {} MB", DEVTOOLS_MAX_BYTES / 1_000_000)
    } else if bytes > DEVTOOLS_SLOW_BYTES {
        format!("DevTools takes about {} s to load it", megabytes / 9)
    } else {
        return None;
    };
    Some(format!(
        "the trace has {megabytes} MB, and {problem}; merge again with a larger interval, a slice \
         (from, to) or some processes"
    ))
}

/// Returns the paths in one line, the first few of many.
fn list<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    first_of(&paths.map(|path| path.display().to_string()).collect::<Vec<_>>(), SHOWN)
}
