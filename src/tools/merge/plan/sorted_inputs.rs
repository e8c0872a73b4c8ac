//! The inputs of a merge by their kinds.

use super::notes;
use crate::read::sniff::{FirstEvent, RecordingFile, SniffedFile, sniff};
use cpu_prof_core::files::input::{Failed, Input};

/// The inputs by their kinds.
#[derive(Default)]
pub(crate) struct SortedInputs {
    pub recordings: Vec<RecordingFile>,
    /// Indices of inputs that are other traces, each with its first event.
    pub others: Vec<(usize, Option<FirstEvent>)>,
    pub failed: Vec<Failed>,
    pub notes: Vec<String>,
}

impl SortedInputs {
    /// Tells what each input is.
    pub(crate) fn sniff(inputs: &[Input], failed: Vec<Failed>) -> Self {
        let mut sorted = Self { failed, ..Self::default() };
        let mut earlier_results = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            match sniff(index, input) {
                Ok(SniffedFile::Recording(recording)) => sorted.recordings.push(recording),
                Ok(SniffedFile::Other { is_merged, first }) => {
                    sorted.others.push((index, first.filter(|_| !is_merged)));
                    if is_merged && !input.is_named {
                        earlier_results.push(index);
                    }
                }
                Err(reason) => sorted.failed.push(Failed { path: input.path.clone(), reason }),
            }
        }
        // A folder may hold the trace that its recordings were merged into. Without recordings the
        // merged trace is what was asked for.
        earlier_results.retain(|result| {
            let mut recordings = sorted.recordings.iter();
            recordings.any(|recording| inputs[recording.input].is_near(&inputs[*result]))
        });
        if !earlier_results.is_empty() {
            let names = notes::list(earlier_results.iter().map(|index| &inputs[*index].path));
            let note = format!("left out merged traces (name the file to merge it again): {names}");
            sorted.notes.push(note);
            sorted.others.retain(|(index, _)| !earlier_results.contains(index));
        }
        sorted
    }
}
