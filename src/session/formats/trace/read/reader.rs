//! Reads the events of a trace: ours and Chrome's, in any order and state.

use std::collections::BTreeMap;
use std::mem;

use super::finished::{FinishedProfile, of_one_origin, one_at_a_time};
use super::open_profile::OpenProfile;
use super::process_names::TraceNames;
use super::series_events;
use super::side_events::{self, cpu_times};
use crate::formats::deltas::push_samples;
use crate::formats::source_map::recorded::read_args;
use crate::formats::trace::event::chunk_json::{ChunkJson, ProfileOrigin};
use crate::formats::trace::event::event_json::EventJson;
use crate::formats::trace::event::event_times::TraceTimes;
use crate::formats::trace::event::head::EventHead;
use crate::formats::trace::event::recorded_profile::RecordedProfile;
use crate::model::builder::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use crate::model::native::within;
use crate::model::thread_profile::ThreadProfile;
use crate::model::{Process, ScriptKey, Thread};
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use cpu_prof_core::format::trace::write::met_condition::CONDITION_MARK;
use cpu_prof_core::format::trace::write::unrecorded::UNRECORDED_PROGRAMS;
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_core::profile::read_scope::ReadScope;

/// Reads the events of one file.
#[derive(Debug, Clone)]
pub struct TraceReader {
    scope: ReadScope,
    names: TraceNames,
    recorded: RecordedProfile,
    /// Profiles that can go on.
    open: Vec<OpenProfile>,
    finished: Vec<FinishedProfile>,
    /// The counters of threads at the starts of recordings, whose profiles follow.
    starts: BTreeMap<(i64, i64), (i64, CpuTimes)>,
    times: TraceTimes,
    script_maps: Vec<(ScriptKey, String)>,
    labels: LabelTable,
    unreadable_events: u64,
}

impl TraceReader {
    /// Returns a reader that has read nothing yet.
    pub fn new(scope: ReadScope) -> Self {
        Self {
            scope,
            names: TraceNames::default(),
            recorded: RecordedProfile::default(),
            open: Vec::new(),
            finished: Vec::new(),
            starts: BTreeMap::new(),
            times: TraceTimes::default(),
            script_maps: Vec::new(),
            labels: LabelTable::default(),
            unreadable_events: 0,
        }
    }

    /// Sets the part of the recordings that is kept of the events from now on. The scope needs lines and
    /// has no steps, as the one before.
    pub fn set_scope(&mut self, scope: ReadScope) {
        self.scope = scope;
        self.open.iter_mut().for_each(|open| open.builder.set_scope(scope));
    }

    /// Forgets the first nodes of the profile that goes on, up to an index, as far as no other node needs
    /// them. Returns the count of the nodes that are left.
    pub fn forget_nodes(&mut self, before: usize) -> usize {
        self.open.first_mut().map_or(0, |open| {
            open.builder.forget_nodes(before);
            open.builder.node_count()
        })
    }

    /// Returns the count of the nodes of profiles that go on.
    pub fn node_count(&self) -> usize {
        self.open.iter().map(|open| open.builder.node_count()).sum()
    }

    /// Reads an event. Skips events of no process. `is_ours` tells that the event is in a trace of ours.
    pub fn event(&mut self, text: &[u8], head: &EventHead, is_ours: bool, frames: &mut FrameTable) {
        if !self.recorded.has(head, text) {
            self.unreadable_events += 1;
            return;
        }
        self.times.event(head, text);
        let Some(event) = EventJson::read(text, head) else { return };
        if self.scope.steps {
            self.add_to_series(text, head, &event);
        }
        let result = match &*event.name {
            "Profile" => self.start(&event),
            "ProfileChunk" => self.chunk(&event, frames),
            "CpuProfile" => self.whole_profile(&event, frames),
            "thread.start" => self.thread_start(&event),
            "thread.flush" => self.flush(&event),
            // In our traces, heartbeats have the totals of all collections.
            "MinorGC" | "MajorGC" if !is_ours => {
                let collection = side_events::collection(&event);
                self.each_of_thread(&event, |builder, time_us| {
                    builder.add_collections(time_us, collection);
                })
            }
            name if is_ours && name.starts_with(side_events::MEMORY) => {
                let Some(memory) = side_events::memory(&event) else { return };
                self.each_of_thread(&event, |builder, time_us| builder.add_memory(time_us, memory))
            }
            "native.threads" if is_ours => {
                let Some(span) = side_events::native_threads(&event) else { return };
                let (pid, tid, span) = (event.pid.0, event.tid.0, within(&span, self.scope));
                let is_of = |open: &&mut OpenProfile| open.pid == pid && open.tid == tid;
                for open in self.open.iter_mut().filter(is_of) {
                    open.native.extend(span.clone());
                }
                Ok(())
            }
            "trace.end" => {
                self.names.ended(&event);
                let collections = side_events::collections_of_flush(&event);
                self.each_of_thread(&event, |builder, time_us| {
                    if let Some(times) = cpu_times(&event) {
                        builder.read_cpu(time_us, times);
                    }
                    if let Some(collections) = collections {
                        builder.add_collections(time_us, collections);
                    }
                    builder.end_at(time_us);
                })
            }
            "TimeStamp" if is_ours => {
                if let Some(span) = side_events::compiler_span(&event) {
                    let is_of = |open: &&mut OpenProfile| open.is_of(&event);
                    self.open.iter_mut().filter(is_of).for_each(|open| open.compiled(&span));
                }
                Ok(())
            }
            name if is_ours && name.starts_with(CONDITION_MARK) => {
                self.names.met_condition(&event);
                Ok(())
            }
            UNRECORDED_PROGRAMS if is_ours => {
                self.names.unrecorded(&event);
                Ok(())
            }
            SCRIPT_SOURCE_MAP => {
                self.script_maps.extend(event.args.and_then(read_args));
                Ok(())
            }
            _ => {
                self.names.event(&event);
                Ok(())
            }
        };
        self.unreadable_events += u64::from(result.is_err());
    }

    /// Reads a member of the file's object.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        if key == "metadata" {
            self.names.metadata(value);
        }
        self.recorded.member(key, value);
        self.times.member(key, value);
    }

    /// Returns whether the trace is the recording of one thread.
    pub fn is_recording(&self) -> bool {
        self.recorded.has_begun()
    }

    /// Takes the source maps of scripts out.
    pub fn take_script_maps(&mut self) -> Vec<(ScriptKey, String)> {
        mem::take(&mut self.script_maps)
    }

    /// Takes the label sets of all profiles out.
    pub fn take_labels(&mut self) -> LabelTable {
        mem::take(&mut self.labels)
    }

    /// Returns the count of profile events that could not be read.
    pub fn unreadable_events(&self) -> u64 {
        self.unreadable_events
    }

    /// Returns the processes that have profiles.
    pub fn finish(self) -> Vec<Process> {
        self.finish_with_times().0
    }

    /// Returns the processes that have profiles, and the times of all events and samples.
    pub fn finish_with_times(mut self) -> (Vec<Process>, TraceTimes) {
        self.finished.extend(mem::take(&mut self.open).into_iter().map(OpenProfile::finish));
        let (mut names, mut times) = (self.names, self.times);
        let process = |(pid, threads): (i64, BTreeMap<i64, Vec<ThreadProfile>>)| {
            let names = names.take(pid);
            let thread = |(id, profiles)| {
                let profiles = one_at_a_time(profiles);
                times.profiles(pid, &profiles);
                let recording_label = names.recording_label(id);
                let (name, start) = (names.thread(id), names.start(id));
                Thread { id, name, recording_label, start, profiles }
            };
            let threads = threads.into_iter().map(thread).collect();
            names.process(pid, threads)
        };
        let processes = of_one_origin(self.finished).into_iter().map(process).collect();
        (processes, times)
    }

    /// Reads a Profile event: a recording starts, with nodes of its own.
    fn start(&mut self, event: &EventJson<'_>) -> serde_json::Result<()> {
        let chunk = ChunkJson::from_args(event.args)?;
        let start_us = chunk.start_time.map_or(event.ts.0, |start| start.0);
        let mut index = self.find(event, event.ts.0);
        if self.open[index].is_announced && !self.open[index].builder.is_empty() {
            let ended = self.open.swap_remove(index);
            self.finished.push(ended.finish());
            index = self.find(event, event.ts.0);
        }
        let open = &mut self.open[index];
        (open.tid, open.origin, open.is_announced) = (event.tid.0, chunk.source, true);
        open.offset_us = event.ts.0.saturating_sub(start_us);
        open.builder.set_start(event.ts.0);
        if let Some((time_us, times)) = self.starts.remove(&(event.pid.0, event.tid.0)) {
            open.builder.begin_cpu(time_us, times);
            open.series.iter_mut().for_each(|series| series.begin_cpu(time_us, times));
        }
        Ok(())
    }

    /// Reads a thread.start event: a recording starts. In a merged trace, the recording can go on with
    /// the profile of an earlier one.
    fn thread_start(&mut self, event: &EventJson<'_>) -> serde_json::Result<()> {
        let Some(times) = cpu_times(event) else { return Ok(()) };
        let (pid, tid, time_us) = (event.pid.0, event.tid.0, event.ts.0);
        let is_open = |open: &OpenProfile| open.pid == pid && open.tid == tid && open.is_announced;
        if self.open.iter().any(is_open) {
            return self.each_of_thread(event, |builder, _| builder.begin_cpu(time_us, times));
        }
        self.starts.insert((pid, tid), (time_us, times));
        Ok(())
    }

    /// Reads a heartbeat: counters up to now, and the collections since the last heartbeat.
    fn flush(&mut self, event: &EventJson<'_>) -> serde_json::Result<()> {
        let (times, collections) = (cpu_times(event), side_events::collections_of_flush(event));
        if let Some(lost) = side_events::lost_time(event) {
            let times = times.unwrap_or_default();
            return self.each_of_thread(event, |builder, us| builder.end_gap(us, lost, times));
        }
        self.each_of_thread(event, |builder, time_us| {
            builder.extend_to(time_us);
            if let Some(times) = times {
                builder.read_cpu(time_us, times);
            }
            if let Some(collections) = collections {
                builder.add_collections(time_us, collections);
            }
        })
    }

    /// Adds an event to the series of the event's thread.
    fn add_to_series(&mut self, text: &[u8], head: &EventHead, event: &EventJson<'_>) {
        for open in &mut self.open {
            if open.pid == event.pid.0
                && open.tid == event.tid.0
                && let Some(series) = &mut open.series
            {
                series_events::add(series, text, head, event);
            }
        }
    }

    /// Reads a ProfileChunk event.
    fn chunk(&mut self, event: &EventJson<'_>, frames: &mut FrameTable) -> serde_json::Result<()> {
        let chunk = ChunkJson::from_args(event.args)?;
        // Without a Profile event, a chunk is known to end about when it was written.
        let index = self.find(event, event.ts.0.saturating_sub(chunk.length_us()));
        let open = &mut self.open[index];
        open.labels.announce(chunk.label_sets, &mut self.labels);
        let labels = open.labels.numbers(chunk.labels);
        add_samples(&chunk, &mut open.builder, &labels, event.ts.0, frames);
        if let Some(end) = chunk.end_time {
            open.builder.extend_to(end.0.saturating_add(open.offset_us));
        }
        Ok(())
    }

    /// Reads a CpuProfile event, which older versions of Chrome write: a whole `.cpuprofile`.
    fn whole_profile(
        &mut self,
        event: &EventJson<'_>,
        frames: &mut FrameTable,
    ) -> serde_json::Result<()> {
        let chunk = ChunkJson::from_args(event.args)?;
        let Some(profile) = &chunk.cpu_profile else { return Ok(()) };
        let start_us = profile.start_time.map_or(event.ts.0, |start| start.0);
        let end_us = profile.end_time.map_or(start_us, |end| end.0);
        let mut builder = ProfileBuilder::new(start_us, self.scope);
        add_samples(&chunk, &mut builder, &[], end_us, frames);
        builder.extend_to(end_us);
        self.finished.push(FinishedProfile {
            pid: event.pid.0,
            tid: event.tid.0,
            origin: ProfileOrigin::default(),
            profile: builder.finish(),
        });
        Ok(())
    }

    /// Returns the index of the event's profile in `open`. A new profile starts at `start_us`.
    fn find(&mut self, event: &EventJson<'_>, start_us: i64) -> usize {
        let (pid, id) = (event.pid.0, event.id.unwrap_or_default());
        if let Some(index) = self.open.iter().position(|open| open.pid == pid && open.id == id) {
            return index;
        }
        self.open.push(OpenProfile::new(event, start_us, self.scope));
        self.open.len() - 1
    }

    /// Tells the profiles of the event's thread the event's time.
    fn each_of_thread(
        &mut self,
        event: &EventJson<'_>,
        tell: impl Fn(&mut ProfileBuilder, i64),
    ) -> serde_json::Result<()> {
        for open in self.open.iter_mut().filter(|open| open.is_of(event)) {
            tell(&mut open.builder, event.ts.0);
        }
        Ok(())
    }
}

/// Adds nodes and samples, of which the last is not after `until_us` where times are missing.
fn add_samples(
    chunk: &ChunkJson<'_>,
    builder: &mut ProfileBuilder,
    labels: &[u32],
    until_us: i64,
    frames: &mut FrameTable,
) {
    for node in chunk.nodes() {
        node.announce(builder, frames);
    }
    let mut positions = Vec::new();
    if builder.has_lines() {
        positions = chunk.positions();
        if positions.is_empty() {
            positions = builder.take_positions(chunk.samples().iter().map(|id| id.0));
        }
    }
    let position = |index: usize| positions.get(index).copied().unwrap_or_default();
    push_samples(builder, chunk.samples(), chunk.deltas(), position, labels, until_us);
}

#[cfg(test)]
mod tests;
