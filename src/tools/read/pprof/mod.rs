//! pprof files among the inputs.

mod as_trace;

use std::io::{Cursor, Read};

use cpu_prof_core::files::input::{Input, first_bytes};
use cpu_prof_core::format::pprof::contents::PprofContents;
use cpu_prof_core::format::pprof::read;
use cpu_prof_core::profile::session::thread_profile::ReadScope;

/// Returns whether an input is pprof, by its first bytes.
pub(crate) fn is_pprof(input: &Input) -> bool {
    let start = input.open().and_then(|file| first_bytes(file, read::START_BYTES));
    start.is_ok_and(|(start, _)| read::is_pprof(&start))
}

/// Returns whether an input has an ending that pprof shares with others, and is not pprof.
pub(super) fn is_other_protobuf(input: &Input) -> bool {
    let name = input.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".pb") && !is_pprof(input)
}

/// Reads a pprof file. The error is the end of a sentence that begins with the file.
pub(super) fn read(input: &Input, scope: ReadScope) -> Result<PprofContents, String> {
    read_from(input, input.open(), scope)
}

/// Reads a pprof file that is open, as a merged trace whose stacks stand one after the other.
pub(super) fn open_as_trace(input: &Input, file: Box<dyn Read>) -> Result<Box<dyn Read>, String> {
    let contents = read_from(input, Ok(file), ReadScope::SAMPLES)?;
    Ok(Box::new(Cursor::new(as_trace::as_trace(contents))))
}

fn read_from(
    input: &Input,
    file: std::io::Result<Box<dyn Read>>,
    scope: ReadScope,
) -> Result<PprofContents, String> {
    let file = file.map_err(|error| format!("the file cannot be read: {error}"))?;
    let name = input.path.file_name().unwrap_or_default().to_string_lossy();
    read::read(file, &name, scope)
}

/// Returns what a user should know about the times of a pprof file, after its path.
pub(crate) fn note(scope: ReadScope) -> &'static str {
    match scope.samples && !scope.steps {
        true => "pprof has no time line: its stacks stand one after the other",
        false => "pprof has no time line: only sums are known",
    }
}
