//! Tells what a file is: reads the start, and for some facts the end.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::input::{Input, first_bytes};
use crate::format::cpuprofile::file_name::ids_from_file_name;
use crate::format::trace::head::EventHead;
use crate::format::trace::own::{METADATA_KEY, is_merged_mark};
use crate::format::trace::read::process_names::without_pid;
use crate::format::trace::scan::{Item, Scanner};
use crate::profile::session::Identity;
use crate::read::group::{ProcessFacts, RecordingSpan};

/// The kind of a file.
#[derive(Debug)]
pub(crate) enum SniffedFile {
    /// The recording of one thread: ours, or a `.cpuprofile`.
    Recording(RecordingFile),
    /// Any other trace.
    Other {
        /// Whether this project merged the trace.
        is_merged: bool,
    },
}

/// A file with the recording of one thread.
#[derive(Debug, Clone)]
pub(crate) struct RecordingFile {
    /// Index of the input.
    pub input: usize,
    /// Whether the file is a `.cpuprofile`.
    pub is_cpuprofile: bool,
    /// Process id, if the file or its name gives one.
    pub pid: Option<u32>,
    /// Node's thread id.
    pub tid: u32,
    /// Start: CLOCK_MONOTONIC of the recording machine, microseconds.
    pub start_us: i64,
    /// End, microseconds; none if only a full reading would tell.
    pub end_us: Option<i64>,
    /// Facts about the process from the header; empty for a `.cpuprofile`.
    pub program: Map<String, Value>,
    /// Label of the process for DevTools.
    pub url: Option<String>,
}

/// The format of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// Trace events, as far as the start tells.
    Trace,
    /// A profile of one thread, as Node's `--cpu-prof` writes it.
    CpuProfile,
}

impl RecordingFile {
    /// Returns the facts that tell the process of the recording.
    pub(crate) fn facts(&self) -> ProcessFacts {
        let text = |key: &str| {
            let text = self.program.get(key)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let parent_pid = self.program.get("ppid").and_then(Value::as_i64);
        ProcessFacts {
            pid: self.pid.map(i64::from),
            identity: self.identity(),
            node: text("node"),
            parent_pid: parent_pid.filter(|pid| *pid > 0),
            cwd: text("cwd"),
            label: self.url.as_deref().and_then(without_pid).map(str::to_owned),
            recordings: vec![RecordingSpan {
                tid: self.tid.into(),
                start_us: self.start_us,
                end_us: self.end_us,
            }],
        }
    }

    /// Returns the start of the process and of the system, if the header gives both.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let process_start_ms = self.program.get("processStartMs")?.as_u64()?;
        let boot = self.program.get("boot")?.as_str()?.to_owned();
        Some(Identity { process_start_ms, boot })
    }
}

/// Tells what an input is. The error is the end of a sentence that begins with the file.
pub(crate) fn sniff(index: usize, input: &Input) -> Result<SniffedFile, String> {
    let (kind, mut scanner) =
        open(input).map_err(|error| format!("the file cannot be read: {error}"))?;
    match kind {
        FileKind::CpuProfile => cpuprofile(index, &input.path, &mut scanner),
        FileKind::Trace => trace(index, input, &mut scanner),
    }
}

/// Reads the header of a recording's trace: what stands before its events.
pub(crate) fn read_header(input: &Input) -> Option<RecordingFile> {
    let (FileKind::Trace, mut scanner) = open(input).ok()? else { return None };
    match scanner.next().ok()?? {
        Item::Member { key: "metadata", value } => header(0, value),
        _ => None,
    }
}

/// Returns whether an input is a merged trace: the first member says so.
pub(crate) fn is_merged(input: &Input) -> bool {
    let Ok((_, mut scanner)) = open(input) else { return false };
    matches!(scanner.next(), Ok(Some(Item::Member { key, value })) if is_merged_mark(key, value))
}

/// Returns whether a recording's trace was completed: its last event says so.
pub(crate) fn is_complete(input: &Input) -> io::Result<bool> {
    let end = last_bytes(input)?;
    let mut heads = last_lines(&end).filter_map(|line| Some((EventHead::of_own(line)?, line)));
    Ok(heads.any(|(head, line)| head.name(line) == b"trace.end"))
}

fn open(input: &Input) -> io::Result<(FileKind, Scanner<impl Read>)> {
    const START: usize = 4096;
    let (start, rest) = first_bytes(input.open()?, START)?;
    let kind = FileKind::of(&start);
    Ok((kind, Scanner::new(Cursor::new(start).chain(rest))))
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

fn trace(
    index: usize,
    input: &Input,
    scanner: &mut Scanner<impl Read>,
) -> Result<SniffedFile, String> {
    /// Only names come before the profile of a recording.
    const EVENTS_BEFORE_PROFILE: usize = 16;
    let mut recording = None;
    let mut is_merged = false;
    let mut has_phase = false;
    let mut events = 0;
    let mut is_whole = true;
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Member { key: "metadata", value } => recording = header(index, value),
            Item::Member { key, value } => is_merged |= is_merged_mark(key, value),
            Item::Event(event) => {
                events += 1;
                let head = EventHead::of(event).unwrap_or_default();
                has_phase |= head.phase != 0;
                if let Some(recording) = &mut recording {
                    match head.name(event) {
                        b"TracingStartedInBrowser" => recording.url = url(event),
                        b"Profile" => {
                            recording.start_us = head.ts(event).unwrap_or_default();
                            recording.end_us = end_us(input);
                            return Ok(SniffedFile::Recording(recording.clone()));
                        }
                        _ => {}
                    }
                }
                if events == EVENTS_BEFORE_PROFILE || (has_phase && recording.is_none()) {
                    is_whole = false;
                    break;
                }
            }
        }
    }
    if recording.is_some() && is_whole {
        Err("the recording ends before its first sample: the program was killed as it started"
            .into())
    } else if has_phase {
        Ok(SniffedFile::Other { is_merged })
    } else if events > 0 {
        Err("its list does not hold trace events (they have no \"ph\")".into())
    } else {
        Err("the file has no list of trace events".into())
    }
}

/// Reads the header of a recording's trace.
fn header(index: usize, metadata: &[u8]) -> Option<RecordingFile> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    let mut program = metadata.get(METADATA_KEY)?.as_object()?.clone();
    let id = |key: &str| u32::try_from(program.get(key)?.as_u64()?).ok();
    let (pid, tid) = (id("pid")?, id("threadId")?);
    if let Some(start) = metadata.get("startTime") {
        program.insert("startTime".into(), start.clone());
    }
    Some(RecordingFile {
        input: index,
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

/// Reads the times of a `.cpuprofile`. Only the name of the file can tell the process and thread.
fn cpuprofile(
    index: usize,
    path: &Path,
    scanner: &mut Scanner<impl Read>,
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
        return Err("the .cpuprofile is cut off and cannot be used; record traces, which survive \
                    a kill"
            .into());
    }
    let Some(start_us) = start_us.filter(|_| has_nodes) else {
        return Err("the file looks like a .cpuprofile, but has no nodes or no startTime".into());
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let small = |id: i64| u32::try_from(id).ok();
    let (pid, tid) = match ids_from_file_name(&name).0 {
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
        program: Map::new(),
        url: None,
    }))
}

fn micros(value: &[u8]) -> Option<i64> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Some(number as i64)
}

/// Returns the latest time near the end of a trace that is not compressed: microseconds.
fn end_us(input: &Input) -> Option<i64> {
    let end = last_bytes(input).ok()?;
    last_lines(&end).filter_map(|line| EventHead::of_own(line)?.ts(line)).max()
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
