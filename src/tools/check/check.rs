//! Reads files, and lists their problems.

use std::path::PathBuf;

use serde::Serialize;

use super::contents::{contents, unreadable};
use super::events::Contents;
use crate::read::pprof::{find, is_pprof};
use cpu_prof_core::files::input::{Failed, Input, lossy};
use cpu_prof_core::format::trace::check::problems::{Problem, Problems, Severity};

/// The problems of all files.
#[derive(Debug, Serialize)]
pub struct Check {
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
    #[serde(flatten)]
    contents: Contents,
    problems: Vec<Problem>,
}

const PPROF: &str = "the file is pprof, and only traces and .cpuprofile files are checked; cpu-prof report and \
                     go tool pprof read it";

/// Checks files, and the files in folders.
pub fn check(paths: &[PathBuf]) -> Check {
    let (inputs, failed) = find(paths);
    Check { version: 1, files: inputs.iter().map(check_file).collect(), failed }
}

fn check_file(input: &Input) -> FileCheck {
    let mut problems = Problems::default();
    let mut contents = match input.open() {
        Ok(_) if is_pprof(input) => {
            problems.fatal(PPROF);
            Contents::default()
        }
        Ok(file) => contents(file, &mut problems),
        Err(error) => {
            problems.fatal(unreadable(&error));
            Contents::default()
        }
    };
    let problems = problems.into_list();
    contents.loads = problems.iter().all(|problem| problem.severity != Severity::Fatal);
    FileCheck { file: input.path.clone(), contents, problems }
}

/// Checks the text of a file.
#[cfg(feature = "fuzzing")]
pub(crate) fn check_text(text: &[u8]) {
    contents(text, &mut Problems::default());
}

#[cfg(test)]
mod tests;
