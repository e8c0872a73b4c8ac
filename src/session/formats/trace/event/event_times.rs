//! The times of a trace's events, by process.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::head::EventHead;
use crate::model::thread_profile::ThreadProfile;
use cpu_prof_core::format::trace::event_names::PROCESSES;
use cpu_prof_core::format::trace::ours::OurMember;

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

    /// Adds the events of another process of the same trace.
    pub fn join(&mut self, other: Self) {
        self.has_zero |= other.has_zero;
        self.end_us = self.end_us.max(other.end_us);
        let both = self.range.into_iter().chain(other.range);
        self.range = both.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
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
    /// Count of the trace's profiles.
    pub recordings: usize,
}

impl TraceTimes {
    /// Adds an event, if the event has a time.
    pub fn event(&mut self, head: &EventHead, event: &[u8]) {
        let Some(ts) = head.ts(event).filter(|_| head.phase != b'M') else { return };
        let mut categories = head.categories(event);
        if head.name(event) == b"TimeStamp" && categories.any(|one| one == PROCESSES.as_bytes()) {
            return;
        }
        self.add(head.pid(event).unwrap_or_default(), ts, head.dur(event).unwrap_or_default());
    }

    /// Adds the times of a process's profiles: samples can be earlier and later than all events.
    pub fn profiles(&mut self, pid: i64, profiles: &[ThreadProfile]) {
        self.recordings += profiles.len();
        for (start_us, end_us) in profiles.iter().map(|profile| profile.recorded_us) {
            self.add(pid, start_us, end_us.saturating_sub(start_us));
        }
    }

    /// Adds the times of other events of the same trace.
    pub fn join(&mut self, other: Self) {
        self.recordings += other.recordings;
        for (pid, span) in other.spans {
            self.spans.entry(pid).or_default().join(span);
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

    /// Returns whether all times are those of one clock, as in the trace of one tool.
    pub fn have_one_clock(&self) -> bool {
        self.merged.is_empty()
    }

    /// Returns the processes with the times of their events, each with what a merged trace knows.
    pub fn processes(&self) -> impl Iterator<Item = (Option<MergedProcess>, EventSpan)> {
        self.spans.iter().map(|(pid, span)| {
            let known = self.merged.iter().find(|process| process.pid == Some(*pid));
            (known.cloned(), *span)
        })
    }
}
