//! Tells what a file is: reads the start, and for some facts the end.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::input::{Input, first_bytes};
use crate::format::cpuprofile::file_name::ids_from_file_name;
use crate::format::cpuprofile::times::ProfileTimes;
use crate::format::trace::head::EventHead;
use crate::format::trace::own::{METADATA_KEY, is_merged_mark};
use crate::format::trace::read::process_names::without_pid;
use crate::format::trace::scan::{Item, Scanner};
use crate::profile::ending::ProcessEnding;
use crate::profile::program::without_recording_label;
use crate::profile::session::Identity;
use crate::read::group::{ProcessFacts, RecordingSpan};

/// Why a `.cpuprofile` cannot be read: its times come last, and without them each share would be
/// wrong.
pub(crate) const CUT_CPUPROFILE: &str = "the .cpuprofile is cut off: it has lost the times of its \
                                         samples; record traces, which survive a kill";

/// The kind of a file.
#[derive(Debug)]
pub(crate) enum SniffedFile {
    /// The recording of one thread: ours, or a `.cpuprofile`.
    Recording(RecordingFile),
    /// Any other trace.
    Other {
        /// Whether this project merged the trace.
        is_merged: bool,
        /// The first event with a process and a time.
        first: Option<FirstEvent>,
    },
}

/// The process and the time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstEvent {
    /// Process id.
    pub pid: u32,
    /// Time, microseconds; not 0.
    pub ts: i64,
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
    /// How the process ended; none if the recording was not completed, or only a full reading would
    /// tell.
    pub ending: Option<ProcessEnding>,
    /// Facts about the process from the header; empty for a `.cpuprofile` of another tool.
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

    /// Returns the label of the recording, if it has one.
    pub(crate) fn recording_label(&self) -> Option<&str> {
        self.program.get("recordingLabel")?.as_str()
    }

    /// Returns the start of the process and of the system, if the header gives both.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let process_start_ms = self.program.get("processStartMs")?.as_u64()?;
        let boot = self.program.get("boot")?.as_str()?.to_owned();
        let key = self.program.get("processKey").and_then(Value::as_str).map(str::to_owned);
        let pid_namespace = self.program.get("pidNamespace").and_then(Value::as_u64);
        Some(Identity { process_start_ms, boot, key, pid_namespace })
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

/// Returns whether a member of a file's object is that of a `.cpuprofile`.
fn is_tree(key: &str, value: &[u8]) -> bool {
    matches!((key, value.first()), ("nodes", Some(b'[')) | ("head", Some(b'{')))
}

/// Reads the header of a recording: what stands before its events or nodes.
pub(crate) fn read_header(input: &Input) -> Option<RecordingFile> {
    let (_, mut scanner) = open(input).ok()?;
    match scanner.next().ok()?? {
        Item::Member { key: "metadata", value } => header(0, value),
        Item::Member { key: METADATA_KEY, value } => cpuprofile_header(0, value),
        _ => None,
    }
}

/// Returns whether an input is the recording of one thread, by its start.
pub(crate) fn is_recording(input: &Input) -> bool {
    match open(input) {
        Ok((FileKind::CpuProfile, _)) => true,
        _ => read_header(input).is_some(),
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
    Ok((kind, Scanner::new(Cursor::new(start).chain(rest)).moved_by(input.shift)))
}

impl FileKind {
    /// Returns the kind of a text by its start. A `.cpuprofile` is an object with these members, in
    /// any order.
    fn of(start: &[u8]) -> Self {
        const MEMBERS: [&[u8]; 7] = [
            METADATA_KEY.as_bytes(),
            b"nodes",
            b"startTime",
            b"endTime",
            b"samples",
            b"timeDeltas",
            b"title",
        ];
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
    let mut first = None;
    let mut is_merged = false;
    let mut has_phase = false;
    let mut events = 0;
    let mut is_whole = true;
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        match item {
            Item::Member { key: "metadata", value } => recording = header(index, value),
            // Other tools begin with members of their own.
            Item::Member { key, value } if is_tree(key, value) && events == 0 => {
                let again = open(input).map_err(|error| error.to_string())?;
                return cpuprofile(index, &input.path, &mut { again.1 });
            }
            Item::Member { key, value } => is_merged |= is_merged_mark(key, value),
            Item::Event(event) => {
                events += 1;
                let head = EventHead::of(event).unwrap_or_default();
                has_phase |= head.phase != 0;
                let pid = head.pid_text(event).and_then(|pid| pid.parse().ok());
                let ts = head.ts(event).filter(|ts| *ts > 0 && head.phase != b'M');
                first = pid.zip(ts).map(|(pid, ts)| FirstEvent { pid, ts });
                if let Some(recording) = &mut recording {
                    match head.name(event) {
                        b"TracingStartedInBrowser" => {
                            let label = recording.recording_label();
                            recording.url = url(event).map(|url| match label {
                                Some(label) => without_recording_label(&url, label),
                                None => url,
                            });
                        }
                        b"Profile" => {
                            recording.start_us = head.ts(event).unwrap_or_default();
                            (recording.end_us, recording.ending) = end_of(input);
                            return Ok(SniffedFile::Recording(recording.clone()));
                        }
                        _ => {}
                    }
                }
                let is_known = recording.is_some() || (has_phase && first.is_none());
                if events == EVENTS_BEFORE_PROFILE || (has_phase && !is_known) {
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
        Ok(SniffedFile::Other { is_merged, first })
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
    if let Some(start) = metadata.get("startTime") {
        program.insert("startTime".into(), start.clone());
    }
    recording(index, program)
}

/// Reads the header of an own `.cpuprofile`.
fn cpuprofile_header(index: usize, facts: &[u8]) -> Option<RecordingFile> {
    let facts = serde_json::from_slice(facts).ok()?;
    let file = recording(index, facts)?;
    let url = file.program.get("label").and_then(Value::as_str).map(str::to_owned);
    Some(RecordingFile { is_cpuprofile: true, url, ..file })
}

/// Returns a recording with these facts, whose times are not known yet.
fn recording(index: usize, program: Map<String, Value>) -> Option<RecordingFile> {
    let id = |key: &str| u32::try_from(program.get(key)?.as_u64()?).ok();
    let (pid, tid) = (id("pid")?, id("threadId")?);
    Some(RecordingFile {
        input: index,
        is_cpuprofile: false,
        pid: Some(pid),
        tid,
        start_us: 0,
        end_us: None,
        ending: None,
        program,
        url: None,
    })
}

fn url(event: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(event).ok()?;
    Some(event.pointer("/args/data/frames/0/url")?.as_str()?.to_owned())
}

/// Reads the times of a `.cpuprofile`. Where the file does not tell its process and thread, its name
/// can.
fn cpuprofile(
    index: usize,
    path: &Path,
    scanner: &mut Scanner<impl Read>,
) -> Result<SniffedFile, String> {
    let (mut times, mut has_nodes, mut header) = (ProfileTimes::default(), false, None);
    while let Some(item) = scanner.next().map_err(|error| error.to_string())? {
        let Item::Member { key, value } = item else { continue };
        times.member(key, value);
        match key {
            _ if is_tree(key, value) => has_nodes = true,
            METADATA_KEY => header = cpuprofile_header(index, value),
            _ => {}
        }
    }
    if scanner.is_torn() {
        return Err(CUT_CPUPROFILE.to_owned());
    }
    let end_us = times.end_us();
    let Some(start_us) = times.start_us().filter(|_| has_nodes) else {
        return Err("the file looks like a .cpuprofile, but has no nodes or no startTime".into());
    };
    if let Some(header) = header {
        return Ok(SniffedFile::Recording(RecordingFile { start_us, end_us, ..header }));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
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

/// Returns the latest time near the end of a trace that is not compressed: microseconds, and how
/// the process ended.
fn end_of(input: &Input) -> (Option<i64>, Option<ProcessEnding>) {
    let Ok(end) = last_bytes(input) else { return (None, None) };
    let (mut last_us, mut ending) = (None, None);
    for line in last_lines(&end) {
        let Some(head) = EventHead::of_own(line) else { continue };
        last_us = last_us.max(head.ts(line));
        if head.name(line) == b"trace.end" {
            ending = Some(ending_of(line).unwrap_or_default());
        }
    }
    (last_us.map(|last_us| input.shift.moved(last_us)), ending)
}

/// Returns how the process ended, according to the last event of its recording.
fn ending_of(line: &[u8]) -> Option<ProcessEnding> {
    let line = line.strip_suffix(b",").unwrap_or(line);
    let event: Value = serde_json::from_slice(line).ok()?;
    serde_json::from_value(event.pointer("/args/data")?.clone()).ok()
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
