//! Trace events to profiles: our own, and Chrome's, of any order and state.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::format::node_json::{NodeJson, Number, id};
use crate::profile::builder::ProfileBuilder;
use crate::profile::frame_table::FrameTable;
use crate::profile::session::{Process, Thread};
use crate::profile::thread_profile::{ReadScope, ThreadProfile};

mod names;

use names::ProcessNames;

/// Reads the events of one file.
#[derive(Debug)]
pub(crate) struct TraceReader {
    wanted: ReadScope,
    names: BTreeMap<i64, ProcessNames>,
    /// Those that can still go on.
    open: Vec<OpenProfile>,
    /// Process, thread, source and profile of those that cannot.
    done: Vec<(i64, i64, ProfileOrigin, ThreadProfile)>,
    /// Events of a profile that could not be understood.
    strange: u64,
}

/// A profile that is being read.
#[derive(Debug)]
struct OpenProfile {
    pid: i64,
    id: String,
    tid: i64,
    source: ProfileOrigin,
    /// Whether its Profile event was there: only this one names the thread.
    is_announced: bool,
    /// From V8's clock to the trace's, microseconds.
    offset_us: i64,
    building: ProfileBuilder,
}

/// Who recorded. Chrome can have several record the same thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Default)]
enum ProfileOrigin {
    /// As DevTools itself does, and Node.
    Internal,
    #[default]
    Unknown,
    /// `console.profile()`
    Inspector,
    /// A page of itself.
    SelfProfiling,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct EventJson<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    pid: Number,
    #[serde(default)]
    tid: Number,
    #[serde(default)]
    ts: Number,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ArgsJson<'a> {
    #[serde(borrow)]
    data: DataJson<'a>,
}

/// What Profile and ProfileChunk events hold, each a part of it.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DataJson<'a> {
    start_time: Option<Number>,
    end_time: Option<Number>,
    source: ProfileOrigin,
    #[serde(borrow)]
    cpu_profile: Option<PartJson<'a>>,
    time_deltas: Option<Vec<Number>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartJson<'a> {
    #[serde(borrow)]
    nodes: Option<Vec<NodeJson<'a>>>,
    samples: Option<Vec<Number>>,
    time_deltas: Option<Vec<Number>>,
    start_time: Option<Number>,
    end_time: Option<Number>,
}

impl TraceReader {
    /// Nothing is read yet.
    pub(crate) fn new(wanted: ReadScope) -> Self {
        Self { wanted, names: BTreeMap::new(), open: Vec::new(), done: Vec::new(), strange: 0 }
    }

    /// An event's text.
    pub(crate) fn event(&mut self, text: &[u8], frames: &mut FrameTable) {
        // What is no event is nobody's loss.
        let Ok(event) = serde_json::from_slice::<EventJson<'_>>(text) else { return };
        let known = match &*event.name {
            "Profile" => self.profile(&event),
            "ProfileChunk" => self.chunk(&event, frames),
            "CpuProfile" => self.whole(&event, frames),
            "thread.flush" => {
                self.of_thread(&event, |building, ts| building.seen(ts));
                Ok(())
            }
            "trace.end" => {
                self.of_thread(&event, ProfileBuilder::ended);
                Ok(())
            }
            _ => {
                if let (name, Some(args)) = (&*event.name, event.args) {
                    ProcessNames::event(
                        &mut self.names,
                        name,
                        event.pid.0,
                        event.tid.0,
                        event.ts.0,
                        args,
                    );
                }
                Ok(())
            }
        };
        if known.is_err() {
            self.strange += 1;
        }
    }

    /// A member of the file's object, and its text.
    pub(crate) fn member(&mut self, key: &str, value: &[u8]) {
        if key == "metadata" {
            ProcessNames::metadata(&mut self.names, value);
        }
    }

    /// How many events of profiles could not be understood.
    pub(crate) fn strange(&self) -> u64 {
        self.strange
    }

    /// The processes that were recorded.
    pub(crate) fn finish(mut self) -> Vec<Process> {
        for open in std::mem::take(&mut self.open) {
            self.close(open);
        }
        // As DevTools does: of several recorders of one thread, one counts.
        let mut best: BTreeMap<(i64, i64), ProfileOrigin> = BTreeMap::new();
        for (pid, tid, source, _) in &self.done {
            let best = best.entry((*pid, *tid)).or_insert(*source);
            *best = (*best).min(*source);
        }
        let mut processes: BTreeMap<i64, BTreeMap<i64, Vec<ThreadProfile>>> = BTreeMap::new();
        for (pid, tid, source, profile) in self.done {
            if best.get(&(pid, tid)) == Some(&source) {
                processes.entry(pid).or_default().entry(tid).or_default().push(profile);
            }
        }
        let process = |(pid, threads): (i64, BTreeMap<i64, Vec<ThreadProfile>>)| {
            let names = self.names.remove(&pid).unwrap_or_default();
            let thread = |(id, profiles)| {
                let profiles = one_at_a_time(profiles);
                Thread { id, name: names.thread(id), profiles }
            };
            let threads = threads.into_iter().map(thread).collect();
            names.process(pid, threads)
        };
        processes.into_iter().map(process).collect()
    }

    /// A recording starts; its nodes' ids are new.
    fn profile(&mut self, event: &EventJson<'_>) -> serde_json::Result<()> {
        let data = data(event)?;
        let start_us = data.start_time.unwrap_or(event.ts).0;
        let offset_us = event.ts.0.saturating_sub(start_us);
        let index = self.find(event, event.ts.0);
        if self.open[index].is_announced && !self.open[index].building.is_empty() {
            let ended = self.open.swap_remove(index);
            self.close(ended);
        }
        let index = self.find(event, event.ts.0);
        let open = &mut self.open[index];
        (open.tid, open.is_announced, open.offset_us) = (event.tid.0, true, offset_us);
        open.source = data.source;
        open.building.starts(event.ts.0);
        Ok(())
    }

    fn chunk(&mut self, event: &EventJson<'_>, frames: &mut FrameTable) -> serde_json::Result<()> {
        let data = data(event)?;
        let part = data.cpu_profile.unwrap_or_default();
        let samples = part.samples.unwrap_or_default();
        let deltas = data.time_deltas.or(part.time_deltas).unwrap_or_default();
        // Without a Profile event, a chunk is known to end about when it was written.
        let length = deltas.iter().fold(0_i64, |sum, delta| sum.saturating_add(delta.0));
        let index = self.find(event, event.ts.0.saturating_sub(length));
        let open = &mut self.open[index];
        for node in part.nodes.unwrap_or_default() {
            node.announce(&mut open.building, frames);
        }
        push_samples(&mut open.building, &samples, &deltas, event.ts.0);
        if let Some(end) = data.end_time {
            open.building.seen(end.0.saturating_add(open.offset_us));
        }
        Ok(())
    }

    /// The older form: a whole `.cpuprofile` in one event.
    fn whole(&mut self, event: &EventJson<'_>, frames: &mut FrameTable) -> serde_json::Result<()> {
        let Some(part) = data(event)?.cpu_profile else { return Ok(()) };
        let start_us = part.start_time.unwrap_or(event.ts).0;
        let end_us = part.end_time.map_or(start_us, |end| end.0);
        let mut building = ProfileBuilder::new(start_us, self.wanted);
        for node in part.nodes.unwrap_or_default() {
            node.announce(&mut building, frames);
        }
        let deltas = part.time_deltas.unwrap_or_default();
        push_samples(&mut building, &part.samples.unwrap_or_default(), &deltas, end_us);
        building.seen(end_us);
        self.done.push((event.pid.0, event.tid.0, ProfileOrigin::default(), building.finish()));
        Ok(())
    }

    /// The profile that an event speaks of. One that is new starts then.
    fn find(&mut self, event: &EventJson<'_>, start_us: i64) -> usize {
        let (pid, id) = (event.pid.0, event.id.map_or("", RawValue::get));
        if let Some(index) = self.open.iter().position(|open| open.pid == pid && open.id == id) {
            return index;
        }
        self.open.push(OpenProfile {
            pid,
            id: id.to_owned(),
            tid: event.tid.0,
            source: ProfileOrigin::default(),
            is_announced: false,
            offset_us: 0,
            building: ProfileBuilder::new(start_us, self.wanted),
        });
        self.open.len() - 1
    }

    fn of_thread(&mut self, event: &EventJson<'_>, mut tell: impl FnMut(&mut ProfileBuilder, i64)) {
        for open in &mut self.open {
            if open.pid == event.pid.0 && open.tid == event.tid.0 {
                tell(&mut open.building, event.ts.0);
            }
        }
    }

    fn close(&mut self, open: OpenProfile) {
        self.done.push((open.pid, open.tid, open.source, open.building.finish()));
    }
}

/// Of profiles that were recorded side by side, as by `--cpu-prof` and a trace category, the one with
/// the most samples.
fn one_at_a_time(mut profiles: Vec<ThreadProfile>) -> Vec<ThreadProfile> {
    profiles.sort_by_key(|profile| Reverse(profile.sample_count));
    let mut kept: Vec<ThreadProfile> = Vec::with_capacity(profiles.len());
    for profile in profiles {
        if !kept.iter().any(|other| other.overlaps(&profile)) {
            kept.push(profile);
        }
    }
    kept.sort_by_key(|profile| profile.recorded_us);
    kept
}

/// Gives each sample its time. Where times are missing, the samples lie evenly between the last one,
/// or the start, and `until_us`.
pub(crate) fn push_samples(
    building: &mut ProfileBuilder,
    samples: &[Number],
    deltas: &[Number],
    until_us: i64,
) {
    let span_us = until_us.saturating_sub(building.last_us());
    let deltas = deltas_or_even(samples.len(), deltas, !building.has_samples(), span_us);
    for (sample, delta) in samples.iter().zip(deltas) {
        building.sample(id(*sample), delta);
    }
}

/// What passes before each of `count` samples. Where no times are given, the samples lie evenly in
/// `span_us`, and the very first at its start.
pub(crate) fn deltas_or_even(
    count: usize,
    given: &[Number],
    is_first: bool,
    span_us: i64,
) -> impl Iterator<Item = i64> {
    let even = span_us.max(0) / i64::try_from(count).unwrap_or(i64::MAX).max(1);
    (0..count).map(move |index| match given.get(index) {
        Some(delta) => delta.0,
        None if given.is_empty() && !(is_first && index == 0) => even,
        None => 0,
    })
}

fn data<'a>(event: &EventJson<'a>) -> serde_json::Result<DataJson<'a>> {
    let Some(args) = event.args else { return Ok(DataJson::default()) };
    Ok(serde_json::from_str::<ArgsJson<'a>>(args.get())?.data)
}

#[cfg(test)]
mod tests;
