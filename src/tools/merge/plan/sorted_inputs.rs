//! The inputs of a merge by their kinds.

use super::notes;
use crate::read::sniff::{FirstEvent, RecordingFile, SniffedFile, is_copy, sniff};
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
        let mut merged = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            match sniff(index, input) {
                Ok(SniffedFile::Recording(recording)) => sorted.recordings.push(recording),
                Ok(SniffedFile::Other { is_merged, first }) => {
                    sorted.others.push((index, first.filter(|_| !is_merged)));
                    merged.extend(is_merged.then_some(index));
                }
                Err(reason) => sorted.failed.push(Failed { path: input.path.clone(), reason }),
            }
        }
        // Without recordings the merged trace is what was asked for.
        let recordings = || sorted.recordings.iter().map(|recording| &inputs[recording.input]);
        merged.retain(|index| is_copy(&inputs[*index], recordings(), |_| true));
        if !merged.is_empty() {
            let names = notes::list(merged.iter().map(|index| &inputs[*index].path));
            let note = format!("left out merged traces (name the file to merge it again): {names}");
            sorted.notes.push(note);
            sorted.others.retain(|(index, _)| !merged.contains(index));
        }
        sorted
    }
}
