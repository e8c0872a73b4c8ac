//! What a user should know of native functions that have no names.

use std::collections::BTreeSet;

use cpu_prof_core::base::name_list::first_of;

/// Files that are named in a note.
const NAMED: usize = 3;
/// Characters of a name. A recording can name files at any length.
const MAX_TEXT: usize = 300;

/// Modules whose functions are shown by their addresses.
#[derive(Debug, Default)]
pub(super) struct SymbolNotes {
    /// Files that are another build than the recorded one.
    pub other: BTreeSet<String>,
    /// Files without symbols.
    pub stripped: BTreeSet<String>,
    /// Files that are not here.
    pub absent: BTreeSet<String>,
    /// Files outside of the folder that may be read.
    pub outside: BTreeSet<String>,
}

impl SymbolNotes {
    /// Returns the notes, a sentence each.
    pub(super) fn texts(&self) -> Vec<String> {
        let notes = [
            (
                &self.other,
                "of another build than the recorded one",
                "; give a folder with the right files: --symbols <folder>",
            ),
            (
                &self.stripped,
                "without symbols",
                "; build without stripping (in Cargo.toml: strip = false), install the debug package of \
                 a library of the system, or give a folder with the files before they were stripped or \
                 with their debug files: --symbols <folder>",
            ),
            (
                &self.absent,
                "that are not on this machine",
                "; give a folder with the same files: --symbols <folder>",
            ),
            (&self.outside, "outside of the folder that is read", ""),
        ];
        let some = notes.into_iter().filter(|(files, ..)| !files.is_empty());
        some.map(|(files, kind, advice)| {
            let files: Vec<String> = files.iter().map(|file| short(file)).collect();
            let files = first_of(&files, NAMED);
            format!("native functions have no names in files {kind}: {files}{advice}")
        })
        .collect()
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
