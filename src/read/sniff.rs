//! What each input is, by its beginning.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::input::{Input, first_bytes};
use crate::format::cpuprofile::read::ids_from_file_name;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::{Item, Scanner};

/// The format of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// Trace events, or something unknown.
    Trace,
    /// One thread's profile, as `node --cpu-prof` writes it.
    CpuProfile,
}

/// What an input holds.
#[derive(Debug)]
pub(crate) enum SniffedFile {
    /// One thread's recording, by us or by Node's own flag.
    RecordingFile(RecordingFile),
    /// Any other trace.
    Other {
        /// Whether it is a merged one of ours.
        is_merged: bool,
    },
}

/// One thread's recording.
#[derive(Debug, Clone)]
pub(crate) struct RecordingFile {
    /// The input it is in.
    pub input: usize,
    /// Whether it is a `.cpuprofile`.
    pub is_cpuprofile: bool,
    /// The process's id; none if it is not known.
    pub pid: Option<u32>,
    /// Node's thread id.
    pub tid: u32,
    /// CLOCK_MONOTONIC of its machine, microseconds.
    pub start_us: i64,
    /// Its end, where that is known so early.
    pub end_us: Option<i64>,
    /// What its header says of the process.
    pub program: Map<String, Value>,
    /// How DevTools shall call the process.
    pub url: Option<String>,
}

/// Reads as much of an input as it takes to know what it is. The error ends a sentence that begins
/// with the file.
pub(crate) fn survey(number: usize, input: &Input) -> Result<SniffedFile, String> {
    let (kind, mut scanner) = open(input).map_err(|error| format!("it cannot be read: {error}"))?;
    match kind {
        FileKind::CpuProfile => cpuprofile(number, &input.path, &mut scanner),
        FileKind::Trace => trace(number, &mut scanner),
    }
}

/// Returns the pid in the header of a recording's trace.
pub(crate) fn recorder_pid(input: &Input) -> Option<u32> {
    let (FileKind::Trace, mut scanner) = open(input).ok()? else { return None };
    match scanner.next().ok()?? {
        Item::Member { key: "metadata", value } => header(0, value)?.pid,
        _ => None,
    }
}

fn open(input: &Input) -> io::Result<(FileKind, Scanner<impl Read>)> {
    const START: usize = 4096;
    let (start, rest) = first_bytes(input.open()?, START)?;
    let kind = FileKind::of(&start);
    Ok((kind, Scanner::new(io::Cursor::new(start).chain(rest))))
}

impl FileKind {
    /// Returns the kind of a text by its start. A `.cpuprofile` is an object with these members, in
    /// any order.
    fn of(start: &[u8]) -> Self {
        const MEMBERS: [&[u8]; 6] =
            [b"nodes", b"startTime", b"endTime", b"samples", b"timeDeltas", b"title"];
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let key = start
            .strip_prefix(b"{")
            .map(<[u8]>::trim_ascii_start)
            .and_then(|rest| rest.strip_prefix(b"\""))
            .and_then(|rest| rest.split(|byte| *byte == b'"').next());
        match key {
            Some(key) if MEMBERS.contains(&key) => Self::CpuProfile,
            _ => Self::Trace,
        }
    }
}

fn trace<R: std::io::Read>(number: usize, scanner: &mut Scanner<R>) -> Result<SniffedFile, String> {
    /// What comes before a recording's profile are its names.
    const BEFORE_PROFILE: usize = 16;
    let mut recording = None;
    let mut is_merged = false;
    let mut has_phase = false;
    let mut seen = 0;
    let mut is_end = true;
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Member { key: "metadata", value } => recording = header(number, value),
            Item::Member { key: "source", value } => is_merged = value == b"\"cpu-prof\"",
            Item::Member { .. } => {}
            Item::Event(event) => {
                seen += 1;
                let head = EventHead::of(event).unwrap_or_default();
                has_phase |= head.phase != 0;
                if let Some(recording) = &mut recording {
                    match head.name(event) {
                        b"TracingStartedInBrowser" => recording.url = url(event),
                        b"Profile" => {
                            recording.start_us = head.ts(event).unwrap_or_default();
                            return Ok(SniffedFile::RecordingFile(recording.clone()));
                        }
                        _ => {}
                    }
                }
                if seen == BEFORE_PROFILE || (has_phase && recording.is_none()) {
                    is_end = false;
                    break;
                }
            }
        }
    }
    if recording.is_some() && is_end {
        Err("it ends before its first sample: the program was killed as it started".into())
    } else if has_phase {
        Ok(SniffedFile::Other { is_merged })
    } else if seen > 0 {
        Err("what it lists are no trace events (they have no \"ph\")".into())
    } else {
        Err("it has no list of trace events".into())
    }
}

fn header(number: usize, metadata: &[u8]) -> Option<RecordingFile> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    let mut program = metadata.get("cpu-prof")?.as_object()?.clone();
    let small = |key: &str| u32::try_from(program.get(key)?.as_u64()?).ok();
    let (pid, tid) = (small("pid")?, small("threadId")?);
    if let Some(start) = metadata.get("startTime") {
        program.insert("startTime".into(), start.clone());
    }
    Some(RecordingFile {
        input: number,
        is_cpuprofile: false,
        pid: Some(pid),
        tid,
        start_us: 0,
        end_us: None,
        program,
        url: None,
    })
}

fn url(event: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(event).ok()?;
    Some(event.pointer("/args/data/frames/0/url")?.as_str()?.to_owned())
}

/// A `.cpuprofile` says nothing of its process, but its name may.
fn cpuprofile<R: std::io::Read>(
    number: usize,
    path: &Path,
    scanner: &mut Scanner<R>,
) -> Result<SniffedFile, String> {
    let (mut start_us, mut end_us, mut has_nodes) = (None, None, false);
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Member { key: "startTime", value } => start_us = micros(value),
            Item::Member { key: "endTime", value } => end_us = micros(value),
            Item::Member { key: "nodes", value } => has_nodes = value.starts_with(b"["),
            _ => {}
        }
    }
    if scanner.is_torn() {
        return Err("it is a .cpuprofile that is cut off, which nothing can be made of; \
                    record traces, which survive a kill"
            .into());
    }
    let Some(start_us) = start_us.filter(|_| has_nodes) else {
        return Err("it looks like a .cpuprofile, but has no nodes or no startTime".into());
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let small = |id: i64| u32::try_from(id).ok();
    let (pid, tid) = match ids_from_file_name(&name).0 {
        Some((pid, tid)) => (small(pid), small(tid).unwrap_or(0)),
        None => (None, 0),
    };
    Ok(SniffedFile::RecordingFile(RecordingFile {
        input: number,
        is_cpuprofile: true,
        pid,
        tid,
        start_us,
        end_us,
        program: Map::new(),
        url: None,
    }))
}

fn micros(value: &[u8]) -> Option<i64> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Some(number as i64)
}

/// The latest time in an input that is not compressed, looked for at its end; microseconds.
pub(crate) fn end_us(input: &Input) -> Option<i64> {
    let end = last_bytes(input).ok()?;
    last_lines(&end).filter_map(|line| EventHead::of_own(line)?.ts(line)).max()
}

/// Returns whether a recording's trace was completed: its last event says so.
pub(crate) fn is_complete(input: &Input) -> io::Result<bool> {
    let end = last_bytes(input)?;
    let mut heads = last_lines(&end).filter_map(|line| Some((EventHead::of_own(line)?, line)));
    Ok(heads.any(|(head, line)| head.name(line) == b"trace.end"))
}

fn last_bytes(input: &Input) -> io::Result<Vec<u8>> {
    const END: u64 = 64 << 10;
    let mut file = File::open(&input.path)?;
    file.seek(SeekFrom::Start(input.bytes.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the lines of a file's last bytes, without the first line, which may be cut off.
fn last_lines(end: &[u8]) -> impl Iterator<Item = &[u8]> {
    end.split(|byte| *byte == b'\n').skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_member_tells_a_cpuprofile() {
        for text in ["{\"nodes\":[", " { \"startTime\" : 5", "\u{feff}{\"timeDeltas\":"] {
            assert_eq!(FileKind::of(text.as_bytes()), FileKind::CpuProfile, "{text}");
        }
        for text in ["", "[", "{", "{\"traceEvents\":[", "{\"metadata\":{", "[{\"nodes\":"] {
            assert_eq!(FileKind::of(text.as_bytes()), FileKind::Trace, "{text}");
        }
    }
}
