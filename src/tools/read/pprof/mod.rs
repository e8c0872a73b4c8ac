//! pprof files among the inputs.

mod as_trace;
pub mod beside;

use std::io::{Cursor, Read};
use std::path::PathBuf;

use self::beside::RecordedTime;

use crate::read::read_error::ReadError;
use cpu_prof_core::files::find::find_also;
use cpu_prof_core::files::input::{Failed, Input};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::pprof::contents::PprofContents;
use cpu_prof_session::formats::pprof::{read, recognize};

/// The most bytes of a file in a folder that are looked at, uncompressed, if its name is not that of a profile.
const LOOKED_AT: u64 = 1 << 20;

/// Returns the files to read: also pprof in folders, whatever its name.
pub fn find(paths: &[PathBuf]) -> (Vec<Input>, Vec<Failed>) {
    let is_pprof = |file: Box<dyn Read>| recognize::is_pprof(file.take(LOOKED_AT));
    find_also(paths, |input| input.open().is_ok_and(is_pprof))
}

/// Returns whether an input is pprof, by its contents.
pub fn is_pprof(input: &Input) -> bool {
    input.open().is_ok_and(recognize::is_pprof)
}

/// Returns whether an input is pprof that was converted by this project.
pub(crate) fn is_converted(input: &Input) -> bool {
    is_pprof(input) && input.open().is_ok_and(read::is_ours)
}

/// Reads a pprof file.
pub(super) fn read(input: &Input, scope: ReadScope) -> Result<PprofContents, ReadError> {
    read_from(input, input.open(), scope)
}

/// Reads a pprof file that is open, as a merged trace whose stacks stand one after the other, beside recordings
/// of this time.
pub(super) fn open_as_trace(
    input: &Input,
    file: Box<dyn Read>,
    recorded: Option<&RecordedTime>,
) -> Result<Box<dyn Read>, ReadError> {
    let mut contents = read_from(input, Ok(file), ReadScope::SAMPLES)?;
    if let Some(recorded) = recorded {
        contents.processes.iter_mut().for_each(|process| recorded.place(process));
    }
    Ok(Box::new(Cursor::new(as_trace::as_trace(contents))))
}

fn read_from(
    input: &Input,
    file: std::io::Result<Box<dyn Read>>,
    scope: ReadScope,
) -> Result<PprofContents, ReadError> {
    let file = file.map_err(ReadError::Open)?;
    let name = input.path.file_name().unwrap_or_default().to_string_lossy();
    read::read(file, &name, scope).map_err(ReadError::Contents)
}

/// Returns what a user should know about the times of a pprof file, after its path.
pub fn notes(input: &Input, scope: ReadScope) -> Vec<String> {
    read(input, scope).map_or_else(|_| Vec::new(), |contents| notes_of(&contents, scope))
}

/// Returns what a user should know about the times of what was read.
pub(super) fn notes_of(contents: &PprofContents, scope: ReadScope) -> Vec<String> {
    let line = match scope.samples && !scope.steps {
        true => "pprof has no time line: its stacks stand one after the other",
        false => "pprof has no time line: only sums are known",
    };
    [line.to_owned()].into_iter().chain(contents.notes.iter().cloned()).collect()
}
