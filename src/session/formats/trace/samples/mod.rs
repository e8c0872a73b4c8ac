//! Samples that stand beside the events of a trace, or are events of their own: the Global Samples of the Trace
//! Event Format, which Hermes and perf's converters write. All tools read them as profiles of their threads.

mod frame_name;
mod frames;
mod profile;

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use self::frames::{SampleFrames, id_of};
use self::profile::{PlacedSample, profile_events};
use super::event::head::{EventHead, Member};
use cpu_prof_core::format::json_walk::{find_member, walk_list};
use cpu_prof_core::format::number::{as_time, or_none};
use cpu_prof_core::format::trace::event_names::{PROFILE_EVENTS, WHOLE_PROFILE};

/// The most threads that are read. Real traces have some dozens.
const MAX_THREADS: usize = 500;

/// The samples of one trace.
#[derive(Debug, Default)]
pub struct GlobalSamples {
    frames: SampleFrames,
    /// Samples by process, if they name one, and thread.
    threads: BTreeMap<(Option<u32>, u32), Vec<PlacedSample>>,
    /// Processes by the threads of events.
    pids: FxHashMap<u32, u32>,
    /// Process of the first event, if an event names one.
    first_pid: Option<u32>,
    /// Process and thread of the last event, as they are written.
    last_ids: Box<[u8]>,
    /// What is wrong with the samples.
    pub problems: SampleProblems,
}

/// Counts of what is wrong with samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleProblems {
    /// Samples that no tool can place: without a thread, a time or a stack, or of too many threads.
    pub lost: u64,
    /// Samples whose stack frame is not known.
    pub without_stack: u64,
    /// Stack frames that cannot be read.
    pub broken_frames: u64,
    /// Stack frames whose callers are not known.
    pub without_caller: u64,
    /// Stack frames that are among their own callers.
    pub circles: u64,
}

/// A sample as it is written.
#[derive(Deserialize)]
struct SampleJson<'a> {
    #[serde(default, deserialize_with = "or_none")]
    pid: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    tid: Option<i64>,
    #[serde(borrow, default)]
    ts: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sf: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stack: Option<&'a RawValue>,
}

impl GlobalSamples {
    /// Returns whether a member of a trace's object is the list of samples: that of a `.cpuprofile` has numbers.
    pub fn is_list(key: &str, value: &[u8]) -> bool {
        let items = value.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        key == "samples" && items.is_some_and(|items| items.starts_with(b"{"))
    }

    /// Reads a member of a trace's object.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        match key {
            "stackFrames" => self.frames.add(value),
            _ if Self::is_list(key, value) => {
                let walked = walk_list(value, |item| self.sample(&value[item]));
                self.problems.lost += u64::from(walked.is_err());
            }
            _ => {}
        }
    }

    /// Reads an event, which can be a sample, and names the process of its thread.
    pub fn event(&mut self, head: &EventHead, event: &[u8]) {
        let written = |member| head.written(member, event).unwrap_or_default();
        let (pid, tid) = (written(Member::Pid), written(Member::Tid));
        let (pid_length, all) = (pid.len(), pid.len() + tid.len());
        let is_last = self.last_ids.len() == all
            && &self.last_ids[..pid_length] == pid
            && &self.last_ids[pid_length..] == tid;
        if !is_last {
            self.last_ids = [pid, tid].concat().into();
            if let Some(pid) = head.pid(event).and_then(|pid| u32::try_from(pid).ok()) {
                self.first_pid.get_or_insert(pid);
                if let Some(tid) = head.number(Member::Tid, event) {
                    self.pids.entry(thread_id(tid.0)).or_insert(pid);
                }
            }
        }
        if head.phase == b'P' && is_sample(head, event) {
            self.sample(event);
        }
    }

    /// Returns the count of the samples that have a place.
    pub fn count(&self) -> usize {
        self.threads.values().map(Vec::len).sum()
    }

    /// Returns the count of the threads that have samples.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    fn sample(&mut self, text: &[u8]) {
        if self.place(text).is_none() {
            self.problems.lost += 1;
        }
    }

    /// Adds a sample to its thread; none for a sample that cannot be placed.
    fn place(&mut self, text: &[u8]) -> Option<()> {
        let sample: SampleJson<'_> = serde_json::from_slice(text).ok()?;
        let (tid, pid) = (thread_id(sample.tid?), sample.pid.map(thread_id));
        let at_us = as_time(id_of(sample.ts?)?.parse().ok()?)?.round() as i64;
        let frame = match (sample.sf.and_then(id_of), sample.stack) {
            (Some(id), _) => self.frames.by_id(id),
            (None, Some(list)) => {
                let names: Vec<Cow<'_, str>> = serde_json::from_str(list.get()).unwrap_or_default();
                self.frames.of_list(&names)
            }
            (None, None) => return None,
        };
        let thread = (pid, tid);
        if self.threads.len() >= MAX_THREADS && !self.threads.contains_key(&thread) {
            return None;
        }
        self.threads.entry(thread).or_default().push(PlacedSample { at_us, frame });
        Some(())
    }

    /// Finds what is wrong with the stacks of all samples.
    pub fn check(&mut self) {
        let (circles, without_caller) = self.frames.end_stacks();
        let has_stack = |sample: &&PlacedSample| {
            self.frames.get(sample.frame).is_some_and(|frame| frame.call_frame.is_some())
        };
        let samples = self.threads.values().flatten();
        let without_stack = samples.filter(|sample| !has_stack(sample)).count() as u64;
        let broken_frames = self.frames.broken;
        let problems = SampleProblems { circles, without_caller, without_stack, ..self.problems };
        self.problems = SampleProblems { broken_frames, ..problems };
    }

    /// Takes the samples out as events of profiles, the last first.
    pub(crate) fn take_events(&mut self) -> Vec<Vec<u8>> {
        if self.threads.is_empty() {
            return Vec::new();
        }
        self.check();
        let mut threads: BTreeMap<(u32, u32), Vec<PlacedSample>> = BTreeMap::new();
        // A process has the id of its main thread, which is the first.
        let first_tid = self.threads.keys().map(|(_, tid)| *tid).min();
        for ((pid, tid), samples) in std::mem::take(&mut self.threads) {
            let pid = pid.or_else(|| self.pids.get(&tid).copied());
            let pid = pid.or(self.first_pid).or(first_tid).unwrap_or_default();
            threads.entry((pid, tid)).or_default().extend(samples);
        }
        let mut events = Vec::new();
        for (thread, samples) in threads {
            profile_events(thread, samples, &self.frames, &mut events);
        }
        events.reverse();
        events
    }
}

/// Returns an id of 32 bits: some systems have larger ones.
fn thread_id(id: i64) -> u32 {
    id as u32
}

/// Returns whether an event is a sample and no part of a profile of V8.
fn is_sample(head: &EventHead, event: &[u8]) -> bool {
    let name = head.name(event);
    let is_profile = PROFILE_EVENTS.contains(&name) || name == WHOLE_PROFILE;
    let has_stack =
        || head.place(Member::StackFrame).is_some() || find_member(event, "stack").is_some();
    !is_profile && has_stack()
}

#[cfg(test)]
mod tests;
