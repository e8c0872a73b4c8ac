//! What a user should know of the source maps.

use std::collections::BTreeSet;

use super::generated_file::MapProblem;
use cpu_prof_core::base::name_list::first_of;

/// Files that are named in a note.
const NAMED: usize = 3;
/// Characters of a name or a reason. A recording can name files at any length.
const MAX_TEXT: usize = 300;

/// Files about which there is something to say.
#[derive(Debug, Default)]
pub(super) struct SourceNotes {
    problems: Vec<MapProblem>,
    changed: BTreeSet<String>,
    transpiled: BTreeSet<String>,
}

impl SourceNotes {
    /// Notes a map that cannot be used.
    pub(super) fn problem(&mut self, problem: MapProblem) {
        self.problems.push(problem);
    }

    /// Notes a file that is not the code that ran, although it has a map.
    pub(super) fn changed(&mut self, path: &str) {
        self.changed.insert(path.to_owned());
    }

    /// Notes a file that a transpiler has changed in memory.
    pub(super) fn transpiled(&mut self, path: &str) {
        self.transpiled.insert(path.to_owned());
    }

    /// Returns the notes, a sentence each.
    pub(super) fn texts(&self) -> Vec<String> {
        let list = |files: &BTreeSet<String>| {
            first_of(&files.iter().map(|file| short(file)).collect::<Vec<_>>(), NAMED)
        };
        let mut notes = Vec::new();
        if !self.problems.is_empty() {
            let text = |problem: &MapProblem| {
                format!("{} ({})", short(&problem.file), short(&problem.reason))
            };
            let problems: Vec<String> = self.problems.iter().map(text).collect();
            notes.push(format!(
                "code without its source map keeps the places of the code that ran: {}",
                first_of(&problems, NAMED)
            ));
        }
        if !self.changed.is_empty() {
            notes.push(format!(
                "files that changed after they were recorded keep the places of the code that ran: {}; \
                 report before the next build",
                list(&self.changed)
            ));
        }
        if !self.transpiled.is_empty() {
            notes.push(format!(
                "lines of transpiled code, for which no source map was found, are not those of the \
                 files: {}",
                list(&self.transpiled)
            ));
        }
        notes
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
