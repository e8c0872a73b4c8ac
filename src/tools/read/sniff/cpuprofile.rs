//! Recognizes `.cpuprofile` files, and reads their times.

use serde_json::{Map, Value};

use super::{RecordingFile, SniffedFile, recording};
use crate::read::file::open;
use crate::read::read_error::ReadError;
use cpu_prof_core::files::input::{Input, first_bytes};
use cpu_prof_core::format::number::PlainNumber;
use cpu_prof_core::format::trace::ours::METADATA_KEY;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::cpuprofile::file_name::ids_from_file_name;
use cpu_prof_session::formats::cpuprofile::kind::JsonKind;
use cpu_prof_session::formats::cpuprofile::read::CpuProfileReader;
use cpu_prof_session::formats::cpuprofile::times::ProfileTimes;
use cpu_prof_session::formats::trace::scan::{Item, Scanner, SoundItem};
use cpu_prof_session::model::frame_table::FrameTable;

/// Members by which a file's start tells a `.cpuprofile`.
const CPUPROFILE_MEMBERS: [&str; 7] =
    [METADATA_KEY, "nodes", "startTime", "endTime", "samples", "timeDeltas", "title"];

/// Returns whether an input begins as a `.cpuprofile`.
pub(super) fn begins(input: &Input) -> bool {
    const START: usize = 4096;
    let start = input.open().and_then(|file| first_bytes(file, START));
    start.is_ok_and(|(start, _)| begins_as_cpuprofile(&start))
}

/// Returns whether an input is a `.cpuprofile`. Reads no further than to its nodes.
pub(super) fn is_cpuprofile(input: &Input) -> bool {
    let Some(mut items) = input.open().ok().map(Scanner::new).filter(|_| begins(input)) else {
        return false;
    };
    let mut kind = JsonKind::default();
    while let Ok(Some(Item::Member { key, value })) = items.next() {
        kind.member(key, value);
        if kind.is_profile() {
            return true;
        }
    }
    false
}

/// Returns whether a text begins as a `.cpuprofile`: an object with these members, in any order.
fn begins_as_cpuprofile(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let key = start
        .strip_prefix(b"{")
        .map(<[u8]>::trim_ascii_start)
        .and_then(|rest| rest.strip_prefix(b"\""))
        .and_then(|rest| rest.split(|byte| *byte == b'"').next());
    key.is_some_and(|key| CPUPROFILE_MEMBERS.iter().any(|member| member.as_bytes() == key))
}

/// Reads the header of a `.cpuprofile` of ours.
pub(super) fn header(index: usize, facts: &[u8]) -> Option<RecordingFile> {
    let facts = serde_json::from_slice(facts).ok()?;
    let file = recording(index, facts)?;
    let url = file.program.get("label").and_then(Value::as_str).map(str::to_owned);
    Some(RecordingFile { is_cpuprofile: true, url, ..file })
}

/// Reads the times of a `.cpuprofile`. Where the file does not tell its process and thread, its name
/// can.
pub(super) fn sniff(index: usize, input: &Input) -> Result<SniffedFile, ReadError> {
    let mut items = open(input)?;
    let (mut times, mut own) = (ProfileTimes::default(), None);
    let mut samples_us = 0;
    while let Some(item) = items.next()? {
        let SoundItem::Member { key, value } = item else { continue };
        times.member(key, value);
        if key == "timeDeltas" {
            let deltas: Vec<PlainNumber> = serde_json::from_slice(value).unwrap_or_default();
            samples_us = last_of(&deltas);
        }
        if key == METADATA_KEY {
            own = header(index, value);
        }
    }
    if items.is_torn() {
        return Err(ReadError::CutCpuProfile);
    }
    let start_us = times.start_us().unwrap_or_default();
    let last_us = start_us.saturating_add(samples_us);
    let is_told = |end_us: &i64| *end_us > last_us;
    let end_us = times.end_us().filter(is_told).or_else(|| end_of_samples(input));
    if let Some(header) = own {
        return Ok(SniffedFile::Recording(RecordingFile { start_us, end_us, ..header }));
    }
    let name = input.path.file_name().unwrap_or_default().to_string_lossy();
    let small = |id: i64| u32::try_from(id).ok();
    let (pid, tid) = match ids_from_file_name(&name) {
        Some((pid, tid)) => (small(pid), small(tid).unwrap_or(0)),
        None => (None, 0),
    };
    Ok(SniffedFile::Recording(RecordingFile {
        input: index,
        is_cpuprofile: true,
        pid,
        tid,
        start_us,
        end_us,
        ending: None,
        program: Map::new(),
        url: None,
    }))
}

/// Returns the time of the last sample after the start, by the time before each: microseconds.
fn last_of(deltas: &[PlainNumber]) -> i64 {
    let mut time_us = 0_i64;
    let times = deltas.iter().map(|delta| {
        time_us = time_us.saturating_add(delta.0);
        time_us
    });
    times.max().unwrap_or(0)
}

/// Returns the end of the last sample of a `.cpuprofile`, microseconds.
fn end_of_samples(input: &Input) -> Option<i64> {
    let mut items = open(input).ok()?;
    let (mut profile, mut frames) = (CpuProfileReader::new(ReadScope::NOTHING), FrameTable::new());
    while let Some(item) = items.next().ok()? {
        if let SoundItem::Member { key, value } = item {
            profile.member(key, value, &mut frames).ok()?;
        }
    }
    Some(profile.finish()?.recorded_us.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_member_tells_a_cpuprofile() {
        for text in ["{\"nodes\":[", " { \"startTime\" : 5", "\u{feff}{\"timeDeltas\":"] {
            assert!(begins_as_cpuprofile(text.as_bytes()), "{text}");
        }
        for text in ["", "[", "{", "{\"traceEvents\":[", "{\"metadata\":{", "[{\"nodes\":"] {
            assert!(!begins_as_cpuprofile(text.as_bytes()), "{text}");
        }
    }
}
