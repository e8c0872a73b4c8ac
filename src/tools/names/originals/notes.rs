//! What a user should know of the source maps.

use std::collections::BTreeSet;

use cpu_prof_core::base::name_list::first_of;

/// Files that are named in a note.
const NAMED: usize = 3;
/// Characters of a name or a reason. A recording can name files at any length.
const MAX_TEXT: usize = 300;

/// Files about which there is something to say.
#[derive(Debug, Default)]
pub(super) struct SourceNotes {
    /// Files whose maps cannot be used, with the reasons.
    problems: Vec<String>,
    /// Files that are not the code that ran, although they have a map.
    pub changed: BTreeSet<String>,
    /// Files that a transpiler has changed in memory.
    pub transpiled: BTreeSet<String>,
}

impl SourceNotes {
    /// Notes why the map of a file cannot be used.
    pub(super) fn problem(&mut self, file: &str, reason: &str) {
        self.problems.push(format!("{} ({})", short(file), short(reason)));
    }

    /// Returns the notes, a sentence each.
    pub(super) fn texts(&self) -> Vec<String> {
        let list = |files: &BTreeSet<String>| files.iter().map(|file| short(file)).collect();
        let notes: [(&str, Vec<String>, &str); 3] = [
            (
                "code without its source map keeps the places of the code that ran: ",
                self.problems.clone(),
                "",
            ),
            (
                "files that changed after they were recorded keep the places of the code that ran: ",
                list(&self.changed),
                "; report before the next build",
            ),
            (
                "lines of transpiled code, for which no source map was found, are not those of the \
                 files: ",
                list(&self.transpiled),
                "",
            ),
        ];
        let some = notes.into_iter().filter(|(_, files, _)| !files.is_empty());
        some.map(|(about, files, advice)| format!("{about}{}{advice}", first_of(&files, NAMED)))
            .collect()
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
