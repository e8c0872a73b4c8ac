//! Tells what a file is: reads the start, and for some facts the end.

mod cpuprofile;
mod file_end;

use serde_json::{Map, Value};

pub(crate) use self::file_end::{FileEnd, end_of, end_of_text, is_complete};
use super::file::open;
use super::group::{ClockFacts, ProcessFacts, RecordingSpan};
use super::read_error::ReadError;
use cpu_prof_core::base::outside_text::process_label;
use cpu_prof_core::base::path_text::with_slashes;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::ours::{METADATA_KEY, is_merged_mark};
use cpu_prof_core::format::trace::process_label::without_recording_label;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_session::formats::cpuprofile::kind::JsonKind;
use cpu_prof_session::formats::trace::clean_facts::clean_facts;
use cpu_prof_session::formats::trace::event::recorded_profile::RecordedProfile;
use cpu_prof_session::formats::trace::read::process_names::without_pid;
use cpu_prof_session::formats::trace::scan::{Item, Scanner, SoundItem};
use cpu_prof_session::model::Identity;

/// The kind of a file.
#[derive(Debug)]
pub enum SniffedFile {
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
pub struct FirstEvent {
    /// Process id.
    pub pid: u32,
    /// Time, microseconds; not 0.
    pub ts: i64,
}

/// A file with the recording of one thread.
#[derive(Debug, Clone)]
pub struct RecordingFile {
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

impl RecordingFile {
    /// Returns the facts that tell the process of the recording.
    pub fn facts(&self) -> ProcessFacts {
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
        ClockFacts { boot, start_us, end_us, wall_zero_us: None, recordings: 1, trace: None }
    }

    /// Returns the end, or the start if only a full reading would tell the end: microseconds.
    pub fn known_end_us(&self) -> i64 {
        self.end_us.unwrap_or(self.start_us)
    }

    /// Returns the label of the recording, if it has one.
    pub fn recording_label(&self) -> Option<&str> {
        self.program.get("recordingLabel")?.as_str()
    }

    /// Returns the start of the process and of the system, if the header gives both.
    pub fn identity(&self) -> Option<Identity> {
        let process_start_ms = self.program.get("processStartMs")?.as_u64()?;
        let boot = self.program.get("boot")?.as_str()?.to_owned();
        let key = self.program.get("processKey").and_then(Value::as_str).map(str::to_owned);
        let pid_namespace = self.program.get("pidNamespace").and_then(Value::as_u64);
        Some(Identity { process_start_ms, boot, key, pid_namespace })
    }
}

/// Tells what an input is.
pub(crate) fn sniff(index: usize, input: &Input) -> Result<SniffedFile, ReadError> {
    /// Events that are read to find one with a process and a time.
    const EVENTS_UNTIL_FIRST: usize = 16;
    let mut items = open(input)?;
    let mut recording = None;
    let mut recorded = RecordedProfile::default();
    let mut first = None;
    let mut events = 0;
    let mut is_merged = false;
    let mut kind = JsonKind::default();
    while let Some(item) =
        items.next().map_err(|error| kind.other().map_or(error.into(), ReadError::NoProfile))?
    {
        if let SoundItem::Member { key, value } = item {
            recorded.member(key, value);
        }
        match item {
            SoundItem::Member { key: "metadata", value } if events == 0 => {
                recording = header(index, value);
            }
            SoundItem::Member { key, value } => {
                is_merged |= is_merged_mark(key, value);
                if events == 0 {
                    kind.member(key, value);
                    if kind.is_profile() {
                        return cpuprofile::sniff(index, input);
                    }
                }
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
        return Err(ReadError::NoProfile(
            "the recording ends before its first sample: the program was killed as it started",
        ));
    }
    if events > 0 {
        return Ok(SniffedFile::Other { is_merged, first });
    }
    let reason = match (kind.other(), cpuprofile::begins(input)) {
        _ if items.left_out() > 0 => {
            "its list does not hold trace events (they have no \"ph\", or are against another rule \
             that cpu-prof check names)"
        }
        (Some(other), _) => other,
        (None, true) if items.is_torn() => return Err(ReadError::CutCpuProfile),
        (None, true) => "the file looks like a .cpuprofile, but has no nodes",
        (None, false) => "the file has no list of trace events",
    };
    Err(ReadError::NoProfile(reason))
}

/// Reads the header of a recording: what stands before its events or nodes.
pub(crate) fn read_header(input: &Input) -> Option<RecordingFile> {
    match Scanner::new(input.open().ok()?).next().ok()?? {
        Item::Member { key: "metadata", value } => header(0, value),
        Item::Member { key: METADATA_KEY, value } => cpuprofile::header(0, value),
        _ => None,
    }
}

/// Returns whether an input is the recording of one thread, by its start.
pub fn is_recording(input: &Input) -> bool {
    cpuprofile::is_cpuprofile(input) || read_header(input).is_some()
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
pub fn is_copy<'a>(
    merged: &Input,
    inputs: impl IntoIterator<Item = &'a Input>,
    is_recording: impl Fn(&Input) -> bool,
) -> bool {
    let mut near = inputs.into_iter().filter(|input| input.is_near(merged));
    !merged.is_named && near.any(is_recording)
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
