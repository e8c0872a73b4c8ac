//! The recordings of one process: as they are where that will do, written anew where it will not.

use serde_json::Value;

use super::part::{OutputPart, OutputParts};
use super::processes::OutputProcess;
use super::rewrite::ProfileRewriter;
use super::{Merge, MergeError, MergeProgress, OutputFrame, cpuprofile};
use crate::files::input::{Failed, Input};
use crate::format::ascii_json::encode;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::Item;
use crate::format::trace::thread::profile_id;
use crate::read::sniff::RecordingFile;

impl Merge {
    /// Adds a process.
    pub(super) fn process(
        &mut self,
        process: &OutputProcess,
        inputs: &[Input],
        parts: &mut OutputParts,
        progress: &MergeProgress,
    ) -> Result<(), MergeError> {
        self.frames.push(OutputFrame {
            pid: process.pid,
            url: process.url.clone(),
            start_us: process.start_us,
            frame: None,
            parent: None,
            is_generic: false,
        });
        for (tid, recordings) in &process.threads {
            self.threads += 1;
            let id = profile_id(process.pid, *tid);
            self.profile_ids.insert(format!("\"{id}\"").into_bytes());
            let is_simple = recordings.len() == 1
                && !recordings[0].is_cpuprofile
                && parts.windows.is_everything();
            if is_simple {
                self.copy(process, &recordings[0], &id, inputs, &mut parts.list[0], progress)?;
            } else {
                let mut rebuilt =
                    ProfileRewriter::new(process.pid, *tid, id, parts.windows.count());
                for recording in recordings {
                    self.rebuild(process, recording, &mut rebuilt, inputs, parts, progress)?;
                }
                rebuilt.finish(parts)?;
            }
        }
        Ok(())
    }

    /// A thread's only recording: lines as they are, but for the frame and another pid.
    fn copy(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        id: &str,
        inputs: &[Input],
        part: &mut OutputPart,
        progress: &MergeProgress,
    ) -> Result<(), MergeError> {
        let id = format!("\"{id}\"");
        let mut buffer = Vec::new();
        self.each_event(&inputs[recording.input], progress, |event, head| {
            if head.name(event) == b"TracingStartedInBrowser" {
                return Ok(());
            }
            if head.phase != b'M' {
                part.note(process.pid, head.ts(event).unwrap_or_default());
            }
            part.events(changed(process, event, head, &id, &mut buffer))
        })
    }

    /// One of several recordings of a thread, or one that goes into several files.
    fn rebuild(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        rebuilt: &mut ProfileRewriter,
        inputs: &[Input],
        parts: &mut OutputParts,
        progress: &MergeProgress,
    ) -> Result<(), MergeError> {
        let input = &inputs[recording.input];
        if recording.is_cpuprofile {
            let mark = process.mark.as_deref().unwrap_or_default();
            let program = process.made_up(&input.path);
            // What the process is called is in its traces, if it has any.
            if process.program.is_empty() {
                for name in cpuprofile::names(&program, mark, process.pid, recording.tid) {
                    rebuilt.name(&name, parts)?;
                }
            }
            rebuilt.begin(recording.start_us, parts)?;
            let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
            let pid = process.pid;
            if !cpuprofile::add(&mut scanner, recording, rebuilt, pid, parts)? {
                let reason = "its nodes or samples are not as in a .cpuprofile".to_owned();
                self.failed.push(Failed { path: input.path.clone(), reason });
            }
            return Ok(());
        }
        let mut has_begun = false;
        let mut buffer = Vec::new();
        let mut broken = false;
        self.each_event(input, progress, |event, head| {
            let ts = head.ts(event).unwrap_or_default();
            match head.name(event) {
                b"TracingStartedInBrowser" | b"thread.start" => Ok(()),
                b"Profile" => {
                    has_begun = true;
                    rebuilt.begin(recording.start_us, parts)
                }
                b"ProfileChunk" if has_begun => {
                    broken |= !rebuilt.chunk(event, parts)?;
                    Ok(())
                }
                _ if head.phase == b'M' => {
                    rebuilt.name(changed(process, event, head, "", &mut buffer), parts)
                }
                _ => {
                    let event = changed(process, event, head, "", &mut buffer);
                    rebuilt.other(event, ts, parts)
                }
            }
        })?;
        if broken && !self.repaired.contains(&input.path) {
            self.repaired.push(input.path.clone());
        }
        Ok(())
    }

    /// Calls `f` for each event of a recording; what is damaged is left out and said.
    fn each_event(
        &mut self,
        input: &Input,
        progress: &MergeProgress,
        mut f: impl FnMut(&[u8], &EventHead) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input, progress) else { return Ok(()) };
        let mut is_torn = false;
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => {
                    let head = if is_own { EventHead::of(event) } else { EventHead::of_any(event) };
                    match head {
                        Some(head) => f(event, &head)?,
                        None => is_torn = true,
                    }
                }
                Ok(Some(Item::Member { .. })) => {}
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("{error}; what stands before that is in the trace");
                    self.failed.push(Failed { path: input.path.clone(), reason });
                    return Ok(());
                }
            }
        }
        if is_torn || scanner.is_torn() {
            self.repaired.push(input.path.clone());
        }
        Ok(())
    }
}

/// An event of a recording, with the process's other pid and mark if it has them.
fn changed<'a>(
    process: &OutputProcess,
    event: &'a [u8],
    head: &EventHead,
    profile_id: &str,
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    let Some(mark) = &process.mark else { return event };
    buffer.clear();
    head.renumbered(event, process.pid, Some(profile_id), buffer);
    if head.phase == b'M'
        && let Ok(mut value) = serde_json::from_slice::<Value>(buffer)
        && let Some(name) = value.pointer_mut("/args/name")
        && let Some(text) = name.as_str()
        && let Some(own) = process.own_pid
    {
        let pid = format!("(pid {own})");
        *name = text.replace(&pid, &format!("{pid}{mark}")).into();
        buffer.clear();
        encode(buffer, &value);
    }
    buffer
}
