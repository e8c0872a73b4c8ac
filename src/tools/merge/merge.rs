//! A merge from its inputs to its files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::findings::findings::MergeFindings;
use super::findings::notes;
use super::foreign::trace::add_trace;
use super::inputs::merge_inputs::MergeInputs;
use super::inputs::other_trace::find_hosts;
use super::inputs::recorded_processes::RecordedProcesses;
use super::inputs::sorted_inputs::SortedInputs;
use super::inputs::taken_pids::TakenPids;
use super::options::{MergeOptions, MergeProgress};
use super::output::merge_output::MergeOutput;
use super::output::parts::OutputPart;
use super::plan::choose_slices::ChosenSlices;
use super::plan::choose_threads::choose_threads;
use super::plan::survey::{Survey, SurveyDepth};
use super::recordings::add_process;
use super::result::{MergeError, MergeResult};
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
    let unnamed_paths = paths.len();
    let paths: Vec<PathBuf> = paths.iter().cloned().chain(named).collect();
    let (mut files, failed) = find(&paths);
    // A folder may hold the result of an earlier merge.
    files.retain(|file| file.is_named || !is_same_file(&file.path, output));
    if files.is_empty() && failed.is_empty() {
        return Err(MergeError::NoInput { paths });
    }
    match options.aligns_starts {
        true => align_starts(&mut files),
        false => align_clocks(&mut files),
    }
    let SortedInputs { recordings, others, copies, failed } = SortedInputs::sniff(&files, failed);
    if recordings.is_empty() && others.is_empty() {
        return Err(MergeError::Unreadable { failed });
    }
    let mut pids = TakenPids::default();
    let recorded = RecordedProcesses::of(recordings, &files, &mut pids);
    let others = find_hosts(others, &files, &recorded.list, &mut pids);
    let mut notes: Vec<String> = notes::of_copies(&copies, &files).into_iter().collect();
    notes.extend(notes::of_processes(&recorded, &files));
    let mut inputs = MergeInputs::new(&files, unnamed_paths, options, progress, recorded, others);
    let mut slices = ChosenSlices::default();
    if let Some(depth) = survey_depth(options) {
        inputs.expect_reading();
        let survey = Survey::of(&inputs, depth);
        let (chosen, note) = choose_threads(&survey, options)?;
        inputs.limit(chosen);
        notes.extend(note);
        slices = ChosenSlices::of(survey.times, options)?;
    }
    loop {
        inputs.expect_reading();
        let mut findings = MergeFindings::new(failed.clone(), notes.clone());
        let mut out = MergeOutput::create(output, slices.slices.clone(), pids.clone(), options)?;
        for process in inputs.recorded() {
            add_process(process, &inputs, &mut out, &mut findings)?;
        }
        for trace in inputs.others() {
            add_trace(trace, &inputs, &mut out, &mut findings)?;
        }
        if inputs.others().is_empty() && findings.unread_recordings() == inputs.recordings() {
            return Err(MergeError::Unreadable { failed: findings.into_failed() });
        }
        // Nobody knows before which nodes a part repeats.
        if out.parts.are_written_through() || !slices.refine(&out.parts.sizes()) {
            return end(&inputs, out, findings, slices.found, output);
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

/// Writes the ends of the parts, and keeps those with events at `path`.
fn end(
    inputs: &MergeInputs<'_>,
    mut output: MergeOutput,
    findings: MergeFindings,
    slice: Option<FoundSlice>,
    path: &Path,
) -> Result<MergeResult, MergeError> {
    output.parts.list.retain(|part| !part.pids.is_empty());
    let options = inputs.options();
    if output.parts.list.is_empty() {
        return Err(match slice {
            _ if options.filter.stacks.is_limited() => {
                let recorded = inputs.recorded().iter().map(|process| process.label.as_str());
                let labels: Vec<_> =
                    recorded.chain(output.labels.urls()).map(str::to_owned).collect();
                MergeError::NothingLeft { reason: options.filter.nothing_left(&labels) }
            }
            Some(slice) => MergeError::NothingInSlice { reason: slice.reason() },
            None => MergeError::Unreadable { failed: findings.into_failed() },
        });
    }
    let minor = findings.cpus.minor_processes();
    output.write_ends(inputs.recorded(), &minor, options.exit.as_ref())?;
    let MergeOutput { parts, labels, frames, .. } = output;
    let (files, bytes) = keep_parts(parts.list, path)?;
    let mut result = findings.into_result(&labels, &frames);
    result.notes.extend(notes::of_size(bytes, options.split.is_some()));
    Ok(MergeResult { files, bytes, inputs: inputs.recordings() + inputs.others().len(), ..result })
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
