//! Reads files, and lists their problems.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::contents::{Contents, contents, unreadable};
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::{Failed, Input, lossy};
use cpu_prof_core::format::trace::check::problems::{Problem, Problems, Severity};

/// The problems of all files.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    version: u32,
    files: Vec<FileCheck>,
    /// Paths that could not be read.
    failed: Vec<Failed>,
}

/// The problems of a file.
#[derive(Debug, Serialize)]
struct FileCheck {
    #[serde(serialize_with = "lossy")]
    file: PathBuf,
    /// What the file is; none for neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// Whether tools can load the file.
    loads: bool,
    events: u64,
    profiles: usize,
    samples: u64,
    problems: Vec<Problem>,
}

/// Checks files, and the files in folders.
pub(crate) fn check(paths: &[PathBuf]) -> Check {
    let (inputs, failed) = find(paths);
    Check { version: 1, files: inputs.iter().map(check_file).collect(), failed }
}

fn check_file(input: &Input) -> FileCheck {
    let mut problems = Problems::default();
    let found = match input.open() {
        Ok(file) => contents(file, &mut problems),
        Err(error) => {
            problems.fatal(unreadable(&error));
            Contents::default()
        }
    };
    file_check(&input.path, found, problems)
}

/// Checks the text of a file.
#[cfg(feature = "fuzzing")]
pub(crate) fn check_text(text: &[u8]) {
    contents(text, &mut Problems::default());
}

fn file_check(path: &Path, found: Contents, problems: Problems) -> FileCheck {
    let Contents { kind, events, profiles, samples } = found;
    let problems = problems.into_list();
    let loads = problems.iter().all(|problem| problem.severity != Severity::Fatal);
    FileCheck { file: path.to_owned(), kind, loads, events, profiles, samples, problems }
}

#[cfg(test)]
mod tests;
