//! Traces of other tools, and merged traces: events pass unchanged, except for ids that other
//! inputs have too.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::event::ForeignEvent;
use super::page_frames::{FrameEvent, TraceFrames};
use super::pids::ForeignPids;
use super::profiles::ForeignProfiles;
use super::seen_threads::SeenThreads;
use super::spans::OpenSpans;
use crate::merge::findings::findings::{MergeFindings, Reading};
use crate::merge::findings::left_out::LeftOut;
use crate::merge::findings::thread_cpu::ThreadCpus;
use crate::merge::inputs::clean::clean;
use crate::merge::inputs::event::{EventChange, SoundEvent};
use crate::merge::inputs::foreign_pid::ForeignPid;
use crate::merge::inputs::merge_inputs::MergeInputs;
use crate::merge::inputs::other_trace::OtherTrace;
use crate::merge::inputs::recorded_processes::program_of_script;
use crate::merge::output::linked_ids::ForeignIds;
use crate::merge::output::merge_output::MergeOutput;
use crate::merge::output::process_labels::{Labels, ProcessLabel};
use crate::merge::output::stack_frames::STACK_FRAMES;
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::format::trace::event_names::{FRAMES, PROCESSES, WHOLE_PROFILE};
use cpu_prof_core::format::trace::ours::OurMember;
use cpu_prof_core::format::trace::write::thread_names::is_as_worker;
use cpu_prof_session::formats::trace::clean_facts::clean_facts;
use cpu_prof_session::formats::trace::event::head::Member;
use cpu_prof_session::formats::trace::samples::GlobalSamples;
use cpu_prof_session::formats::trace::scan::SoundItem;

/// The state of one such trace.
struct ForeignTrace<'a> {
    source: &'a OtherTrace,
    pids: ForeignPids,
    ids: ForeignIds,
    profiles: ForeignProfiles,
    frames: TraceFrames,
    spans: OpenSpans,
    seen: SeenThreads,
    change: EventChange,
}

/// Adds a trace that is not a recording.
pub(crate) fn add_trace(
    source: &OtherTrace,
    inputs: &MergeInputs<'_>,
    output: &mut MergeOutput,
    findings: &mut MergeFindings,
) -> Result<(), MergeError> {
    let file = inputs.file(source.input);
    let mut items = match inputs.open(source.input) {
        Ok(items) => items,
        Err(error) => {
            findings.note_reading(file, Reading::Failed(error));
            return Ok(());
        }
    };
    let mut trace = ForeignTrace::new(source);
    let mut merged = Vec::new();
    let mut left_out = LeftOut::default();
    loop {
        let is_ours = items.is_ours();
        match items.next() {
            Ok(Some(SoundItem::Event { text, head })) => {
                let event = SoundEvent { text, head };
                trace.event(event, is_ours, inputs, output, &mut findings.cpus)?;
            }
            Ok(Some(SoundItem::Member { key, value })) => {
                if key == STACK_FRAMES {
                    output.stack_frames.add(value, trace.ids)?;
                } else if let Some(processes) = merged_processes(key, value) {
                    merged = processes;
                } else if !GlobalSamples::is_list(key, value) {
                    left_out.member(key, value);
                }
            }
            Ok(None) => break,
            Err(error) => {
                findings.note_reading(file, Reading::Cut(error));
                break;
            }
        }
    }
    trace.finish(&mut output.trace)?;
    (left_out.events, left_out.samples) = (items.left_out(), items.sample_problems().lost);
    left_out.events += trace.profiles.broken;
    findings.note_left_out(file, &left_out);
    if items.is_damaged() || trace.profiles.broken > 0 {
        findings.note_reading(file, Reading::Damaged);
    }
    findings.note_renumbered(&file.path, trace.pids.renumbered.drain(..));
    for facts in merged {
        trace.merged_process(facts, inputs, output);
    }
    if trace.seen.first_us.is_some_and(|ts| inputs.are_far_from(ts)) {
        output.far_pids.extend(trace.seen.pids());
        findings.note_far(&file.path);
    }
    trace.count(inputs, &mut output.labels, findings);
    Ok(())
}

/// Returns the facts about the processes of a merged trace from a member of its object; none if the
/// member has no such facts.
fn merged_processes(key: &str, value: &[u8]) -> Option<Vec<Map<String, Value>>> {
    #[derive(Deserialize)]
    struct MergedFacts {
        processes: Vec<Map<String, Value>>,
    }
    if key != "metadata" {
        return None;
    }
    let OurMember { facts } = serde_json::from_slice::<OurMember<MergedFacts>>(value).ok()?;
    Some(facts.processes)
}

impl<'a> ForeignTrace<'a> {
    fn new(source: &'a OtherTrace) -> Self {
        let mut pids = ForeignPids::default();
        if let Some(host) = &source.host {
            pids.set(host.foreign_pid.clone(), host.pid);
        }
        Self {
            source,
            pids,
            ids: ForeignIds::of_trace(source.id_space),
            profiles: ForeignProfiles::default(),
            frames: TraceFrames::default(),
            spans: OpenSpans::default(),
            seen: SeenThreads::default(),
            change: EventChange::default(),
        }
    }

    /// Adds an event. `is_ours` tells that this project wrote the trace.
    fn event(
        &mut self,
        sound: SoundEvent<'_>,
        is_ours: bool,
        inputs: &MergeInputs<'_>,
        output: &mut MergeOutput,
        cpus: &mut ThreadCpus,
    ) -> Result<(), MergeError> {
        let SoundEvent { text, head } = sound;
        // The track is made from the metadata, for the processes that are in the trace.
        if is_ours && head.categories(text).any(|category| category == PROCESSES.as_bytes()) {
            return Ok(());
        }
        // The merge chooses anew which main threads it names as workers.
        if is_ours && is_as_worker(text, head.name(text), head.ts(text)) {
            return Ok(());
        }
        let foreign_pid = head.written(Member::Pid, text).map(ForeignPid::read);
        let foreign_tid = head.tid(text);
        let recorded_tid = foreign_pid
            .as_ref()
            .zip(foreign_tid)
            .and_then(|(pid, tid)| self.source.recorded_thread(pid, tid));
        let tid = recorded_tid.or(foreign_tid);
        if !self.is_chosen(sound, foreign_pid.as_ref(), (tid, recorded_tid.is_some()), inputs) {
            return Ok(());
        }
        let options = inputs.options();
        let pid = foreign_pid.map(|foreign| self.pids.pid(foreign, &mut output.pids));
        let mut event = ForeignEvent { sound, pid, tid, ts: sound.ts() };
        if let Some(frames) = FrameEvent::read(sound) {
            let Self { source, pids, .. } = self;
            let is_kept = |pid: u32| inputs.chosen().keeps_process(&source.process(&pid.into()));
            let MergeOutput { trace, labels, pids: taken, .. } = output;
            let pid = |pid: u32| pids.pid(pid.into(), taken);
            return self.frames.add(frames, is_kept, pid, labels, trace);
        }
        if output.frames.take_map(sound) {
            return Ok(());
        }
        self.seen.note(&event, &output.trace);
        if let (b"thread.flush" | b"trace.end", Some(pid), Some(tid)) = (sound.name(), pid, tid) {
            self.profiles.write_until(pid, tid, event.ts(), &mut output.trace)?;
        }
        // The counters are those of all stacks.
        if sound.is_counter() && options.filter.limits_samples() {
            return Ok(());
        }
        let Self { profiles, change, .. } = self;
        let edit = &mut change.edit;
        edit.clear();
        if sound.is_profile() && !profiles.check(&mut event, &mut output.frames, edit) {
            return Ok(());
        }
        let id = profiles.new_id(&event, &mut output.profile_ids);
        event.renumber(id.as_deref(), edit);
        self.ids.change(sound, edit);
        clean(sound, edit);
        let line = change.apply(sound);
        cpus.event(event.thread(), sound.name(), text);
        if !output.copies_profiles(options)
            && profiles.rewrite(&event, line, id, options, output)?
        {
            return Ok(());
        }
        event.write(line, &mut self.spans, &mut output.trace)
    }

    /// Returns whether an event's thread and categories go into the trace. `is_recorded` tells that
    /// another input has the thread.
    fn is_chosen(
        &self,
        event: SoundEvent<'_>,
        pid: Option<&ForeignPid>,
        (tid, is_recorded): (Option<u32>, bool),
        inputs: &MergeInputs<'_>,
    ) -> bool {
        let name = event.name();
        // Their processes are in the arguments.
        if FRAMES.contains(&name) {
            return true;
        }
        let is_name = event.is_metadata();
        let is_of_thread = !is_name || name.starts_with(b"thread_");
        if let Some(pid) = pid {
            // Another input names the process, and the recorded threads.
            if is_name && (is_recorded || !is_of_thread) && self.source.is_named_elsewhere(pid) {
                return false;
            }
            let chosen = inputs.chosen();
            if !chosen.keeps_all() {
                let process = self.source.process(pid);
                let is_kept = match is_of_thread {
                    true => chosen.keeps_thread(process, tid.unwrap_or_default()),
                    false => chosen.keeps_process(&process),
                };
                if !is_kept {
                    return false;
                }
            }
        }
        let categories = &inputs.options().categories;
        let is_chosen = |one: &[u8]| categories.iter().any(|all| all.as_bytes() == one);
        categories.is_empty()
            || is_name
            || event.is_profile()
            || name == WHOLE_PROFILE
            || event.is_counter()
            || event.head.categories(event.text).any(is_chosen)
    }

    /// Ends the profiles and the spans of a slice.
    fn finish(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        self.seen.finish(trace);
        self.spans.finish(trace)?;
        self.profiles.finish(trace)
    }

    /// Adds what a merged trace tells about one of its processes.
    fn merged_process(
        &mut self,
        mut facts: Map<String, Value>,
        inputs: &MergeInputs<'_>,
        output: &mut MergeOutput,
    ) {
        clean_facts(&mut facts);
        let Some(number) = facts.get("pid").and_then(Value::as_i64) else { return };
        let foreign = ForeignPid::Number(number);
        if !inputs.chosen().keeps_process(&self.source.process(&foreign)) {
            return;
        }
        let pid = self.pids.pid(foreign, &mut output.pids);
        if let Some(cwd) = facts.get("cwd").and_then(Value::as_str) {
            output.labels.set_cwd(pid, cwd);
        }
        if number != i64::from(pid) {
            facts.entry("ownPid").or_insert(number.into());
            facts.insert("pid".into(), pid.into());
        }
        output.merged_facts.push((pid, facts));
    }

    /// Counts the threads and processes. Processes that DevTools would leave out get a label.
    fn count(
        &mut self,
        inputs: &MergeInputs<'_>,
        labels: &mut Labels,
        findings: &mut MergeFindings,
    ) {
        let pids = self.seen.new_processes(self.source);
        findings.count_foreign(pids.len(), self.seen.unrecorded(self.source));
        if let Some(name) = inputs.name(self.source.input) {
            pids.iter().for_each(|pid| labels.set_name(*pid, name));
        }
        if self.frames.is_named {
            return;
        }
        let is_generic = !self.frames.lacks_list;
        if is_generic {
            findings.note_generic(&inputs.file(self.source.input).path);
        }
        for pid in pids {
            let name = self.seen.take_name(pid);
            let name = name.unwrap_or_else(|| inputs.file_name(self.source.input).into_owned());
            let foreign_pid = self.pids.foreign(pid).and_then(ForeignPid::as_number);
            labels.push(ProcessLabel {
                pid,
                url: program_of_script(foreign_pid.unwrap_or(pid), Some(name)).url_label(),
                start_us: self.seen.first_us.unwrap_or_default(),
                is_generic,
                ..ProcessLabel::default()
            });
        }
    }
}
