//! Remarks on a merge that a user should know.

use std::path::PathBuf;

use super::processes::OutputProcesses;
use crate::files::input::Input;

/// DevTools does not load a larger trace: bytes, uncompressed.
pub(super) const DEVTOOLS_MAX_BYTES: u64 = 536_000_000;

/// DevTools takes long to load a larger trace: bytes, uncompressed.
pub(crate) const DEVTOOLS_SLOW_BYTES: u64 = 200_000_000;

/// Returns remarks on recordings that are left out, renumbered, or of another machine.
pub(super) fn of_processes(processes: &OutputProcesses, inputs: &[Input]) -> Vec<String> {
    let mut notes = Vec::new();
    let duplicates = list(processes.duplicates.iter().map(|index| &inputs[*index].path));
    if !duplicates.is_empty() {
        notes.push(format!("left out, because other files hold the same recordings: {duplicates}"));
    }
    for process in &processes.list {
        if let (Some(mark), Some(pid)) = (&process.mark, process.own_pid) {
            notes.push(format!(
                "several processes had the pid {pid} (for example in containers): one of them has \
                 the mark{mark} and the pid {} in the trace",
                process.pid
            ));
        }
    }
    let others = processes.list.iter().filter(|process| process.clock > 0);
    let recordings = others.flat_map(|process| process.threads.values().flatten());
    let names = list(recordings.map(|recording| &inputs[recording.input].path));
    if !names.is_empty() {
        notes.push(format!(
            "recordings of another machine, or from before a restart, keep their own times, far \
             from the others in the trace: {names}"
        ));
    }
    notes
}

/// Returns a remark on traces of other tools beside recordings.
pub(super) fn of_generic(files: &[PathBuf]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "beside recordings, DevTools draws only those events of other tools that DevTools \
             knows (Perfetto draws all): {}",
            list(files.iter())
        )
    })
}

/// Returns a remark on a size that DevTools does not load, or loads slowly.
pub(super) fn of_size(bytes: u64, is_split: bool) -> Option<String> {
    let megabytes = bytes / 1_000_000;
    let advice = "a slice of the time (from, to), several files (split), fewer inputs, or a longer \
                  CPU_PROF_INTERVAL makes the trace smaller";
    if bytes > DEVTOOLS_MAX_BYTES {
        return Some(format!(
            "the trace has {megabytes} MB, and DevTools loads at most {} MB: {advice}",
            DEVTOOLS_MAX_BYTES / 1_000_000
        ));
    }
    (bytes > DEVTOOLS_SLOW_BYTES && !is_split).then(|| {
        format!(
            "the trace has {megabytes} MB, and DevTools takes about {} s to load it: {advice}",
            megabytes / 9
        )
    })
}

/// Returns the paths in one line, the first few of many.
pub(super) fn list<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
