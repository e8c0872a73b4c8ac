//! The times of a trace's events, by process.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::chunk_json::ChunkJson;
use super::event_names::WHOLE_PROFILE;
use super::head::EventHead;
use crate::format::trace::ours::OurMember;

/// The first and the last time of events.
#[derive(Debug, Default, Clone, Copy)]
pub struct EventSpan {
    /// Times apart from 0, microseconds.
    range: Option<(i64, i64)>,
    has_zero: bool,
    /// Latest end of an event that lasts, microseconds.
    end_us: i64,
}

impl EventSpan {
    /// Adds an event: its time, and how long the event lasts, microseconds.
    pub fn add(&mut self, ts: i64, dur: i64) {
        self.has_zero |= ts == 0;
        if ts > 0 {
            let (first, last) = self.range.get_or_insert((ts, ts));
            (*first, *last) = (ts.min(*first), ts.max(*last));
        }
        self.end_us = self.end_us.max(ts.saturating_add(dur));
    }

    /// Returns whether the times count from 0. The times of a system's clock are far from 0.
    pub fn is_from_zero(&self) -> bool {
        const NEAR_US: i64 = 60_000_000;
        self.has_zero && self.range.is_none_or(|(first, _)| first < NEAR_US)
    }

    /// Returns the first and the last time, microseconds; none if no event has a time.
    pub fn get(&self) -> Option<(i64, i64)> {
        match self.range {
            None => self.has_zero.then_some((0, self.end_us.max(0))),
            Some((first, last)) => {
                let start_us = if self.is_from_zero() { 0 } else { first };
                Some((start_us, last.max(self.end_us)))
            }
        }
    }
}

/// A process that a merged trace knows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct MergedProcess {
    pid: Option<i64>,
    /// Id of the system's start, if known.
    pub boot: Option<String>,
    /// Recorded threads.
    pub threads: Vec<IgnoredAny>,
}

/// The times of one trace.
#[derive(Debug, Clone, Default)]
pub struct TraceTimes {
    spans: FxHashMap<i64, EventSpan>,
    merged: Vec<MergedProcess>,
}

impl TraceTimes {
    /// Adds an event, if the event has a time.
    pub fn event(&mut self, head: &EventHead, event: &[u8]) {
        let Some(ts) = head.ts(event).filter(|_| head.phase != b'M') else { return };
        let pid = head.pid(event).unwrap_or_default();
        self.add(pid, ts, head.dur(event).unwrap_or_default());
        if head.name(event) == WHOLE_PROFILE
            && let Ok((_, profile)) = ChunkJson::from_event(event)
        {
            self.whole_profile(pid, &profile);
        }
    }

    /// Adds the times of a profile, which is written when it has ended.
    fn whole_profile(&mut self, pid: i64, profile: &ChunkJson<'_>) {
        let profile = profile.cpu_profile.as_ref();
        for time in profile.iter().flat_map(|profile| [profile.start_time, profile.end_time]) {
            time.into_iter().for_each(|time| self.add(pid, time.0, 0));
        }
    }

    fn add(&mut self, pid: i64, ts: i64, dur: i64) {
        self.spans.entry(pid).or_default().add(ts, dur);
    }

    /// Reads a member of the file's object.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        #[derive(Deserialize)]
        struct MergedProcesses {
            processes: Vec<MergedProcess>,
        }
        if key == "metadata"
            && let Ok(OurMember { facts }) = serde_json::from_slice(value)
        {
            let MergedProcesses { processes } = facts;
            self.merged = processes;
        }
    }

    /// Returns the processes with the times of their events, each with what a merged trace knows.
    pub fn processes(&self) -> impl Iterator<Item = (Option<MergedProcess>, EventSpan)> {
        self.spans.iter().map(|(pid, span)| {
            let known = self.merged.iter().find(|process| process.pid == Some(*pid));
            (known.cloned(), *span)
        })
    }
}
