//! Files that are no single recording: traces of other tools, and merged ones of our own. Their
//! events pass as they are, but for ids that others have too.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::part::OutputParts;
use super::rewrite::ProfileRewriter;
use super::{Merge, MergeError, MergeProgress, OutputFrame};
use crate::files::atomic::Spool;
use crate::files::input::{Failed, Input};
use crate::format::ascii_json::encode;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::Item;
use crate::format::trace::thread::profile_id;
use crate::profile::program::Program;

/// One such file on its way.
#[derive(Default)]
pub(super) struct ForeignTrace {
    /// Its pids, and those in the trace.
    pids: FxHashMap<u32, u32>,
    /// Pids that were given another number.
    pub renumbered: Vec<(u32, u32)>,
    /// Its profiles' ids (with their pids in the trace), and those in the trace.
    profiles: FxHashMap<(u32, Vec<u8>), Option<String>>,
    rebuilt: FxHashMap<(u32, Vec<u8>), ProfileRewriter>,
    process_names: FxHashMap<u32, String>,
    threads: FxHashSet<(u32, u32)>,
    has_frames: bool,
    /// Events that are no valid JSON or no profile's, and were left out.
    pub broken: u64,
    first_us: Option<i64>,
    buffer: Vec<u8>,
}

impl ForeignTrace {
    /// Takes an event. `is_own` if it comes from a file of ours, whose events need no check.
    pub(super) fn event(
        &mut self,
        event: &[u8],
        is_own: bool,
        merge: &mut Merge,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let head = if is_own { EventHead::of(event) } else { EventHead::of_any(event) };
        let Some(head) = head else {
            self.broken += 1;
            return Ok(());
        };
        if !is_own && event.len() <= 2 {
            // DevTools takes no empty objects.
            return Ok(());
        }
        let (name, ts) = (head.name(event), head.ts(event).unwrap_or_default());
        let own_pid = head.pid(event);
        let pid = own_pid.map(|pid| self.pid(pid, merge));
        let is_name = head.phase == b'M';
        if let (Some(pid), false) = (pid, is_name) {
            self.threads.insert((pid, head.tid(event).unwrap_or_default()));
            if ts > 0 {
                self.first_us = Some(self.first_us.map_or(ts, |first| first.min(ts)));
            }
        }
        if matches!(name, b"TracingStartedInBrowser" | b"FrameCommittedInBrowser")
            && self.frames(event, merge)
        {
            return Ok(());
        }
        if let (b"process_name", Some(pid)) = (name, pid)
            && let Ok(value) = serde_json::from_slice::<Value>(event)
            && let Some(name) = value.pointer("/args/name").and_then(Value::as_str)
        {
            self.process_names.insert(pid, name.to_owned());
        }
        if let (b"thread.flush" | b"trace.end", Some(pid), Some(tid)) = (name, pid, head.tid(event))
        {
            let of_thread = self.rebuilt.values_mut().filter(|rebuilt| rebuilt.is_of(pid, tid));
            of_thread.for_each(|rebuilt| rebuilt.seen(ts));
        }
        let id = match (pid, head.id(event)) {
            (Some(pid), Some(id)) if matches!(name, b"Profile" | b"ProfileChunk") => {
                self.profile_id(pid, head.tid(event), id, merge)
            }
            _ => None,
        };
        let changed = pid != own_pid || id.is_some();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut text = event;
        if changed {
            head.renumbered(event, pid.unwrap_or_default(), id.as_deref(), &mut buffer);
            text = &buffer;
        }
        let flat: Vec<u8>;
        if !is_own && memchr::memchr2(b'\n', b'\r', text).is_some() {
            // One event a line; a string has no raw line ends, so these are between its parts.
            flat = text
                .iter()
                .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })
                .collect();
            text = &flat;
        }
        let place = EventPlace {
            pid,
            is_name,
            ts: head.ts(event),
            dur: head.dur(event).unwrap_or_default(),
        };
        let written = match (name, pid, head.id(event)) {
            (b"Profile" | b"ProfileChunk", Some(pid), Some(source))
                if !parts.windows.is_everything() =>
            {
                let key = (pid, source.to_owned());
                let tid = head.tid(event).unwrap_or_default();
                let id = id.unwrap_or_else(|| String::from_utf8_lossy(source).into_owned());
                let count = parts.windows.count();
                let rebuilt = self.rebuilt.entry(key).or_insert_with(|| {
                    ProfileRewriter::new(pid, tid, id.trim_matches('"').to_owned(), count)
                });
                let is_read = rebuilt.profile_event(text, name == b"Profile", ts, parts);
                is_read.map(|is_read| self.broken += u64::from(!is_read))
            }
            _ => place.write(text, parts),
        };
        self.buffer = buffer;
        written
    }

    /// Ends the profiles that are written anew. Events that have no time but 0 are something, too.
    pub(super) fn finish(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        if self.first_us.is_none() && parts.windows.is_everything() {
            self.threads.iter().for_each(|(pid, _)| parts.list[0].note(*pid, 0));
        }
        self.rebuilt.values_mut().try_for_each(|rebuilt| rebuilt.finish(parts))
    }

    /// Ends the file: processes that DevTools would leave out get a label.
    pub(super) fn end(&mut self, path: &Path, merge: &mut Merge) {
        merge.threads += self.threads.len();
        let pids: FxHashSet<u32> = self.threads.iter().map(|(pid, _)| *pid).collect();
        merge.foreign_processes += pids.len();
        if self.has_frames {
            return;
        }
        merge.generic.push(path.to_owned());
        let mut pids: Vec<u32> = pids.into_iter().collect();
        pids.sort_unstable();
        for pid in pids {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = self.process_names.remove(&pid).unwrap_or(file);
            let argv = vec![String::new(), name];
            let own = self.pids.iter().find(|(_, number)| **number == pid);
            let program =
                Program { pid: own.map_or(pid, |(own, _)| *own), argv, ..Program::default() };
            merge.frames.push(OutputFrame {
                pid,
                url: program.url_label(),
                start_us: self.first_us.unwrap_or_default(),
                frame: None,
                parent: None,
                is_generic: true,
            });
        }
    }

    fn pid(&mut self, own: u32, merge: &mut Merge) -> u32 {
        if let Some(pid) = self.pids.get(&own) {
            return *pid;
        }
        // Nobody's: custom tracks hang on it.
        let pid = if own == 0 { 0 } else { merge.processes.take_pid(own) };
        if pid != own {
            self.renumbered.push((own, pid));
        }
        self.pids.insert(own, pid);
        pid
    }

    /// Another id for a profile, with quotes, if its own is taken.
    fn profile_id(
        &mut self,
        pid: u32,
        tid: Option<u32>,
        id: &[u8],
        merge: &mut Merge,
    ) -> Option<String> {
        let given = self.profiles.entry((pid, id.to_owned())).or_insert_with(|| {
            if merge.profile_ids.insert(id.to_owned()) {
                return None;
            }
            let mut number = u64::from(tid.unwrap_or_default());
            loop {
                let id = format!("\"{}\"", profile_id(pid, number as u32));
                if merge.profile_ids.insert(id.clone().into_bytes()) {
                    return Some(id);
                }
                number += 1_000_000;
            }
        });
        given.clone()
    }

    /// Keeps an event's frames for later. False if it has none that can be kept.
    fn frames(&mut self, event: &[u8], merge: &mut Merge) -> bool {
        let Ok(value) = serde_json::from_slice::<Value>(event) else { return false };
        let Some(data) = value.pointer("/args/data") else { return false };
        let frames: Vec<&Value> = match data.get("frames").and_then(Value::as_array) {
            Some(frames) => frames.iter().collect(),
            None => vec![data],
        };
        let start_us = value.get("ts").and_then(Value::as_f64).unwrap_or_default() as i64;
        // Chrome can name a process before it knows its id: such a frame passes as it is.
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
            let pid = self.pid(process, merge);
            // Ours are named after the process, which may have got another number.
            let is_ours = id.starts_with("NODE");
            merge.frames.push(OutputFrame {
                pid,
                url,
                start_us,
                frame: (!is_ours).then_some(id),
                parent: if is_ours { None } else { text("parent") },
                is_generic: false,
            });
        }
        is_kept
    }
}

impl Merge {
    /// A trace that is no recording of ours.
    pub(super) fn foreign(
        &mut self,
        input: &Input,
        output: &Path,
        parts: &mut OutputParts,
        progress: &MergeProgress,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
        let mut foreign = ForeignTrace::default();
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => foreign.event(event, is_own, self, parts)?,
                Ok(Some(Item::Member { key, value })) => self.member(key, value, input, output)?,
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("{error}; what stands before that is in the trace");
                    self.failed.push(Failed { path: input.path.clone(), reason });
                    break;
                }
            }
        }
        foreign.finish(parts)?;
        if scanner.is_torn() || foreign.broken > 0 {
            self.repaired.push(input.path.clone());
        }
        for (own, pid) in &foreign.renumbered {
            self.notes.push(format!(
                "{}: its process {own} has the pid {pid} in the trace, for another has {own} too",
                input.path.display()
            ));
        }
        foreign.end(&input.path, self);
        Ok(())
    }

    /// Keeps a member of another trace.
    fn member(
        &mut self,
        key: &str,
        value: &[u8],
        input: &Input,
        output: &Path,
    ) -> Result<(), MergeError> {
        const MUCH: usize = 16 << 20;
        let file = input.path.file_name().unwrap_or_default().to_string_lossy();
        if key == "source" && value == b"\"cpu-prof\"" {
            return Ok(());
        }
        if serde_json::from_slice::<serde::de::IgnoredAny>(value).is_err() {
            return Ok(());
        }
        if key == "metadata" && value.len() < MUCH {
            let value = serde_json::from_slice::<Value>(value).unwrap_or_default();
            self.sources.push(json!({ "file": file, "metadata": value }));
            return Ok(());
        }
        let mut name = key.to_owned();
        if !self.member_keys.insert(name.clone()) {
            if matches!(key, "displayTimeUnit" | "controllerTraceDataKey" | "otherData") {
                // Settings of viewers: the first one's hold.
                return Ok(());
            }
            name = format!("{key} ({file})");
            self.notes.push(format!(
                "{}: its {key} are called {name:?} in the trace, for another file has {key} too",
                input.path.display()
            ));
        }
        let mut text = b",\n".to_vec();
        // A key is as it was written, with its escapes; a file's name has none yet.
        match name == key {
            true => text.extend_from_slice(format!("\"{key}\"").as_bytes()),
            false => encode(&mut text, &name),
        }
        text.push(b':');
        text.extend_from_slice(value);
        let spool = match &mut self.members {
            Some(spool) => spool,
            None => self.members.insert(Spool::create(output)?),
        };
        Ok(spool.write(&text)?)
    }
}

/// Where an event belongs.
struct EventPlace {
    pid: Option<u32>,
    is_name: bool,
    ts: Option<i64>,
    dur: i64,
}

impl EventPlace {
    fn write(&self, text: &[u8], parts: &mut OutputParts) -> Result<(), MergeError> {
        let ts = self.ts.filter(|ts| !self.is_name && (*ts != 0 || parts.windows.has_zero));
        let Some(ts) = ts else {
            return parts.list.iter_mut().try_for_each(|part| part.events(text));
        };
        let Some(part) = parts.at(parts.windows.of_span(ts, self.dur)) else { return Ok(()) };
        let pid = self.pid.unwrap_or_default();
        part.note(pid, ts);
        part.note(pid, ts.saturating_add(self.dur));
        part.events(text)
    }
}

/// A label as JSON, for the frame events.
pub(super) fn frame_event(name: &str, pid: u32, ts: i64, data: &Value) -> Vec<u8> {
    let event = json!({
        "cat": "disabled-by-default-devtools.timeline",
        "name": name,
        "ph": "I",
        "s": "t",
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "args": { "data": data },
    });
    let mut out = Vec::new();
    encode(&mut out, &event);
    out
}
