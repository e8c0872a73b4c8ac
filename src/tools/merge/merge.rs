//! A merge from its inputs to its files.

use std::path::{Path, PathBuf};

use super::choose_threads::choose_threads;
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
use super::output::slice::OutputSlice;
use super::recordings::add_process;
use super::result::{MergeError, MergeResult};
use crate::read::pprof::find;
use crate::read::slice::FoundSlice;
use crate::read::time_line::find_times;

/// Merges files and folders of files into `output`. A failed merge leaves nothing there.
pub fn merge(
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
    let SortedInputs { recordings, others, copies, failed } = SortedInputs::sniff(&files, failed);
    if recordings.is_empty() && others.is_empty() {
        return Err(MergeError::Unreadable { failed });
    }
    let mut pids = TakenPids::default();
    let recorded = RecordedProcesses::of(recordings, &files, &mut pids);
    let others = find_hosts(others, &files, &recorded.list, &mut pids);
    let mut notes = notes::of_copies(&copies, &files);
    notes.extend(notes::of_pprof(others.iter().map(|trace| trace.input), &files));
    notes.extend(notes::of_processes(&recorded, &files));
    let mut inputs = MergeInputs::new(&files, unnamed_paths, options, progress, recorded, others);
    let (slice, found) = slice_of(&inputs)?;
    if options.filter.limits_threads() {
        inputs.expect_reading();
        inputs.limit(choose_threads(&inputs)?);
    }
    inputs.expect_reading();
    let mut findings = MergeFindings::new(failed, notes);
    let mut out = MergeOutput::create(output, slice, pids, options)?;
    for process in inputs.recorded() {
        add_process(process, &inputs, &mut out, &mut findings)?;
    }
    for trace in inputs.others() {
        add_trace(trace, &inputs, &mut out, &mut findings)?;
    }
    if inputs.others().is_empty() && findings.unread_recordings() == inputs.recordings() {
        return Err(MergeError::Unreadable { failed: findings.into_failed() });
    }
    end(&inputs, out, findings, found, output)
}

/// Returns the slice of the time that goes into the trace, and how it was found if there is a limit.
fn slice_of(inputs: &MergeInputs<'_>) -> Result<(OutputSlice, Option<FoundSlice>), MergeError> {
    let limits = inputs.options().slice;
    if !limits.is_limited() {
        return Ok((OutputSlice::EVERYTHING, None));
    }
    let times = find_times(inputs.used_files());
    let (start_us, end_us) = times.line().unwrap_or_default();
    let found = limits.find(start_us, end_us);
    if found.is_reversed() {
        return Err(MergeError::NothingInSlice { reason: found.reason() });
    }
    let (from_us, to_us) = (found.from_us.unwrap_or(i64::MIN), found.to_us.unwrap_or(i64::MAX));
    Ok((OutputSlice { from_us, to_us, has_zero: times.has_zero() }, Some(found)))
}

/// Writes the end of the trace, and moves the trace to `path` if it has events.
fn end(
    inputs: &MergeInputs<'_>,
    mut output: MergeOutput,
    findings: MergeFindings,
    slice: Option<FoundSlice>,
    path: &Path,
) -> Result<MergeResult, MergeError> {
    let options = inputs.options();
    if output.trace.pids.is_empty() {
        return Err(match slice {
            _ if options.filter.limits_samples() => {
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
    output.write_end(inputs.recorded(), &minor, options.exit.as_ref())?;
    let MergeOutput { trace, labels, frames, .. } = output;
    let (files, bytes) = trace.keep(path)?;
    let mut result = findings.into_result(&labels, &frames);
    result.notes.extend(notes::of_size(bytes));
    Ok(MergeResult { files, bytes, inputs: inputs.recordings() + inputs.others().len(), ..result })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}
