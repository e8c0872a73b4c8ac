//! The recordings of one process: copied line by line, or rewritten where copying is not enough.

use serde_json::Value;

use super::inputs::event::{EventChange, SoundEvent};
use super::inputs::processes::OutputProcess;
use super::merger::Merger;
use super::outcome::MergeError;
use super::output::labels::ProcessLabel;
use super::output::part::{OutputPart, OutputParts};
use super::profiles::copied::{CopiedProfile, FirstChunk, announcement};
use super::profiles::cpuprofile;
use super::profiles::rewrite::ProfileRewriter;
use crate::read::sniff::RecordingFile;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::event::head::Member;
use cpu_prof_core::format::trace::event::recorded_profile::RecordedProfile;
use cpu_prof_core::format::trace::scan::SoundItem;
use cpu_prof_core::format::trace::write::thread::profile_id;
use cpu_prof_core::format::trace::write::thread_names::is_labelled;

impl Merger<'_> {
    /// Adds the recordings of a process.
    pub(super) fn add_process(
        &mut self,
        process: &OutputProcess,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        self.sizes.process(&process.program);
        let mut threads = Vec::new();
        for (tid, recordings) in &process.threads {
            let id = self.profile_ids.recorded(process.pid, *tid);
            let is_written = match recordings.as_slice() {
                [only] if !only.is_cpuprofile && self.copies_profiles(parts) => {
                    self.copy(process, only, &id, &mut parts.list[0])?;
                    true
                }
                _ => self.rewrite_thread(process, *tid, recordings, parts)?,
            };
            if is_written {
                threads.push(*tid);
            }
        }
        // Nothing may be in the slice, or pass the filter.
        if threads.is_empty() {
            return Ok(());
        }
        let first = process.threads.values().flatten().next();
        if let Some(name) = first.and_then(|first| self.input_name(first.input)) {
            self.labels.set_name(process.pid, name);
        }
        self.result.processes += 1;
        self.result.threads += threads.len();
        self.labels.push(ProcessLabel {
            pid: process.pid,
            url: process.url.clone(),
            start_us: process.start_us,
            threads,
            cwd: process.cwd(),
            ..ProcessLabel::default()
        });
        Ok(())
    }

    /// Rewrites the recordings of a thread. Returns whether anything was written.
    fn rewrite_thread(
        &mut self,
        process: &OutputProcess,
        tid: u32,
        recordings: &[RecordingFile],
        parts: &mut OutputParts,
    ) -> Result<bool, MergeError> {
        let count = parts.slices.count();
        let id = profile_id(process.pid, tid);
        let mut rewriter = ProfileRewriter::new(process.pid, tid, id, count, &self.rewriting);
        let mut labels = recordings.iter().map(RecordingFile::recording_label);
        let first = labels.next();
        let has_one_label = labels.all(|label| Some(label) == first);
        for recording in recordings {
            self.rewrite(process, recording, has_one_label, &mut rewriter, parts)?;
        }
        rewriter.finish(parts)
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
        let mut change = EventChange::default();
        let mut sizes = std::mem::take(&mut self.sizes);
        let mut frames = std::mem::take(&mut self.mapped);
        let mut profile = CopiedProfile::default();
        let copied = self.each_event(&self.inputs[recording.input], |event| {
            sizes.event((process.pid, recording.tid), event.name(), event.text);
            // The merge writes the frames of all processes at the end.
            if event.name() == b"TracingStartedInBrowser" || frames.take_map(event) {
                return Ok(true);
            }
            change.edit.clear();
            if !profile.event(event, &mut frames, &mut change.edit) {
                return Ok(false);
            }
            if !event.is_metadata() {
                part.note(process.pid, event.ts().unwrap_or_default());
            }
            part.events(changed(process, event, Some(id), &mut change))?;
            Ok(true)
        });
        (self.sizes, self.mapped) = (sizes, frames);
        copied?;
        match profile.unannounced() {
            Some(FirstChunk { start_us, id: own_id }) => {
                let id = if process.mark.is_some() { id } else { own_id };
                part.events(&announcement(process.pid, recording.tid, id, *start_us))
            }
            None => Ok(()),
        }
    }

    /// Rewrites one of several recordings of a thread, or a recording that goes into slices. The label
    /// of a recording names the thread only if all its recordings have this label.
    fn rewrite(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        has_one_label: bool,
        rewriter: &mut ProfileRewriter,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if recording.is_cpuprofile {
            return self.rewrite_cpuprofile(process, recording, rewriter, parts);
        }
        let input = &self.inputs[recording.input];
        // The marker of the recording's start has counters, and comes before the profile.
        let mut start = None;
        let mut has_begun = false;
        let mut change = EventChange::default();
        let mut sizes = std::mem::take(&mut self.sizes);
        let mut frames = std::mem::take(&mut self.mapped);
        let mut profile = CopiedProfile::default();
        let rewritten = self.each_event(input, |event| {
            let ts = event.ts().unwrap_or_default();
            sizes.counters((process.pid, recording.tid), event.name(), event.text);
            if frames.take_map(event) {
                return Ok(true);
            }
            change.edit.clear();
            if !profile.event(event, &mut frames, &mut change.edit) {
                return Ok(false);
            }
            let line = changed(process, event, None, &mut change);
            match event.name() {
                b"TracingStartedInBrowser" => {}
                b"thread.start" if !has_begun => start = Some(line.to_vec()),
                _ if !has_one_label && is_labelled(event.text, event.head) => {}
                b"Profile" => {
                    has_begun = true;
                    rewriter.begin(recording.start_us, parts)?;
                    if let Some(start) = start.take() {
                        rewriter.other(&start, ts, parts)?;
                    }
                }
                b"ProfileChunk" => return rewriter.chunk(line, parts),
                _ if event.is_metadata() => rewriter.name(line, parts)?,
                _ => rewriter.other(line, ts, parts)?,
            }
            Ok(true)
        });
        (self.sizes, self.mapped) = (sizes, frames);
        rewritten
    }

    fn rewrite_cpuprofile(
        &mut self,
        process: &OutputProcess,
        recording: &RecordingFile,
        rewriter: &mut ProfileRewriter,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let input = &self.inputs[recording.input];
        let label = process.short_label(&input.path);
        for name in cpuprofile::names(&label, recording, process.pid) {
            rewriter.name(&name, parts)?;
        }
        rewriter.begin(recording.start_us, parts)?;
        let Some(mut items) = self.open(input) else { return Ok(()) };
        let mapped = &mut self.mapped;
        if !cpuprofile::add_file(&mut items, recording, mapped, rewriter, process.pid, parts)? {
            self.fail(input, "its nodes or samples are not those of a .cpuprofile".to_owned());
            self.empty_inputs += 1;
        }
        Ok(())
    }

    /// Calls `f` for each event of a recording, which returns whether the event can be read. Notes that
    /// events were left out.
    fn each_event(
        &mut self,
        input: &Input,
        mut f: impl FnMut(SoundEvent<'_>) -> Result<bool, MergeError>,
    ) -> Result<(), MergeError> {
        let Some(mut items) = self.open(input) else { return Ok(()) };
        let mut recorded = RecordedProfile::default();
        let mut is_damaged = false;
        loop {
            match items.next() {
                Ok(Some(SoundItem::Event { text, head })) => {
                    is_damaged |= !recorded.has(head, text) || !f(SoundEvent { text, head })?;
                }
                Ok(Some(SoundItem::Member { key, value })) => recorded.member(key, value),
                Ok(None) => break,
                Err(error) => {
                    self.fail_midway(input, &error);
                    return Ok(());
                }
            }
        }
        if is_damaged || items.is_damaged() {
            self.repaired(input);
        }
        Ok(())
    }
}

/// Returns the text of an event of a recording with the changes so far. If another process has the pid,
/// the event gets the pid and the mark of this process, and its profile the given id; none for a
/// profile that is not copied.
fn changed<'t>(
    process: &OutputProcess,
    event: SoundEvent<'t>,
    profile_id: Option<&str>,
    change: &'t mut EventChange,
) -> &'t [u8] {
    if let Some(mark) = &process.mark {
        let edit = &mut change.edit;
        event.place(Member::Pid).into_iter().for_each(|place| edit.replace(place, process.pid));
        let id = event.place(Member::Id).filter(|_| event.is_profile());
        if let (Some(place), Some(profile_id)) = (id, profile_id) {
            edit.replace(place, profile_id);
        }
        if event.is_metadata()
            && let Some(pid) = process.own_pid
            && let Some(marked) = with_mark(change.apply(event), pid, mark)
        {
            return change.encode(&marked);
        }
    }
    change.apply(event)
}

/// Returns an event that names a process or a thread, with a mark behind the pid in the name; none for
/// an event without a name.
fn with_mark(event: &[u8], pid: u32, mark: &str) -> Option<Value> {
    let mut event: Value = serde_json::from_slice(event).ok()?;
    let name = event.pointer_mut("/args/name")?;
    let pid = format!("(pid {pid})");
    *name = name.as_str()?.replace(&pid, &format!("{pid}{mark}")).into();
    Some(event)
}
