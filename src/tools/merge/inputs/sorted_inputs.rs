//! The inputs of a merge by their kinds.

use crate::read::pprof::{is_converted, is_pprof};
use crate::read::sniff::{FirstEvent, RecordingFile, SniffedFile, is_copy, sniff};
use cpu_prof_core::files::input::{Failed, Input};

/// The inputs by their kinds.
#[derive(Default)]
pub struct SortedInputs {
    /// Recordings of one thread each.
    pub recordings: Vec<RecordingFile>,
    /// Indices of inputs that are other traces, each with its first event.
    pub others: Vec<(usize, Option<FirstEvent>)>,
    /// Indices of inputs that are left out: merged traces and pprof files of recordings beside them.
    pub copies: Vec<usize>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
}

impl SortedInputs {
    /// Tells what each input is.
    pub(crate) fn sniff(files: &[Input], failed: Vec<Failed>) -> Self {
        let mut sorted = Self { failed, ..Self::default() };
        let mut merged = Vec::new();
        for (index, input) in files.iter().enumerate() {
            match sniff(index, input) {
                Ok(SniffedFile::Recording(recording)) => sorted.recordings.push(recording),
                Ok(SniffedFile::Other { is_merged, first }) => {
                    sorted.others.push((index, first.filter(|_| !is_merged)));
                    merged.extend(is_merged.then_some(index));
                }
                Err(error) => {
                    let reason = error.to_string();
                    sorted.failed.push(Failed { path: input.path.clone(), reason });
                }
            }
        }
        // Without recordings the merged trace is what was asked for.
        let recordings = || sorted.recordings.iter().map(|recording| &files[recording.input]);
        let (pprof, mut merged): (Vec<_>, Vec<_>) =
            merged.into_iter().partition(|index| is_converted(&files[*index]));
        // Only what was converted can be a copy of recordings.
        merged.retain(|index| !is_pprof(&files[*index]));
        merged.retain(|index| is_copy(&files[*index], recordings(), |_| true));
        let others = sorted.others.iter().map(|(index, _)| *index);
        let others = others.filter(|index| !merged.contains(index) && !is_pprof(&files[*index]));
        let traces: Vec<_> = recordings().chain(others.map(|index| &files[index])).collect();
        let of_traces = |index: &&usize| is_copy(&files[**index], traces.iter().copied(), |_| true);
        merged.extend(pprof.iter().filter(of_traces));
        sorted.others.retain(|(index, _)| !merged.contains(index));
        sorted.copies = merged;
        sorted
    }
}
