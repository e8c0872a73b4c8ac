//! The recordings of one process: copied line by line, or rewritten where copying is not enough.

use serde_json::Value;

use super::cpuprofile;
use super::labels::ProcessLabel;
use super::merger::Merger;
use super::outcome::MergeError;
use super::part::{OutputPart, OutputParts};
use super::processes::OutputProcess;
use super::rewrite::ProfileRewriter;
use crate::files::input::Input;
use crate::format::ascii_json::encode;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::Item;
use crate::format::trace::thread::profile_id;
use crate::read::sniff::RecordingFile;

impl Merger<'_> {
    /// Adds the recordings of a process.
    pub(super) fn add_process(
        &mut self,
        process: &OutputProcess,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        self.labels.push(ProcessLabel {
            pid: process.pid,
            url: process.url.clone(),
            start_us: process.start_us,
            foreign: None,
            is_generic: false,
        });
        for (tid, recordings) in &process.threads {
            self.result.threads += 1;
            let id = profile_id(process.pid, *tid);
            self.profile_ids.insert(quoted(&id).into_bytes());
            match recordings.as_slice() {
                [only] if !only.is_cpuprofile && parts.slices.is_everything() => {
                    self.copy(process, only, &id, &mut parts.list[0])?;
                }
                _ => {
                    let count = parts.slices.count();
                    let mut rewriter = ProfileRewriter::new(process.pid, *tid, id, count);
                    for recording in recordings {
                        self.rewrite(process, recording, &mut rewriter, parts)?;
                    }
                    rewriter.finish(parts)?;
                }
            }
        }
        Ok(())
    }

    /// Copies the only recording of a thread: unchanged lines, unless the process has another pid
    /// in the trace.
    fn copy(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        id: &str,
        part: &mut OutputPart,
    ) -> Result<(), MergeError> {
        let id = quoted(id);
        let mut buffer = Vec::new();
        self.each_event(&self.inputs[recording.input], |event, head| {
            // The merge writes the frames of all processes at the end.
            if head.name(event) == b"TracingStartedInBrowser" {
                return Ok(());
            }
            if head.phase != b'M' {
                part.note(process.pid, head.ts(event).unwrap_or_default());
            }
            part.events(renumbered(process, event, head, &id, &mut buffer))
        })
    }

    /// Rewrites one of several recordings of a thread, or a recording that goes into slices.
    fn rewrite(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        rewriter: &mut ProfileRewriter,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if recording.is_cpuprofile {
            return self.rewrite_cpuprofile(process, recording, rewriter, parts);
        }
        let input = &self.inputs[recording.input];
        let mut has_begun = false;
        let mut is_damaged = false;
        let mut buffer = Vec::new();
        self.each_event(input, |event, head| {
            let ts = head.ts(event).unwrap_or_default();
            match head.name(event) {
                b"TracingStartedInBrowser" | b"thread.start" => Ok(()),
                b"Profile" => {
                    has_begun = true;
                    rewriter.begin(recording.start_us, parts)
                }
                b"ProfileChunk" if has_begun => {
                    is_damaged |= !rewriter.chunk(event, parts)?;
                    Ok(())
                }
                _ => {
                    let event = renumbered(process, event, head, "", &mut buffer);
                    if head.phase == b'M' {
                        rewriter.name(event, parts)
                    } else {
                        rewriter.other(event, ts, parts)
                    }
                }
            }
        })?;
        if is_damaged {
            self.repaired(input);
        }
        Ok(())
    }

    fn rewrite_cpuprofile(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        rewriter: &mut ProfileRewriter,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let input = &self.inputs[recording.input];
        // The traces of a process name its threads.
        if process.program.is_empty() {
            let mark = process.mark.as_deref().unwrap_or_default();
            let program = process.program_from_name(&input.path);
            for name in cpuprofile::names(&program, mark, process.pid, recording.tid) {
                rewriter.name(&name, parts)?;
            }
        }
        rewriter.begin(recording.start_us, parts)?;
        let Some(mut scanner) = self.open(input) else { return Ok(()) };
        if !cpuprofile::add(&mut scanner, recording, rewriter, process.pid, parts)? {
            self.fail(input, "its nodes or samples are not those of a .cpuprofile".to_owned());
        }
        Ok(())
    }

    /// Calls `f` for each event of a recording. Leaves out damaged events, and notes so.
    fn each_event(
        &mut self,
        input: &Input,
        mut f: impl FnMut(&[u8], &EventHead) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let Some(mut scanner) = self.open(input) else { return Ok(()) };
        let mut is_damaged = false;
        loop {
            let is_own = scanner.is_own();
            match scanner.next() {
                Ok(Some(Item::Event(event))) => {
                    let head = if is_own { EventHead::of(event) } else { EventHead::of_any(event) };
                    match head {
                        Some(head) => f(event, &head)?,
                        None => is_damaged = true,
                    }
                }
                Ok(Some(Item::Member { .. })) => {}
                Ok(None) => break,
                Err(error) => {
                    self.fail_midway(input, &error);
                    return Ok(());
                }
            }
        }
        if is_damaged || scanner.is_torn() {
            self.repaired(input);
        }
        Ok(())
    }
}

fn quoted(id: &str) -> String {
    format!("\"{id}\"")
}

/// Returns an event of a recording. If another process has the pid, the event gets the pid and the
/// mark of this process.
fn renumbered<'a>(
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
