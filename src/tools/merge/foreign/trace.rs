//! Traces of other tools, and merged traces: events pass unchanged, except for ids that other
//! inputs have too.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::event::ForeignEvent;
use super::page_frames::{FrameEvent, TraceFrames};
use super::profiles::ForeignProfiles;
use super::spans::OpenSpans;
use crate::merge::inputs::event::{EventChange, SoundEvent};
use crate::merge::inputs::foreign_pids::{ForeignPid, ForeignPids};
use crate::merge::inputs::host_process::{Home, OtherTrace};
use crate::merge::merger::Merger;
use crate::merge::outcome::MergeError;
use crate::merge::output::labels::ProcessLabel;
use crate::merge::output::linked_ids::ForeignIds;
use crate::merge::output::members::MergedFacts;
use crate::merge::output::part::OutputParts;
use crate::merge::output::process_track;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::event::event_names::{FRAMES, WHOLE_PROFILE};
use cpu_prof_core::format::trace::event::head::Member;
use cpu_prof_core::format::trace::own::is_merged_mark;
use cpu_prof_core::format::trace::scan::SoundItem;
use cpu_prof_core::format::trace::write::process_span::PROCESSES;
use cpu_prof_core::profile::program::Program;

/// The state of one such trace.
#[derive(Default)]
struct ForeignTrace {
    /// Index of the input.
    index: usize,
    home: Option<Home>,
    pids: ForeignPids,
    ids: ForeignIds,
    profiles: ForeignProfiles,
    process_names: FxHashMap<u32, String>,
    /// Facts about the processes of a merged trace.
    facts: Vec<Map<String, Value>>,
    threads: FxHashSet<(u32, u32)>,
    frames: TraceFrames,
    spans: OpenSpans,
    first_us: Option<i64>,
    change: EventChange,
}

impl Merger<'_> {
    /// Adds a trace that is not a recording.
    pub(crate) fn add_foreign(
        &mut self,
        other: &OtherTrace,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let input = &self.inputs[other.input];
        let Some(mut items) = self.open(input) else { return Ok(()) };
        let mut trace = ForeignTrace::new(other);
        loop {
            let is_own = items.is_own();
            match items.next() {
                Ok(Some(SoundItem::Event { text, head })) => {
                    trace.event(SoundEvent { text, head }, is_own, self, parts)?;
                }
                Ok(Some(SoundItem::Member { key, value })) => {
                    if key == "metadata"
                        && let Some(facts) = MergedFacts::read(value)
                    {
                        trace.facts = facts.processes;
                        self.members.sources.extend(facts.sources);
                    } else {
                        self.add_member(key, value, trace.ids, input)?;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.fail_midway(input, &error);
                    break;
                }
            }
        }
        trace.finish(parts)?;
        if items.is_damaged() || trace.profiles.broken > 0 {
            self.repaired(input);
        }
        let renumbered = std::mem::take(&mut trace.pids.renumbered).into_iter();
        self.renumbered.extend(renumbered.map(|(own, pid)| (input.path.clone(), own, pid)));
        trace.add_facts(self);
        if trace.first_us.is_some_and(|ts| self.processes.are_far_from(ts)) {
            self.far_pids.extend(trace.threads.iter().map(|(pid, _)| *pid));
            self.far.push(input.path.clone());
        }
        trace.add_to(&input.path, self);
        Ok(())
    }

    fn add_member(
        &mut self,
        key: &str,
        value: &[u8],
        ids: ForeignIds,
        input: &Input,
    ) -> Result<(), MergeError> {
        if is_merged_mark(key, value) {
            return Ok(());
        }
        let file = input.path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = self.members.add(key, value, ids, &file, self.output)? {
            self.result.notes.push(format!(
                "{}: its {key} have the name {name:?} in the trace, because another file has {key}",
                input.path.display()
            ));
        }
        Ok(())
    }
}

impl ForeignTrace {
    fn new(OtherTrace { input, id_space, home }: &OtherTrace) -> Self {
        let mut pids = ForeignPids::default();
        if let Some(home) = home {
            pids.set(home.own_pid.into(), home.pid);
        }
        let ids = ForeignIds::of_trace(*id_space);
        Self { index: *input, home: home.clone(), pids, ids, ..Self::default() }
    }

    /// Adds an event. `is_own` tells that this project wrote the trace.
    fn event(
        &mut self,
        sound: SoundEvent<'_>,
        is_own: bool,
        merger: &mut Merger<'_>,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let SoundEvent { text, head } = sound;
        // The track is made from the metadata, for the processes that are in the trace.
        if is_own && head.categories(text).any(|category| category == PROCESSES.as_bytes()) {
            return Ok(());
        }
        let own = head.written(Member::Pid, text).map(ForeignPid::read);
        let own_tid = head.tid(text);
        let recorded_tid = own_tid.and_then(|tid| self.recorded_tid(own.as_ref(), tid));
        let tid = recorded_tid.or(own_tid);
        if !self.is_chosen(sound, own.as_ref(), (tid, recorded_tid.is_some()), merger) {
            return Ok(());
        }
        let Merger { processes, labels, chosen, .. } = merger;
        let pid = own.map(|own| self.pids.pid(own, processes));
        let event = ForeignEvent { sound, pid, tid, ts: sound.ts() };
        if let Some(frames) = FrameEvent::read(sound.name(), text) {
            let (pids, index) = (&mut self.pids, self.index);
            let home = self.home.as_ref();
            let is_kept = |pid: u32| chosen.keeps_process(&Home::process(home, index, &pid.into()));
            let pid = |pid: u32| pids.pid(pid.into(), processes);
            return self.frames.add(frames, is_kept, pid, labels, parts);
        }
        if merger.mapped.take_map(sound) {
            return Ok(());
        }
        self.note(&event, parts)?;
        // The counters are those of all stacks.
        if sound.is_counter() && merger.rewriting.stacks.is_limited() {
            return Ok(());
        }
        let Self { profiles, change, .. } = self;
        let edit = &mut change.edit;
        edit.clear();
        if sound.is_profile() && !profiles.check(&event, &mut merger.mapped, edit) {
            return Ok(());
        }
        let id = profiles.new_id(&event, &mut merger.profile_ids);
        event.renumber(id.as_deref(), edit);
        self.ids.change(sound, edit);
        let line = change.apply(sound);
        merger.sizes.event(event.thread(), sound.name(), text);
        let is_rewritten =
            !merger.copies_profiles(parts) && profiles.rewrite(&event, line, id, merger, parts)?;
        if !is_rewritten {
            event.write(line, &mut self.spans, parts)?;
        }
        Ok(())
    }

    /// Returns whether an event's thread and categories go into the trace. `is_recorded` tells that
    /// another input has the thread.
    fn is_chosen(
        &self,
        event: SoundEvent<'_>,
        pid: Option<&ForeignPid>,
        (tid, is_recorded): (Option<u32>, bool),
        merger: &Merger<'_>,
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
            let home = self.home.as_ref().filter(|home| home.is_named && home.is_of(pid));
            if is_name && home.is_some() && (is_recorded || !is_of_thread) {
                return false;
            }
            if !merger.chosen.keeps_all() {
                let process = Home::process(self.home.as_ref(), self.index, pid);
                let is_kept = match is_of_thread {
                    true => merger.chosen.keeps_thread(process, tid.unwrap_or_default()),
                    false => merger.chosen.keeps_process(&process),
                };
                if !is_kept {
                    return false;
                }
            }
        }
        let is_chosen = |one: &[u8]| merger.categories.iter().any(|all| all.as_bytes() == one);
        merger.categories.is_empty()
            || is_name
            || event.is_profile()
            || name == WHOLE_PROFILE
            || event.is_counter()
            || event.head.categories(event.text).any(is_chosen)
    }

    /// Returns the thread id of a recorded thread.
    fn recorded_tid(&self, pid: Option<&ForeignPid>, tid: u32) -> Option<u32> {
        let home = self.home.as_ref().filter(|home| pid.is_some_and(|pid| home.is_of(pid)))?;
        home.recorded(tid)
    }

    /// Notes the thread, the time and the names that an event gives.
    fn note(
        &mut self,
        event: &ForeignEvent<'_>,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let Some(pid) = event.pid else { return Ok(()) };
        let ts = event.ts();
        if !event.sound.is_metadata() {
            if parts.slices.is_everything() || parts.slices.part(ts).is_some() {
                self.threads.insert((pid, event.tid.unwrap_or_default()));
            }
            if ts > 0 {
                self.first_us = Some(self.first_us.map_or(ts, |first| first.min(ts)));
            }
        }
        match (event.sound.name(), event.tid) {
            (b"process_name", _) => {
                if let Ok(value) = serde_json::from_slice::<Value>(event.sound.text)
                    && let Some(name) = value.pointer("/args/name").and_then(Value::as_str)
                {
                    self.process_names.insert(pid, name.to_owned());
                }
            }
            (b"thread.flush" | b"trace.end", Some(tid)) => {
                self.profiles.write_until(pid, tid, ts, parts)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the profiles that go into slices.
    fn finish(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        // Events whose only time is 0 count too.
        if self.first_us.is_none() && parts.slices.is_everything() {
            self.threads.iter().for_each(|(pid, _)| parts.list[0].note(*pid, 0));
        }
        self.spans.finish(parts)?;
        self.profiles.finish(parts)
    }

    /// Adds what a merged trace tells about its processes.
    fn add_facts(&mut self, merger: &mut Merger<'_>) {
        for mut facts in std::mem::take(&mut self.facts) {
            let Some(own) = facts.get("pid").and_then(Value::as_i64) else { continue };
            let key = ForeignPid::Number(own);
            if !merger.chosen.keeps_process(&Home::process(self.home.as_ref(), self.index, &key)) {
                continue;
            }
            let pid = self.pids.pid(key, &mut merger.processes);
            if let Some(cwd) = facts.get("cwd").and_then(Value::as_str) {
                merger.labels.set_cwd(pid, cwd);
            }
            if own != i64::from(pid) {
                facts.entry("ownPid").or_insert(own.into());
                facts.insert("pid".into(), pid.into());
            }
            let moved = merger.inputs[self.index].shift;
            process_track::shift(&mut facts, |us| moved.moved(us));
            merger.sizes.process(&facts);
            merger.facts.push((pid, facts));
        }
    }

    /// Counts the threads and processes. Processes that DevTools would leave out get a label.
    fn add_to(mut self, path: &Path, merger: &mut Merger<'_>) {
        let home = self.home.filter(|home| home.is_named);
        let is_recorded = |(pid, tid): &(u32, u32)| {
            home.as_ref().is_some_and(|home| home.pid == *pid && home.has(*tid))
        };
        let threads = self.threads.iter().filter(|thread| !is_recorded(thread));
        let new = threads.filter(|thread| merger.foreign_threads.insert(**thread));
        merger.result.threads += new.count();
        self.threads.retain(|(pid, _)| home.as_ref().is_none_or(|home| home.pid != *pid));
        let pids: FxHashSet<u32> = self.threads.iter().map(|(pid, _)| *pid).collect();
        if let Some(name) = merger.input_name(self.index) {
            pids.iter().for_each(|pid| merger.labels.set_name(*pid, name));
        }
        merger.result.processes += pids.len();
        if self.frames.is_named {
            return;
        }
        merger.generic.push(path.to_owned());
        let mut pids: Vec<u32> = pids.into_iter().collect();
        pids.sort_unstable();
        for pid in pids {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = self.process_names.remove(&pid).unwrap_or(file);
            let own = match self.pids.own(pid) {
                Some(ForeignPid::Number(own)) => u32::try_from(*own).unwrap_or(pid),
                _ => pid,
            };
            let argv = vec![String::new(), name];
            let program = Program { pid: own, argv, ..Program::default() };
            merger.labels.push(ProcessLabel {
                pid,
                url: program.url_label(),
                start_us: self.first_us.unwrap_or_default(),
                is_generic: true,
                ..ProcessLabel::default()
            });
        }
    }
}
