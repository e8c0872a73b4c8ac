//! Tells what a file is: reads the start, and for some facts the end.

use std::io::{self, Read, Seek, SeekFrom};

use serde_json::{Map, Value};

use super::file::{CUT_CPUPROFILE, open};
use super::group::{ClockFacts, ProcessFacts, RecordingSpan};
use cpu_prof_core::base::outside_text::process_label;
use cpu_prof_core::base::path_text::with_slashes;
use cpu_prof_core::base::system::regular_file;
use cpu_prof_core::files::input::{Input, first_bytes};
use cpu_prof_core::format::cpuprofile::file_name::ids_from_file_name;
use cpu_prof_core::format::cpuprofile::times::ProfileTimes;
use cpu_prof_core::format::trace::clean_facts::clean_facts;
use cpu_prof_core::format::trace::event::head::EventHead;
use cpu_prof_core::format::trace::event::recorded_profile::RecordedProfile;
use cpu_prof_core::format::trace::ours::{METADATA_KEY, is_merged_mark};
use cpu_prof_core::format::trace::process_label::without_recording_label;
use cpu_prof_core::format::trace::read::process_names::without_pid;
use cpu_prof_core::format::trace::scan::{Item, Scanner, SoundItem};
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::session::Identity;

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

/// Members by which a file's start tells a `.cpuprofile`.
const CPUPROFILE_MEMBERS: [&str; 7] =
    [METADATA_KEY, "nodes", "startTime", "endTime", "samples", "timeDeltas", "title"];

impl RecordingFile {
    /// Returns the facts that tell the process of the recording.
    pub(crate) fn facts(&self) -> ProcessFacts {
        let text = |key: &str| {
            let text = self.program.get(key)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let parent_pid = self.program.get("ppid").and_then(Value::as_i64);
        ProcessFacts {
            is_trace: !self.is_cpuprofile,
            pid: self.pid.map(i64::from),
            identity: self.identity(),
            node: text("node"),
            parent_pid: parent_pid.filter(|pid| *pid > 0),
            cwd: text("cwd").map(|cwd| with_slashes(&cwd).into_owned()),
            label: self.url.as_deref().and_then(without_pid).map(str::to_owned),
            recordings: vec![RecordingSpan {
                tid: self.tid.into(),
                start_us: self.start_us,
                end_us: self.end_us,
            }],
        }
    }

    /// Returns the facts that tell the clock of the recording, which lasts until `end_us` as far as
    /// that is known.
    pub(crate) fn clock_facts(&self, end_us: i64) -> ClockFacts {
        let boot = self.identity().map(|identity| identity.boot);
        let start_us = self.start_us;
        ClockFacts { boot, start_us, end_us, wall_zero_us: None, recordings: 1 }
    }

    /// Returns the end, or the start if only a full reading would tell the end: microseconds.
    pub(crate) fn known_end_us(&self) -> i64 {
        self.end_us.unwrap_or(self.start_us)
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
    /// Events that are read to find one with a process and a time.
    const EVENTS_UNTIL_FIRST: usize = 16;
    let mut items = open(input)?;
    let mut recording = None;
    let mut recorded = RecordedProfile::default();
    let mut first = None;
    let mut events = 0;
    let mut is_merged = false;
    while let Some(item) = items.next().map_err(|error| error.to_string())? {
        if let SoundItem::Member { key, value } = item {
            recorded.member(key, value);
        }
        match item {
            SoundItem::Member { key: "metadata", value } if events == 0 => {
                recording = header(index, value);
            }
            SoundItem::Member { key, value } if is_tree(key, value) && events == 0 => {
                return cpuprofile(index, input);
            }
            SoundItem::Member { key, value } => {
                is_merged |= is_merged_mark(key, value);
            }
            SoundItem::Event { text, head } => {
                events += 1;
                let pid = head.pid(text).and_then(|pid| pid.try_into().ok());
                let ts = head.ts(text).filter(|ts| *ts > 0 && head.phase != b'M');
                first = first.or(pid.zip(ts).map(|(pid, ts)| FirstEvent { pid, ts }));
                recorded.has(head, text);
                if let Some(recording) = &mut recording {
                    if recorded.has_begun() {
                        recording.start_us = head.ts(text).unwrap_or_default();
                        let end = end_of(input);
                        (recording.end_us, recording.ending) = (end.last_us, end.ending);
                        return Ok(SniffedFile::Recording(recording.clone()));
                    }
                    if head.name(text) == b"TracingStartedInBrowser" {
                        recording.url = url(text, recording.recording_label());
                    }
                }
                let is_expected = recording.is_some() && recorded.is_expected();
                if !is_expected && (first.is_some() || events == EVENTS_UNTIL_FIRST) {
                    break;
                }
            }
        }
    }
    if recording.is_some() && recorded.is_expected() {
        return Err("the recording ends before its first sample: the program was killed as it \
                    started"
            .to_owned());
    }
    if events > 0 {
        return Ok(SniffedFile::Other { is_merged, first });
    }
    let reason = match (items.left_out() > 0, is_cpuprofile(input), items.is_torn()) {
        (true, ..) => {
            "its list does not hold trace events (they have no \"ph\", or are against another rule \
             that cpu-prof check names)"
        }
        (_, true, true) => CUT_CPUPROFILE,
        (_, true, false) => "the file looks like a .cpuprofile, but has no nodes",
        (_, false, _) => "the file has no list of trace events",
    };
    Err(reason.to_owned())
}

/// Returns whether a member of a file's object is that of a `.cpuprofile`.
fn is_tree(key: &str, value: &[u8]) -> bool {
    matches!((key, value.first()), ("nodes", Some(b'[')) | ("head", Some(b'{')))
}

/// Reads the header of a recording: what stands before its events or nodes.
pub(crate) fn read_header(input: &Input) -> Option<RecordingFile> {
    match Scanner::new(input.open().ok()?).next().ok()?? {
        Item::Member { key: "metadata", value } => header(0, value),
        Item::Member { key: METADATA_KEY, value } => cpuprofile_header(0, value),
        _ => None,
    }
}

/// Returns whether an input is the recording of one thread, by its start.
pub(crate) fn is_recording(input: &Input) -> bool {
    is_cpuprofile(input) || read_header(input).is_some()
}

/// Returns whether an input is a `.cpuprofile`, by its first bytes.
fn is_cpuprofile(input: &Input) -> bool {
    const START: usize = 4096;
    let start = input.open().and_then(|file| first_bytes(file, START));
    start.is_ok_and(|(start, _)| begins_as_cpuprofile(&start))
}

/// Returns whether an input is a merged trace: the first member says so.
pub(crate) fn is_merged(input: &Input) -> bool {
    let Ok(file) = input.open() else { return false };
    matches!(
        Scanner::new(file).next(),
        Ok(Some(Item::Member { key, value })) if is_merged_mark(key, value)
    )
}

/// Returns whether a merged trace or a pprof file, whose path nobody named, is a copy of recordings that
/// stand beside it: a folder may hold what its recordings were merged or converted into. Folders side by
/// side are those of different runs.
pub(crate) fn is_copy<'a>(
    merged: &Input,
    inputs: impl IntoIterator<Item = &'a Input>,
    is_recording: impl Fn(&Input) -> bool,
) -> bool {
    let mut near = inputs.into_iter().filter(|input| input.is_near(merged));
    !merged.is_named && near.any(is_recording)
}

/// Returns whether a recording's trace was completed: its last event says so.
pub(crate) fn is_complete(input: &Input) -> io::Result<bool> {
    let end = last_bytes(input)?;
    Ok(last_events(&end).any(|(event, head)| head.name(event) == b"trace.end"))
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

/// Reads the header of a recording's trace.
fn header(index: usize, metadata: &[u8]) -> Option<RecordingFile> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    let mut program = metadata.get(METADATA_KEY)?.as_object()?.clone();
    if let Some(start) = metadata.get("startTime") {
        program.insert("startTime".into(), start.clone());
    }
    recording(index, program)
}

/// Reads the header of a `.cpuprofile` of ours.
fn cpuprofile_header(index: usize, facts: &[u8]) -> Option<RecordingFile> {
    let facts = serde_json::from_slice(facts).ok()?;
    let file = recording(index, facts)?;
    let url = file.program.get("label").and_then(Value::as_str).map(str::to_owned);
    Some(RecordingFile { is_cpuprofile: true, url, ..file })
}

/// Returns a recording with these facts, whose times are not known yet.
fn recording(index: usize, mut program: Map<String, Value>) -> Option<RecordingFile> {
    clean_facts(&mut program);
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

/// Returns the label of a process for DevTools, without the label of the recording.
fn url(event: &[u8], recording_label: Option<&str>) -> Option<String> {
    let event: Value = serde_json::from_slice(event).ok()?;
    let url = process_label(event.pointer("/args/data/frames/0/url")?.as_str()?);
    Some(match recording_label {
        Some(label) => without_recording_label(&url, label),
        None => url,
    })
}

/// Reads the times of a `.cpuprofile`. Where the file does not tell its process and thread, its name
/// can.
fn cpuprofile(index: usize, input: &Input) -> Result<SniffedFile, String> {
    let mut items = open(input)?;
    let (mut times, mut header) = (ProfileTimes::default(), None);
    while let Some(item) = items.next().map_err(|error| error.to_string())? {
        let SoundItem::Member { key, value } = item else { continue };
        times.member(key, value);
        if key == METADATA_KEY {
            header = cpuprofile_header(index, value);
        }
    }
    if items.is_torn() {
        return Err(CUT_CPUPROFILE.to_owned());
    }
    let (start_us, end_us) = (times.start_us().unwrap_or_default(), times.end_us());
    if let Some(header) = header {
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

/// What the last bytes of a trace tell.
#[derive(Debug, Default)]
pub(crate) struct FileEnd {
    /// The latest time, microseconds.
    pub last_us: Option<i64>,
    /// The time of the last heartbeat, microseconds: samples before are in the file. Other events can be later
    /// than samples that V8 still has.
    pub flushed_us: Option<i64>,
    /// How the process ended.
    pub ending: Option<ProcessEnding>,
}

/// Reads the end of a trace that is not compressed.
pub(crate) fn end_of(input: &Input) -> FileEnd {
    last_bytes(input).map_or_else(|_| FileEnd::default(), |end| end_of_text(&end))
}

/// Reads the last bytes of a trace. Skips the first line, which may be cut off.
pub(crate) fn end_of_text(text: &[u8]) -> FileEnd {
    let mut end = FileEnd::default();
    for (event, head) in last_events(text) {
        let at_us = head.ts(event);
        end.last_us = end.last_us.max(at_us);
        match head.name(event) {
            b"thread.flush" => end.flushed_us = end.flushed_us.max(at_us),
            b"trace.end" => end.ending = Some(ending_of(event).unwrap_or_default()),
            _ => {}
        }
    }
    end
}

/// Returns how the process ended, according to the last event of its recording.
fn ending_of(event: &[u8]) -> Option<ProcessEnding> {
    let event: Value = serde_json::from_slice(event).ok()?;
    serde_json::from_value(event.pointer("/args/data")?.clone()).ok()
}

fn last_bytes(input: &Input) -> io::Result<Vec<u8>> {
    const END: u64 = 64 << 10;
    let mut file = regular_file::open(&input.path)?;
    file.seek(SeekFrom::Start(input.bytes.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the events in the lines of a file's last bytes, without the first line, which may be cut
/// off.
fn last_events(end: &[u8]) -> impl Iterator<Item = (&[u8], EventHead)> {
    let lines = end.split(|byte| *byte == b'\n').skip(1);
    let events = lines.map(|line| line.strip_suffix(b",").unwrap_or(line));
    events.filter_map(|event| Some((event, EventHead::of_any(event)?)))
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
