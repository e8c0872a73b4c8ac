//! Traces of other tools, and merged traces: events pass unchanged, except for ids that other
//! inputs have too.

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::labels::{ForeignFrame, ProcessLabel};
use super::merger::Merger;
use super::outcome::MergeError;
use super::part::OutputParts;
use super::rewrite::ProfileRewriter;
use crate::files::input::Input;
use crate::format::trace::event::ProcessFrame;
use crate::format::trace::head::EventHead;
use crate::format::trace::own::is_merged_mark;
use crate::format::trace::scan::Item;
use crate::format::trace::thread::profile_id;
use crate::profile::program::Program;

/// The state of one such trace.
#[derive(Default)]
struct ForeignTrace {
    /// Pids of the file, and the pids in the trace.
    pids: FxHashMap<u32, u32>,
    /// Pids that changed: the file's, and the trace's.
    renumbered: Vec<(u32, u32)>,
    /// New ids of profiles, by the pid in the trace and the file's id; none where the id stays.
    profile_ids: FxHashMap<(u32, Vec<u8>), Option<String>>,
    /// Profiles that go into slices, by the pid in the trace and the file's id.
    rewriters: FxHashMap<(u32, Vec<u8>), ProfileRewriter>,
    process_names: FxHashMap<u32, String>,
    threads: FxHashSet<(u32, u32)>,
    has_frames: bool,
    /// Count of events that were left out, because they are not valid.
    broken: u64,
    first_us: Option<i64>,
    buffer: Vec<u8>,
}

/// An event, with the parts of it that place the event.
struct ForeignEvent<'a> {
    text: &'a [u8],
    head: EventHead,
    /// Pid in the trace.
    pid: Option<u32>,
}

impl ForeignEvent<'_> {
    fn name(&self) -> &[u8] {
        self.head.name(self.text)
    }

    fn tid(&self) -> Option<u32> {
        self.head.tid(self.text)
    }

    /// Returns the time; 0 for events without one.
    fn ts(&self) -> i64 {
        self.head.ts(self.text).unwrap_or_default()
    }

    fn is_profile(&self) -> bool {
        matches!(self.name(), b"Profile" | b"ProfileChunk")
    }
}

impl Merger<'_> {
    /// Adds a trace that is not a recording.
    pub(super) fn add_foreign(
        &mut self,
        input: &Input,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input) else { return Ok(()) };
        let mut trace = ForeignTrace::default();
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => trace.event(event, is_own, self, parts)?,
                Ok(Some(Item::Member { key, value })) => self.add_member(key, value, input)?,
                Ok(None) => break,
                Err(error) => {
                    self.fail_midway(input, &error);
                    break;
                }
            }
        }
        trace.finish(parts)?;
        if scanner.is_torn() || trace.broken > 0 {
            self.repaired(input);
        }
        for (own, pid) in &trace.renumbered {
            self.result.notes.push(format!(
                "{}: its process {own} has the pid {pid} in the trace, because another process \
                 has the pid {own}",
                input.path.display()
            ));
        }
        trace.add_to(&input.path, self);
        Ok(())
    }

    fn add_member(&mut self, key: &str, value: &[u8], input: &Input) -> Result<(), MergeError> {
        if is_merged_mark(key, value) {
            return Ok(());
        }
        let file = input.path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = self.members.add(key, value, &file, self.output)? {
            self.result.notes.push(format!(
                "{}: its {key} have the name {name:?} in the trace, because another file has {key}",
                input.path.display()
            ));
        }
        Ok(())
    }
}

impl ForeignTrace {
    /// Adds an event. `is_own` tells that this project wrote the event, which then needs no check.
    fn event(
        &mut self,
        text: &[u8],
        is_own: bool,
        merger: &mut Merger<'_>,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let head = if is_own { EventHead::of(text) } else { EventHead::of_any(text) };
        let Some(head) = head else {
            self.broken += 1;
            return Ok(());
        };
        // DevTools refuses empty objects.
        if !is_own && text.len() <= 2 {
            return Ok(());
        }
        let pid = head.pid(text).map(|pid| self.pid(pid, merger));
        let event = ForeignEvent { text, head, pid };
        self.note(&event);
        let names_frames =
            matches!(event.name(), b"TracingStartedInBrowser" | b"FrameCommittedInBrowser");
        if names_frames && self.keep_frames(text, merger) {
            return Ok(());
        }
        let id = self.new_profile_id(&event, merger);
        let mut buffer = std::mem::take(&mut self.buffer);
        let renumbered = event.renumbered(id.as_deref(), &mut buffer);
        let line = if is_own { Cow::Borrowed(renumbered) } else { on_one_line(renumbered) };
        let written = if event.is_profile() && !parts.slices.is_everything() {
            self.rewrite(&event, &line, id, parts)
        } else {
            event.write(&line, parts)
        };
        self.buffer = buffer;
        written
    }

    /// Notes the thread, the time and the names that an event gives.
    fn note(&mut self, event: &ForeignEvent<'_>) {
        let Some(pid) = event.pid else { return };
        let ts = event.ts();
        if event.head.phase != b'M' {
            self.threads.insert((pid, event.tid().unwrap_or_default()));
            if ts > 0 {
                self.first_us = Some(self.first_us.map_or(ts, |first| first.min(ts)));
            }
        }
        match (event.name(), event.tid()) {
            (b"process_name", _) => {
                if let Ok(value) = serde_json::from_slice::<Value>(event.text)
                    && let Some(name) = value.pointer("/args/name").and_then(Value::as_str)
                {
                    self.process_names.insert(pid, name.to_owned());
                }
            }
            (b"thread.flush" | b"trace.end", Some(tid)) => {
                let of_thread = self.rewriters.values_mut().filter(|other| other.is_of(pid, tid));
                of_thread.for_each(|rewriter| rewriter.seen(ts));
            }
            _ => {}
        }
    }

    fn rewrite(
        &mut self,
        event: &ForeignEvent<'_>,
        line: &[u8],
        new_id: Option<String>,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let (Some(pid), Some(id)) = (event.pid, event.head.id(event.text)) else {
            return event.write(line, parts);
        };
        let tid = event.tid().unwrap_or_default();
        let count = parts.slices.count();
        let rewriter = self.rewriters.entry((pid, id.to_owned())).or_insert_with(|| {
            let id = new_id.unwrap_or_else(|| String::from_utf8_lossy(id).into_owned());
            ProfileRewriter::new(pid, tid, id.trim_matches('"').to_owned(), count)
        });
        let is_start = event.name() == b"Profile";
        let is_read = rewriter.profile_event(line, is_start, event.ts(), parts)?;
        self.broken += u64::from(!is_read);
        Ok(())
    }

    /// Ends the profiles that go into slices.
    fn finish(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        // Events whose only time is 0 count too.
        if self.first_us.is_none() && parts.slices.is_everything() {
            self.threads.iter().for_each(|(pid, _)| parts.list[0].note(*pid, 0));
        }
        self.rewriters.values_mut().try_for_each(|rewriter| rewriter.finish(parts))
    }

    /// Counts the threads and processes. Processes that DevTools would leave out get a label.
    fn add_to(mut self, path: &Path, merger: &mut Merger<'_>) {
        let pids: FxHashSet<u32> = self.threads.iter().map(|(pid, _)| *pid).collect();
        merger.result.threads += self.threads.len();
        merger.result.processes += pids.len();
        if self.has_frames {
            return;
        }
        merger.generic.push(path.to_owned());
        let mut pids: Vec<u32> = pids.into_iter().collect();
        pids.sort_unstable();
        for pid in pids {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = self.process_names.remove(&pid).unwrap_or(file);
            let own = self.pids.iter().find(|(_, number)| **number == pid);
            let program = Program {
                pid: own.map_or(pid, |(own, _)| *own),
                argv: vec![String::new(), name],
                ..Program::default()
            };
            merger.labels.push(ProcessLabel {
                pid,
                url: program.url_label(),
                start_us: self.first_us.unwrap_or_default(),
                foreign: None,
                is_generic: true,
            });
        }
    }

    fn pid(&mut self, own: u32, merger: &mut Merger<'_>) -> u32 {
        if let Some(pid) = self.pids.get(&own) {
            return *pid;
        }
        // Pid 0 belongs to no process: custom tracks use it.
        let pid = if own == 0 { 0 } else { merger.processes.take_pid(own) };
        if pid != own {
            self.renumbered.push((own, pid));
        }
        self.pids.insert(own, pid);
        pid
    }

    /// Returns the new id of an event's profile, with quotes; none if the id stays.
    fn new_profile_id(
        &mut self,
        event: &ForeignEvent<'_>,
        merger: &mut Merger<'_>,
    ) -> Option<String> {
        let (pid, id) = (event.pid?, event.head.id(event.text)?);
        if !event.is_profile() {
            return None;
        }
        let new_id = self.profile_ids.entry((pid, id.to_owned())).or_insert_with(|| {
            if merger.profile_ids.insert(id.to_owned()) {
                return None;
            }
            let mut number = u64::from(event.tid().unwrap_or_default());
            loop {
                let id = format!("\"{}\"", profile_id(pid, number as u32));
                if merger.profile_ids.insert(id.clone().into_bytes()) {
                    return Some(id);
                }
                number += 1_000_000;
            }
        });
        new_id.clone()
    }

    /// Keeps the frames of an event as labels. Returns false if the event has to pass unchanged:
    /// Chrome can name a frame before its process has an id.
    fn keep_frames(&mut self, event: &[u8], merger: &mut Merger<'_>) -> bool {
        let Ok(value) = serde_json::from_slice::<Value>(event) else { return false };
        let Some(data) = value.pointer("/args/data") else { return false };
        let frames: Vec<&Value> = match data.get("frames").and_then(Value::as_array) {
            Some(frames) => frames.iter().collect(),
            None => vec![data],
        };
        let start_us = value.get("ts").and_then(Value::as_f64).unwrap_or_default() as i64;
        let mut is_kept = value.get("name").is_some_and(|name| name == "TracingStartedInBrowser");
        for frame in frames {
            let text = |key| frame.get(key).and_then(Value::as_str).map(str::to_owned);
            let process = frame.get("processId").and_then(Value::as_u64);
            let process = process.and_then(|pid| u32::try_from(pid).ok());
            let (Some(process), Some(url), Some(id)) = (process, text("url"), text("frame")) else {
                continue;
            };
            self.has_frames = true;
            is_kept = true;
            // The frames of recordings have ids with the pid, which may have changed.
            let is_own = id.starts_with(ProcessFrame::ROOT);
            let foreign = (!is_own).then(|| ForeignFrame { id, parent: text("parent") });
            let pid = self.pid(process, merger);
            let label = ProcessLabel { pid, url, start_us, foreign, is_generic: false };
            merger.labels.push(label);
        }
        is_kept
    }
}

impl ForeignEvent<'_> {
    /// Returns the event with the pid in the trace, and with another id if one is given.
    fn renumbered<'a>(&'a self, id: Option<&str>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if self.pid == self.head.pid(self.text) && id.is_none() {
            return self.text;
        }
        buffer.clear();
        self.head.renumbered(self.text, self.pid.unwrap_or_default(), id, buffer);
        buffer
    }

    /// Writes the event to the part of its time. An event without a time goes into each part.
    fn write(&self, line: &[u8], parts: &mut OutputParts) -> Result<(), MergeError> {
        let is_name = self.head.phase == b'M';
        let has_zero = parts.slices.has_zero;
        let ts = self.head.ts(self.text).filter(|ts| !is_name && (*ts != 0 || has_zero));
        let Some(ts) = ts else {
            return parts.list.iter_mut().try_for_each(|part| part.events(line));
        };
        let dur = self.head.dur(self.text).unwrap_or_default();
        let Some(part) = parts.at(parts.slices.of_span(ts, dur)) else { return Ok(()) };
        let pid = self.pid.unwrap_or_default();
        part.note(pid, ts);
        part.note(pid, ts.saturating_add(dur));
        part.events(line)
    }
}

/// Replaces line ends by spaces. A JSON string has no raw line ends, so they stand between tokens.
fn on_one_line(event: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\n', b'\r', event).is_none() {
        return Cow::Borrowed(event);
    }
    let space = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    Cow::Owned(event.iter().map(space).collect())
}
