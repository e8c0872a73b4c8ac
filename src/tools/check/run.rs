//! Reads files, and lists their problems.

use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::cpuprofile;
use super::events::EventChecks;
use super::problems::{Problem, Problems, Severity};
use crate::files::find::find;
use crate::files::input::{Failed, Input, lossy};

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
    let mut bytes = Vec::new();
    let mut problems = Problems::default();
    let read = input.open().and_then(|mut file| file.read_to_end(&mut bytes));
    let found = match read {
        Ok(_) => contents(&bytes, &mut problems),
        Err(error) => {
            problems.fatal(0, format!("the file cannot be read: {error}"));
            Contents::default()
        }
    };
    file_check(&input.path, found, problems)
}

fn file_check(path: &Path, found: Contents, problems: Problems) -> FileCheck {
    let Contents { kind, events, profiles, samples } = found;
    let problems = problems.into_list();
    let loads = problems.iter().all(|problem| problem.severity != Severity::Fatal);
    FileCheck { file: path.to_owned(), kind, loads, events, profiles, samples, problems }
}

/// What a file contains.
#[derive(Debug, Default)]
struct Contents {
    kind: Option<&'static str>,
    events: u64,
    profiles: usize,
    samples: u64,
}

/// The members of a trace that are looked at.
#[derive(serde::Deserialize)]
struct TraceFile<'a> {
    #[serde(rename = "traceEvents", borrow)]
    events: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    nodes: Option<&'a RawValue>,
    #[serde(borrow)]
    head: Option<&'a RawValue>,
}

fn contents(bytes: &[u8], to: &mut Problems) -> Contents {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = 1 + memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            to.fatal(line, "the file is not UTF-8");
            return Contents::default();
        }
    };
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(events) => trace(text, &events, to),
            Err(error) => broken(&error, to),
        };
    }
    match serde_json::from_str::<TraceFile<'_>>(text) {
        Ok(TraceFile { events: Some(events), .. }) => trace(text, &events, to),
        Ok(file) if file.nodes.is_some() || file.head.is_some() => {
            match serde_json::from_str::<Value>(text) {
                Ok(profile) => {
                    let samples = cpuprofile::check(&profile, to);
                    Contents { kind: Some("cpuprofile"), profiles: 1, samples, events: 0 }
                }
                Err(error) => broken(&error, to),
            }
        }
        Ok(_) => {
            let message = "the file is neither a trace (traceEvents) nor a profile (nodes)";
            to.fatal(1, message);
            Contents::default()
        }
        Err(error) => broken(&error, to),
    }
}

fn broken(error: &serde_json::Error, to: &mut Problems) -> Contents {
    let message = if error.is_eof() {
        "the file is cut off; cpu-prof merge writes a whole trace of what is there".to_owned()
    } else {
        format!("the file is not JSON: {error}")
    };
    to.fatal(error.line(), message);
    Contents::default()
}

fn trace(text: &str, events: &[&RawValue], to: &mut Problems) -> Contents {
    let mut checked = EventChecks::default();
    let (mut line, mut counted_to) = (1, 0);
    for event in events {
        // A raw value is a part of the text.
        let start = event.get().as_ptr() as usize - text.as_ptr() as usize;
        line += memchr_iter(b'\n', &text.as_bytes()[counted_to..start]).count();
        counted_to = start;
        match serde_json::from_str::<Value>(event.get()) {
            Ok(event) => checked.event(&event, line, to),
            // For example, more levels than a parser follows.
            Err(error) => to.error("event", line, "", format!("the event cannot be read: {error}")),
        }
    }
    let (events, profiles, samples) = checked.finish(to);
    Contents { kind: Some("trace"), events, profiles, samples }
}

#[cfg(test)]
mod tests;
