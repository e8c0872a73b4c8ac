//! The threads and the processes of a trace, as its events tell of them.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::event::ForeignEvent;
use crate::merge::inputs::other_trace::{OtherTrace, TraceHost};
use crate::merge::output::trace::OutputTrace;

/// What is seen of the threads of a trace.
#[derive(Debug, Default)]
pub(super) struct SeenThreads {
    /// Threads with events in the output, by their ids there.
    threads: FxHashSet<(u32, u32)>,
    /// Names of processes, by their pids in the output.
    process_names: FxHashMap<u32, String>,
    /// First time that is not 0, microseconds.
    pub first_us: Option<i64>,
}

impl SeenThreads {
    /// Notes the thread, the time and the name that an event gives.
    pub(super) fn note(&mut self, event: &ForeignEvent<'_>, trace: &OutputTrace) {
        let Some(pid) = event.pid else { return };
        if !event.sound.is_metadata() {
            let ts = event.ts();
            if trace.slice.has(ts) {
                self.threads.insert(event.thread());
            }
            if ts > 0 {
                self.first_us = Some(self.first_us.map_or(ts, |first| first.min(ts)));
            }
        }
        if event.sound.name() == b"process_name"
            && let Ok(value) = serde_json::from_slice::<Value>(event.sound.text)
            && let Some(name) = value.pointer("/args/name").and_then(Value::as_str)
        {
            self.process_names.insert(pid, name.to_owned());
        }
    }

    /// Notes events whose only time is 0, which count too.
    pub(super) fn finish(&self, trace: &mut OutputTrace) {
        if self.first_us.is_none() && trace.slice.is_everything() {
            self.pids().for_each(|pid| trace.note(pid, 0));
        }
    }

    /// Returns the pids of all threads in the output. A pid can come several times.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.threads.iter().map(|(pid, _)| *pid)
    }

    /// Returns the sorted pids of the processes that no input before has named.
    pub(super) fn new_processes(&self, trace: &OtherTrace) -> Vec<u32> {
        let host = named_host(trace);
        let is_new = |pid: &u32| host.is_none_or(|host| host.pid != *pid);
        let mut pids: Vec<u32> = self.pids().filter(is_new).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// Returns the threads that were not recorded.
    pub(super) fn unrecorded(&self, trace: &OtherTrace) -> impl Iterator<Item = (u32, u32)> {
        let host = named_host(trace);
        let is_recorded = move |(pid, tid): &(u32, u32)| {
            host.is_some_and(|host| host.pid == *pid && host.has_recorded(*tid))
        };
        self.threads.iter().copied().filter(move |thread| !is_recorded(thread))
    }

    /// Takes the name of a process.
    pub(super) fn take_name(&mut self, pid: u32) -> Option<String> {
        self.process_names.remove(&pid)
    }
}

/// Returns the process that the trace is about, if another input names the process.
fn named_host(trace: &OtherTrace) -> Option<&TraceHost> {
    trace.host.as_ref().filter(|host| host.is_named)
}
