//! A merge from its inputs to its files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::choose_slices::choose_slices;
use super::merger::Merger;
use super::notes;
use super::outcome::{MergeError, MergeOptions, MergeProgress, MergeResult};
use super::part::{OutputPart, OutputParts};
use super::processes::OutputProcesses;
use super::slices::OutputSlices;
use crate::files::atomic::keep;
use crate::files::find::find;
use crate::files::input::{Failed, Input};
use crate::read::sniff::{RecordingFile, SniffedFile, sniff};

/// Merges files and folders of files into `output`. A failed merge leaves nothing there.
pub(crate) fn merge(
    paths: &[PathBuf],
    output: &Path,
    options: &MergeOptions,
    progress: &MergeProgress,
) -> Result<MergeResult, MergeError> {
    let (mut inputs, failed) = find(paths);
    // A folder may hold the result of an earlier merge.
    inputs.retain(|input| input.is_named || !is_same_file(&input.path, output));
    if inputs.is_empty() && failed.is_empty() {
        return Err(MergeError::NoInput { paths: paths.to_vec() });
    }
    let sorted = SortedInputs::sniff(&inputs, failed);
    if sorted.recordings.is_empty() && sorted.others.is_empty() {
        return Err(MergeError::Unreadable { failed: sorted.failed });
    }
    let SortedInputs { recordings, others, failed, notes } = sorted;
    let processes = OutputProcesses::of(recordings, &inputs);
    let mut merger = Merger::new(&inputs, output, progress, processes);
    merger.result.failed = failed;
    merger.result.notes = notes;
    merger.result.notes.extend(notes::of_processes(&merger.processes, &inputs));
    write(merger, &others, options)
}

/// The inputs by their kinds.
#[derive(Default)]
struct SortedInputs {
    recordings: Vec<RecordingFile>,
    /// Indices of inputs that are other traces.
    others: Vec<usize>,
    failed: Vec<Failed>,
    notes: Vec<String>,
}

impl SortedInputs {
    fn sniff(inputs: &[Input], failed: Vec<Failed>) -> Self {
        let mut sorted = Self { failed, ..Self::default() };
        let mut earlier_results = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            match sniff(index, input) {
                Ok(SniffedFile::Recording(recording)) => sorted.recordings.push(recording),
                Ok(SniffedFile::Other { is_merged }) => {
                    sorted.others.push(index);
                    if is_merged && !input.is_named {
                        earlier_results.push(index);
                    }
                }
                Err(reason) => sorted.failed.push(Failed { path: input.path.clone(), reason }),
            }
        }
        // A merged trace holds the recordings beside it. Alone it is what was asked for.
        if !sorted.recordings.is_empty() && !earlier_results.is_empty() {
            let names = notes::list(earlier_results.iter().map(|index| &inputs[*index].path));
            let note = format!("left out merged traces (name the file to merge it again): {names}");
            sorted.notes.push(note);
            sorted.others.retain(|index| !earlier_results.contains(index));
        }
        sorted
    }
}

fn write(
    mut merger: Merger<'_>,
    others: &[usize],
    options: &MergeOptions,
) -> Result<MergeResult, MergeError> {
    let progress = merger.progress;
    let bytes: u64 = merger.inputs.iter().map(|input| input.bytes).sum();
    let needs_times =
        options.split.is_some() || options.from_us.is_some() || options.to_us.is_some();
    progress.total.store(if needs_times { 2 * bytes } else { bytes }, Ordering::Relaxed);
    let (slices, length_us) = if needs_times {
        let (slices, length_us) = choose_slices(&merger, others, options);
        (slices, Some(length_us))
    } else {
        (OutputSlices::one(None, None), None)
    };
    let mut parts = OutputParts::create(merger.output, slices)?;
    let processes = std::mem::take(&mut merger.processes.list);
    for process in &processes {
        merger.add_process(process, &mut parts)?;
    }
    for index in others {
        merger.add_foreign(&merger.inputs[*index], &mut parts)?;
    }
    let mut parts = parts.list;
    parts.retain(|part| !part.pids.is_empty());
    if parts.is_empty() {
        return Err(match length_us {
            Some(length_us) => MergeError::NothingInSlice { length_ms: length_us / 1000 },
            None => MergeError::Unreadable { failed: merger.result.failed },
        });
    }
    merger.write_ends(&processes, &mut parts, options.exit.as_ref())?;
    let mut result = merger.finish();
    (result.files, result.bytes) = keep_parts(parts, merger.output)?;
    result.notes.extend(notes::of_size(result.bytes, options.split.is_some()));
    let recordings = processes.iter().flat_map(|process| process.threads.values());
    result.inputs = recordings.map(Vec::len).sum::<usize>() + others.len();
    result.processes += processes.len();
    Ok(result)
}

/// Moves the parts to their places. Returns the paths, and the size of the largest part.
fn keep_parts(parts: Vec<OutputPart>, output: &Path) -> Result<(Vec<PathBuf>, u64), MergeError> {
    let count = parts.len();
    let mut bytes = 0;
    let mut files = Vec::with_capacity(count);
    for (number, part) in (1..).zip(parts) {
        let file = part.finish()?;
        bytes = file.bytes.max(bytes);
        let place = if count == 1 { output.to_owned() } else { numbered(output, number) };
        files.push((file, place));
    }
    Ok((keep(files)?, bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_before_the_extension() {
        for (output, expected) in [
            ("t.json", "t.2.json"),
            ("a.b.json.gz", "a.b.2.json.gz"),
            ("x.JSON", "x.2.JSON"),
            ("x.gz", "x.2.gz"),
            ("x", "x.2"),
        ] {
            assert_eq!(numbered(Path::new(output), 2), Path::new(expected));
        }
    }
}
