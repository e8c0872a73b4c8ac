//! A merge from its inputs to its files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::inputs::host_process::{OtherTrace, find_homes};
use super::inputs::processes::{OutputProcess, OutputProcesses};
use super::merger::Merger;
use super::outcome::{MergeError, MergeOptions, MergeProgress, MergeResult};
use super::output::part::{OutputPart, OutputParts};
use super::output::slices::OutputSlices;
use super::plan::choose_slices::ChosenSlices;
use super::plan::choose_threads::ChosenThreads;
use super::plan::notes;
use super::plan::sorted_inputs::SortedInputs;
use super::plan::survey::{Survey, SurveyDepth};
use crate::read::align::{align_clocks, align_starts};
use crate::read::slice::FoundSlice;
use cpu_prof_core::files::atomic::keep;
use cpu_prof_core::files::find::find;

/// Merges files and folders of files into `output`. A failed merge leaves nothing there.
pub(crate) fn merge(
    paths: &[PathBuf],
    output: &Path,
    options: &MergeOptions,
    progress: &MergeProgress,
) -> Result<MergeResult, MergeError> {
    let named = options.names.iter().map(|(_, path)| path.clone());
    let paths: Vec<PathBuf> = paths.iter().cloned().chain(named).collect();
    let (mut inputs, failed) = find(&paths);
    // A folder may hold the result of an earlier merge.
    inputs.retain(|input| input.is_named || !is_same_file(&input.path, output));
    if inputs.is_empty() && failed.is_empty() {
        return Err(MergeError::NoInput { paths });
    }
    match options.aligns_starts {
        true => align_starts(&mut inputs),
        false => align_clocks(&mut inputs),
    }
    let sorted = SortedInputs::sniff(&inputs, failed);
    if sorted.recordings.is_empty() && sorted.others.is_empty() {
        return Err(MergeError::Unreadable { failed: sorted.failed });
    }
    let SortedInputs { recordings, others, failed, notes } = sorted;
    let mut processes = OutputProcesses::of(recordings, &inputs);
    let others = find_homes(others, &inputs, &mut processes);
    let bytes: u64 = inputs.iter().map(|input| input.bytes).sum();
    let more_to_read = || progress.total.fetch_add(bytes, Ordering::Relaxed);
    let (mut slices, chosen) = match survey_depth(options) {
        Some(depth) => {
            more_to_read();
            let survey = Survey::of(&inputs, &processes.list, &others, depth, progress);
            let chosen = ChosenThreads::of(&survey, options)?;
            (ChosenSlices::of(survey.times, options)?, chosen)
        }
        None => (ChosenSlices::default(), ChosenThreads::default()),
    };
    let unnamed_paths = paths.len() - options.names.len();
    loop {
        more_to_read();
        let mut merger = Merger::new(
            &inputs,
            unnamed_paths,
            output,
            options,
            progress,
            processes.clone(),
            chosen.clone(),
        );
        merger.result.failed = failed.clone();
        merger.result.notes = notes.clone();
        merger.result.notes.extend(notes::of_processes(&merger.processes, &inputs));
        merger.result.notes.extend(chosen.note.clone());
        let written = write(&mut merger, &others, slices.slices.clone())?;
        // Nobody knows before which nodes a part repeats.
        let sizes: Vec<u64> = written.parts.iter().map(OutputPart::bytes).collect();
        let is_on_its_way = written.parts.iter().any(OutputPart::is_written_through);
        if is_on_its_way || !slices.refine(&sizes) {
            return end(merger, written, slices.found, options);
        }
    }
}

/// Returns how much of the inputs has to be known before anything is written.
fn survey_depth(options: &MergeOptions) -> Option<SurveyDepth> {
    if options.drop_idle {
        Some(SurveyDepth::Cpu)
    } else if options.filter.limits_threads() {
        Some(SurveyDepth::Names)
    } else if options.split.is_some() || options.slice.is_limited() {
        Some(SurveyDepth::Times)
    } else {
        None
    }
}

/// The parts with all events.
struct Written {
    processes: Vec<OutputProcess>,
    parts: Vec<OutputPart>,
    /// Count of the inputs.
    inputs: usize,
}

/// Writes all events to the parts of these slices.
fn write(
    merger: &mut Merger<'_>,
    others: &[OtherTrace],
    slices: OutputSlices,
) -> Result<Written, MergeError> {
    let mut parts = OutputParts::create(merger.output, slices)?;
    let all = std::mem::take(&mut merger.processes.list);
    let processes = merger.chosen.limit(all);
    for process in &processes {
        merger.add_process(process, &mut parts)?;
    }
    for other in others {
        merger.add_foreign(other, &mut parts)?;
    }
    let recordings = processes.iter().flat_map(|process| process.threads.values());
    let recordings: usize = recordings.map(Vec::len).sum();
    if others.is_empty() && merger.empty_inputs == recordings {
        return Err(MergeError::Unreadable { failed: std::mem::take(&mut merger.result.failed) });
    }
    Ok(Written { processes, parts: parts.list, inputs: recordings + others.len() })
}

/// Writes the ends of the parts, and keeps those with events.
fn end(
    mut merger: Merger<'_>,
    Written { processes, mut parts, inputs }: Written,
    found: Option<FoundSlice>,
    options: &MergeOptions,
) -> Result<MergeResult, MergeError> {
    parts.retain(|part| !part.pids.is_empty());
    if parts.is_empty() {
        return Err(match found {
            _ if options.filter.stacks.is_limited() => {
                let recorded = processes.iter().map(|process| process.url.as_str());
                let labels: Vec<_> =
                    recorded.chain(merger.labels.urls()).map(str::to_owned).collect();
                MergeError::NothingLeft { reason: options.filter.nothing_left(&labels) }
            }
            Some(found) => MergeError::NothingInSlice { reason: found.reason() },
            None => MergeError::Unreadable { failed: merger.result.failed },
        });
    }
    merger.write_ends(&processes, &mut parts, options.exit.as_ref())?;
    let mut result = merger.finish();
    let ranges = parts.iter().filter_map(|part| part.range(|_| true));
    let length_us = ranges.map(|(first, last)| last - first).max().unwrap_or_default();
    (result.files, result.bytes) = keep_parts(parts, merger.output)?;
    result.notes.extend(merger.size_note(result.bytes, length_us, options.split.is_some()));
    result.inputs = inputs;
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
