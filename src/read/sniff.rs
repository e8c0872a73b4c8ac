//! What each input is, by its beginning.

use std::path::Path;

use serde_json::{Map, Value};

use crate::profile::session::Identity;
use crate::read::group::{ProcessFacts, RecordingSpan};

use crate::files::input::{FileKind, Input, first_bytes};
use crate::format::cpuprofile::read::ids_from_file_name;
use crate::format::trace::head::EventHead;
use crate::format::trace::own;
use crate::format::trace::scan::{Item, Scanner};

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
    /// End of the recording, microseconds; none if the end is not known before all is read.
    pub end_us: Option<i64>,
    /// What its header says of the process.
    pub program: Map<String, Value>,
    /// How DevTools shall call the process.
    pub url: Option<String>,
}

impl RecordingFile {
    /// Returns the facts that tell the recording's process.
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
            command: self.url.clone(),
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

/// Reads as much of an input as it takes to know what it is. The error ends a sentence that begins
/// with the file.
pub(crate) fn survey(number: usize, input: &Input) -> Result<SniffedFile, String> {
    const START: usize = 4096;
    let unreadable = |error| format!("it cannot be read: {error}");
    let reader = input.open().map_err(unreadable)?;
    let (start, rest) = first_bytes(reader, START).map_err(unreadable)?;
    let kind = FileKind::of(&start);
    let mut scanner = Scanner::new(std::io::Read::chain(std::io::Cursor::new(start), rest));
    match kind {
        FileKind::CpuProfile => cpuprofile(number, &input.path, &mut scanner),
        FileKind::Trace => trace(number, input, &mut scanner),
    }
}

fn trace<R: std::io::Read>(
    number: usize,
    input: &Input,
    scanner: &mut Scanner<R>,
) -> Result<SniffedFile, String> {
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
            Item::Member { key, value } => is_merged |= own::is_merged_mark(key, value),
            Item::Event(event) => {
                seen += 1;
                let head = EventHead::of(event).unwrap_or_default();
                has_phase |= head.phase != 0;
                if let Some(recording) = &mut recording {
                    match head.name(event) {
                        b"TracingStartedInBrowser" => recording.url = url(event),
                        b"Profile" => {
                            recording.start_us = head.ts(event).unwrap_or_default();
                            recording.end_us = end_us(input);
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
    let mut program = metadata.get(own::METADATA_KEY)?.as_object()?.clone();
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
fn end_us(input: &Input) -> Option<i64> {
    use std::io::{Read, Seek, SeekFrom};
    const END: u64 = 64 << 10;
    let mut file = std::fs::File::open(&input.path).ok()?;
    file.seek(SeekFrom::Start(input.bytes.saturating_sub(END))).ok()?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).ok()?;
    let lines = end.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| EventHead::of_own(line)?.ts(line)).max()
}
