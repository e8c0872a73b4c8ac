//! The recordings of one process: copied line by line, or rewritten where copying is not enough.

use serde_json::Value;

use super::findings::findings::{MergeFindings, Reading};
use super::inputs::clean::clean;
use super::inputs::event::{EventChange, SoundEvent};
use super::inputs::merge_inputs::MergeInputs;
use super::inputs::recorded_processes::RecordedProcess;
use super::output::merge_output::MergeOutput;
use super::output::process_labels::ProcessLabel;
use super::profiles::copied::{CopiedProfile, FirstChunk, announcement};
use super::profiles::cpuprofile;
use super::profiles::rewrite::ProfileRewriter;
use super::result::MergeError;
use crate::read::read_error::ReadError;
use crate::read::sniff::RecordingFile;
use cpu_prof_core::format::trace::write::core_wait::WAITING;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::thread::profile_id;
use cpu_prof_core::format::trace::write::thread_names::is_labelled;
use cpu_prof_session::formats::trace::event::head::Member;
use cpu_prof_session::formats::trace::event::recorded_profile::RecordedProfile;
use cpu_prof_session::formats::trace::scan::SoundItem;

/// Adds the recordings of a process.
pub(super) fn add_process(
    process: &RecordedProcess,
    inputs: &MergeInputs<'_>,
    output: &mut MergeOutput,
    findings: &mut MergeFindings,
) -> Result<(), MergeError> {
    let mut merge = ProcessMerge { process, inputs, output, findings };
    let mut threads = Vec::new();
    for tid in process.threads.keys() {
        if merge.thread(*tid)? {
            threads.push(*tid);
        }
    }
    // Nothing may be in the slice, or pass the filter.
    if threads.is_empty() {
        return Ok(());
    }
    let first = process.recordings().next();
    if let Some(name) = first.and_then(|first| inputs.name(first.input)) {
        output.labels.set_name(process.pid, name);
    }
    findings.count_recorded(threads.len());
    output.labels.push(ProcessLabel {
        pid: process.pid,
        url: process.label.clone(),
        start_us: process.start_us,
        threads,
        cwd: process.cwd(),
        ..ProcessLabel::default()
    });
    Ok(())
}

/// The merge of one process.
struct ProcessMerge<'m, 'a> {
    process: &'m RecordedProcess,
    inputs: &'m MergeInputs<'a>,
    output: &'m mut MergeOutput,
    findings: &'m mut MergeFindings,
}

impl ProcessMerge<'_, '_> {
    /// Adds the recordings of a thread. Returns whether anything was written.
    fn thread(&mut self, tid: u32) -> Result<bool, MergeError> {
        let (pid, options) = (self.process.pid, self.inputs.options());
        let recordings = self.process.threads[&tid].as_slice();
        let id = self.output.profile_ids.recorded(pid, tid);
        if let [only] = recordings
            && !only.is_cpuprofile
            && self.output.copies_profiles(options)
        {
            self.copy(only, &id)?;
            return Ok(true);
        }
        let mut rewriter = ProfileRewriter::new(pid, tid, profile_id(pid, tid), options);
        let mut labels = recordings.iter().map(RecordingFile::recording_label);
        let first = labels.next();
        let has_one_label = labels.all(|label| Some(label) == first);
        for recording in recordings {
            if recording.is_cpuprofile {
                self.rewrite_cpuprofile(recording, &mut rewriter)?;
            } else {
                self.rewrite(recording, has_one_label, &mut rewriter)?;
            }
        }
        rewriter.finish(&mut self.output.trace)
    }

    /// Copies the only recording of a thread: unchanged lines, unless the process has another pid in
    /// the trace.
    fn copy(&mut self, recording: &RecordingFile, id: &str) -> Result<(), MergeError> {
        let Self { process, inputs, output, findings } = self;
        let MergeOutput { trace, frames, .. } = &mut **output;
        let mut change = EventChange::default();
        let mut profile = CopiedProfile::default();
        let reading = each_event(recording, inputs, |event| {
            findings.cpus.event((process.pid, recording.tid), event.name(), event.text);
            // The merge writes the frames of all processes at the end.
            if event.name() == b"TracingStartedInBrowser" || frames.take_map(event) {
                return Ok(true);
            }
            change.edit.clear();
            if !profile.event(event, frames, &mut change.edit) {
                return Ok(false);
            }
            if !event.is_metadata() {
                trace.note(process.pid, event.ts().unwrap_or_default());
            }
            trace.events(changed(process, event, Some(id), &mut change))?;
            Ok(true)
        })?;
        findings.note_reading(inputs.file(recording.input), reading);
        match profile.unannounced() {
            Some(FirstChunk { start_us, id: written_id }) => {
                let id = if process.mark.is_some() { id } else { written_id };
                let at = At { pid: process.pid, tid: recording.tid, ts: *start_us };
                trace.events(&announcement(at, id))
            }
            None => Ok(()),
        }
    }

    /// Adds a recording to its thread, after the recordings before it. The recording's label is written
    /// only if all recordings of the thread have this label.
    fn rewrite(
        &mut self,
        recording: &RecordingFile,
        has_one_label: bool,
        rewriter: &mut ProfileRewriter,
    ) -> Result<(), MergeError> {
        let Self { process, inputs, output, findings } = self;
        let MergeOutput { trace, frames, .. } = &mut **output;
        // The marker of the recording's start has counters, and comes before the profile.
        let mut start = None;
        let mut has_begun = false;
        let mut change = EventChange::default();
        let mut profile = CopiedProfile::default();
        let reading = each_event(recording, inputs, |event| {
            let ts = event.ts().unwrap_or_default();
            findings.cpus.event((process.pid, recording.tid), event.name(), event.text);
            if frames.take_map(event) {
                return Ok(true);
            }
            change.edit.clear();
            if !profile.event(event, frames, &mut change.edit) {
                return Ok(false);
            }
            let line = changed(process, event, None, &mut change);
            match event.name() {
                b"TracingStartedInBrowser" => {}
                b"thread.start" if !has_begun => start = Some(line.to_vec()),
                _ if !has_one_label
                    && is_labelled(event.head.name(event.text), event.head.ts(event.text)) => {}
                b"Profile" => {
                    has_begun = true;
                    rewriter.begin(recording.start_us, trace)?;
                    if let Some(start) = start.take() {
                        rewriter.other(&start, ts, trace)?;
                    }
                }
                b"ProfileChunk" => return rewriter.chunk(line, trace),
                _ if event.is_metadata() => rewriter.name(line, trace)?,
                _ => rewriter.other(line, ts, trace)?,
            }
            Ok(true)
        })?;
        findings.note_reading(inputs.file(recording.input), reading);
        Ok(())
    }

    /// Adds a `.cpuprofile` to its thread, after the recordings before it.
    fn rewrite_cpuprofile(
        &mut self,
        recording: &RecordingFile,
        rewriter: &mut ProfileRewriter,
    ) -> Result<(), MergeError> {
        let Self { process, inputs, output, findings } = self;
        let MergeOutput { trace, frames, .. } = &mut **output;
        let (file, pid) = (inputs.file(recording.input), process.pid);
        let label = process.short_label(&file.path);
        for name in cpuprofile::names(&label, recording, pid) {
            rewriter.name(&name, trace)?;
        }
        rewriter.begin(recording.start_us, trace)?;
        match inputs.open(recording.input) {
            Err(error) => findings.note_reading(file, Reading::Failed(error)),
            Ok(mut items) => {
                if !cpuprofile::add_file(&mut items, recording, frames, rewriter, pid, trace)? {
                    let reason = "its nodes or samples are not those of a .cpuprofile";
                    findings.note_unread_recording(file, ReadError::NoProfile(reason));
                }
            }
        }
        Ok(())
    }
}

/// Calls `f` for each event of a recording. `f` returns whether the event can be read.
fn each_event(
    recording: &RecordingFile,
    inputs: &MergeInputs<'_>,
    mut f: impl FnMut(SoundEvent<'_>) -> Result<bool, MergeError>,
) -> Result<Reading, MergeError> {
    let mut items = match inputs.open(recording.input) {
        Ok(items) => items,
        Err(error) => return Ok(Reading::Failed(error)),
    };
    let mut recorded = RecordedProfile::default();
    let mut is_damaged = false;
    loop {
        match items.next() {
            Ok(Some(SoundItem::Event { text, head })) => {
                is_damaged |= !recorded.has(head, text) || !f(SoundEvent { text, head })?;
            }
            Ok(Some(SoundItem::Member { key, value })) => recorded.member(key, value),
            Ok(None) => break,
            Err(error) => return Ok(Reading::Cut(error)),
        }
    }
    let is_whole = !is_damaged && !items.is_damaged();
    Ok(if is_whole { Reading::Whole } else { Reading::Damaged })
}

/// Returns the text of an event of a recording with the changes so far. If another process has the pid,
/// the event gets the pid and the mark of this process, and its profile the given id; none for a
/// profile that is not copied.
fn changed<'t>(
    process: &RecordedProcess,
    event: SoundEvent<'t>,
    profile_id: Option<&str>,
    change: &'t mut EventChange,
) -> &'t [u8] {
    clean(event, &mut change.edit);
    if let Some(mark) = &process.mark {
        let edit = &mut change.edit;
        event.place(Member::Pid).into_iter().for_each(|place| edit.replace(place, process.pid));
        let id = event.place(Member::Id).filter(|_| event.is_profile());
        if let (Some(place), Some(profile_id)) = (id, profile_id) {
            edit.replace(place, profile_id);
        }
        if let Some(place) = name_place(event)
            && let Some(pid) = process.recorded_pid
            && let Some(marked) = with_mark(change.apply(event), place, pid, mark)
        {
            return change.encode(&marked);
        }
    }
    change.apply(event)
}

/// Returns the place of the name of a process or a thread in an event, as a JSON pointer; none for an event
/// without such a name.
fn name_place(event: SoundEvent<'_>) -> Option<&'static str> {
    let mut categories = event.head.categories(event.text);
    match event.is_metadata() {
        true => Some("/args/name"),
        false if categories.any(|each| each == WAITING.as_bytes()) => Some("/args/data/track"),
        false => None,
    }
}

/// Returns an event that names a process or a thread, with a mark behind the pid in the name; none for
/// an event without a name. `place` is that of the name.
fn with_mark(event: &[u8], place: &str, pid: u32, mark: &str) -> Option<Value> {
    let mut event: Value = serde_json::from_slice(event).ok()?;
    let name = event.pointer_mut(place)?;
    let pid = format!("(pid {pid})");
    *name = name.as_str()?.replace(&pid, &format!("{pid}{mark}")).into();
    Some(event)
}
