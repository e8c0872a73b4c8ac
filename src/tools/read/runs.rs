//! Which runs a folder has: what `cpu-prof run` wrote there, one run after the other.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::files::find::{is_input_name, is_left_out};

/// The runs of a folder.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderRuns {
    /// Folders and traces of runs below the folder, the oldest run first. Empty for a path that is no
    /// folder of runs.
    pub runs: Vec<String>,
    /// Whether a folder of runs also has recordings that belong to no run.
    pub has_others: bool,
}

impl FolderRuns {
    /// Returns the runs of a folder; nothing for another path.
    pub fn of(folder: &Path) -> Self {
        let entries = entries_of(folder);
        let runs = runs_in(folder, &entries);
        let is_other = |entry: &&Entry| !entry.is_run_folder() && !runs.contains(&entry.name);
        // A folder without runs can be large, and nobody asks what else it has.
        let has_others = !runs.is_empty()
            && entries.iter().filter(is_other).any(|entry| has_recording(folder, entry));
        Self { runs, has_others }
    }
}

/// Returns the traces that stand for their runs where everything in a folder is read, below the folder.
/// Readers of a folder leave out a trace beside recordings, so these are inputs beside the folder.
pub fn traces_of_runs(folder: &Path) -> Vec<String> {
    let entries = entries_of(folder);
    let mut traces = own_traces(folder, &entries);
    for run in run_folders(folder, &entries) {
        let path = folder.join(&run.name);
        let own = own_traces(&path, &entries_of(&path));
        traces.extend(own.into_iter().map(|trace| format!("{}/{trace}", run.name)));
    }
    traces
}

/// Returns whether a folder has a recording, also in folders below.
pub fn has_recordings(folder: &Path) -> bool {
    entries_of(folder).iter().any(|entry| has_recording(folder, entry))
}

/// An entry of a folder.
#[derive(Debug)]
struct Entry {
    name: String,
    is_folder: bool,
}

impl Entry {
    fn is_run_folder(&self) -> bool {
        self.is_folder && RunFolderName::of(&self.name).is_some()
    }

    /// Returns the number of a trace of a run, 0 for the first: a later run with the same `--dir`
    /// writes `trace.2.json`, and so on.
    fn trace_number(&self) -> Option<u64> {
        let number = self.name.strip_prefix("trace")?.strip_suffix(".json")?;
        if number.is_empty() { Some(0) } else { number.strip_prefix('.').and_then(digits) }
    }
}

/// What the name of a run's folder tells: `20261122.180012.19540`, or `run-3` of several runs of one
/// command. The order is that of the runs. Of runs that started in one second, the system mostly gave
/// the later one the higher process id.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunFolderName<'a> {
    number: u64,
    started: &'a str,
    pid: u64,
}

impl<'a> RunFolderName<'a> {
    fn of(name: &'a str) -> Option<Self> {
        if let Some(number) = name.strip_prefix("run-") {
            return Some(Self { number: digits(number)?, started: "", pid: 0 });
        }
        let (started, pid) = name.rsplit_once('.')?;
        let (date, time) = started.split_once('.')?;
        let is_time = date.len() == 8 && time.len() == 6;
        digits(date).and(digits(time)).filter(|_| is_time)?;
        Some(Self { number: 0, started, pid: digits(pid)? })
    }
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Returns the entries of a folder; none if the path is no folder, or cannot be read.
fn entries_of(folder: &Path) -> Vec<Entry> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<Entry> = entries
        .map(|entry| Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        })
        .collect();
    entries.cold_sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Returns whether an entry is a recording, or a folder that has one.
fn has_recording(parent: &Path, entry: &Entry) -> bool {
    if is_left_out(&entry.name) {
        return false;
    }
    if !entry.is_folder {
        return is_input_name(&entry.name);
    }
    has_recordings(&parent.join(&entry.name))
}

fn runs_in(folder: &Path, entries: &[Entry]) -> Vec<String> {
    let folders = run_folders(folder, entries);
    if folders.is_empty() {
        return run_traces(folder, entries);
    }
    folders.into_iter().flat_map(|run| runs_of(folder, &run.name)).collect()
}

/// Returns the runs in a run's own folder, mostly one.
fn runs_of(parent: &Path, name: &str) -> Vec<String> {
    let folder = parent.join(name);
    let runs = runs_in(&folder, &entries_of(&folder));
    match runs.len() {
        0 | 1 => vec![name.to_owned()],
        _ => runs.into_iter().map(|run| format!("{name}/{run}")).collect(),
    }
}

/// Returns the folders of runs, the oldest first.
fn run_folders<'a>(parent: &Path, entries: &'a [Entry]) -> Vec<&'a Entry> {
    let mut folders: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.is_run_folder() && has_recording(parent, entry))
        .collect();
    folders.cold_sort_by(|a, b| RunFolderName::of(&a.name).cmp(&RunFolderName::of(&b.name)));
    folders
}

/// Returns the traces that runs wrote into a folder, the oldest first.
fn run_traces(folder: &Path, entries: &[Entry]) -> Vec<String> {
    let written = |name: &str| {
        let metadata = fs::metadata(folder.join(name));
        metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    // Not by the numbers alone: a run takes the first number that is free.
    let mut traces: Vec<_> = entries
        .iter()
        .filter_map(|entry| Some((written(&entry.name), entry.trace_number()?, &entry.name)))
        .collect();
    traces.cold_sort_by(|(a, a_number, _), (b, b_number, _)| match a.cmp(b) {
        Ordering::Equal => a_number.cmp(b_number),
        order => order,
    });
    traces.into_iter().map(|(_, _, name)| name.clone()).collect()
}

/// Returns the traces of runs in a folder; none if it has one with its recordings.
fn own_traces(folder: &Path, entries: &[Entry]) -> Vec<String> {
    let traces = run_traces(folder, entries);
    let is_other = |entry: &&Entry| !traces.contains(&entry.name);
    let has_others = entries.iter().filter(is_other).any(|entry| has_recording(folder, entry));
    if traces.len() > 1 || !has_others { traces } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a folder with these files; a name that ends in a slash is an empty folder.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::write(path, "{}").unwrap();
            }
        }
        dir
    }

    #[test]
    fn runs_are_in_the_order_of_their_starts() {
        let dir = folder(&[
            "20260102.030405.9/trace.json",
            "20260102.030405.10/CPU.trace.json",
            "20260101.235959.99/trace.json",
            "20260101.000000.1/",
            "20260101.000000.x/trace.json",
            "other/x.cpuprofile",
            "node_modules/x.json",
        ]);
        let found = FolderRuns::of(dir.path());
        let runs = ["20260101.235959.99", "20260102.030405.9", "20260102.030405.10"];
        assert_eq!(found.runs, runs);
        assert!(found.has_others && has_recordings(dir.path()));
        assert_eq!(
            traces_of_runs(dir.path()),
            ["20260101.235959.99/trace.json", "20260102.030405.9/trace.json"]
        );
    }

    #[test]
    fn repeated_runs_are_in_the_order_of_their_numbers() {
        let dir = folder(&["run-10/trace.json", "run-9/trace.json", "run-x/trace.json"]);
        assert_eq!(FolderRuns::of(dir.path()).runs, ["run-9", "run-10"]);
        let nested = folder(&["20260102.030405.9/run-1/a.json", "20260102.030405.9/run-2/a.json"]);
        let runs = ["20260102.030405.9/run-1", "20260102.030405.9/run-2"];
        assert_eq!(FolderRuns::of(nested.path()).runs, runs);
    }

    #[test]
    fn other_paths_have_no_runs() {
        let dir = folder(&["trace.json", ".hidden/x.json", "notes.txt"]);
        assert_eq!(FolderRuns::of(&dir.path().join("trace.json")), FolderRuns::default());
        assert_eq!(FolderRuns::of(&dir.path().join("missing")), FolderRuns::default());
        let hidden = folder(&[".hidden/x.json", "notes.txt", "node_modules/x.json"]);
        assert!(!has_recordings(hidden.path()));
    }
}
