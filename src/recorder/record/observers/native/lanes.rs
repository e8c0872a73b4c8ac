//! The traces of the native threads of this process. Runs on the writer thread.

use std::mem;

use chrono::{SecondsFormat, TimeDelta, Utc};
use rustc_hash::FxHashMap;

use super::cpu_use::NativeThreads;
use super::lane::Lane;
use super::thread_ticks::TickWindows;
use crate::record::files::segments::TraceSegments;
use crate::record::files::totals::RecordingTotals;
use crate::record::link::javascript_threads::recorded_threads;
use crate::sampler::native::{NativeTicks, ThreadTicks, Tick};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::native_thread::trace_id;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::FileNames;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::{Segment, ThreadInfo};

/// CPU time from which a thread has a trace, microseconds.
const MIN_US: i64 = 10_000;
/// Time for which a thread is known before it gets a trace, microseconds: a worker runs for so long before it is
/// recorded.
const MIN_AGE_US: i64 = 250_000;
/// The most traces.
const MAX_LANES: usize = 64;

/// What the traces of native threads are made from.
pub(crate) struct LanePlan {
    config: Config,
    /// Names of the main thread's files.
    names: FileNames,
    /// Facts of the main thread's trace.
    info: ThreadInfo,
    /// Start of the recording, microseconds.
    start_us: i64,
}

/// The traces of the native threads.
pub(crate) struct NativeLanes {
    /// None before the first look, and if the threads cannot be sampled.
    ticks: Option<NativeTicks>,
    plan: LanePlan,
    /// Lanes of threads that live, by the system's ids.
    lanes: FxHashMap<u32, Lane>,
    /// Lanes whose threads have ended.
    free: Vec<Lane>,
    /// Threads that have not worked enough for a trace: when they were seen first, and their ticks.
    waiting: FxHashMap<u32, (i64, Vec<Tick>)>,
}

impl LanePlan {
    /// Returns what is needed for traces beside that of a main thread.
    pub(crate) fn new(
        config: &Config,
        names: &FileNames,
        info: &ThreadInfo,
        start_us: i64,
    ) -> Self {
        Self { config: config.clone(), names: names.clone(), info: info.clone(), start_us }
    }

    /// Creates the trace of a thread that works from a time on, microseconds.
    fn create(&self, thread: u32, start_us: i64) -> Result<TraceSegments, Error> {
        let thread_id = trace_id(thread);
        let age = TimeDelta::microseconds(system::now_us().saturating_sub(start_us));
        let started = Utc::now().checked_sub_signed(age).unwrap_or_else(Utc::now);
        let mut names = self.names.of_thread(thread_id);
        let info = ThreadInfo {
            thread_id,
            os_thread_id: Some(thread),
            started: started.to_rfc3339_opts(SecondsFormat::Millis, true),
            cpu: None,
            start: None,
            segment: self.info.segment.map(|_| Segment::first_of(names.sequence())),
            ..self.info.clone()
        };
        TraceSegments::create(&self.config, &mut names, info, start_us, Vec::new())
    }
}

impl NativeLanes {
    /// Returns no traces, of threads that are not sampled.
    pub(crate) fn new(plan: LanePlan) -> Self {
        let (lanes, waiting) = (FxHashMap::default(), FxHashMap::default());
        Self { ticks: None, plan, lanes, free: Vec::new(), waiting }
    }

    /// Begins to sample the threads, unless another recording does.
    pub(crate) fn begin(&mut self) {
        match NativeTicks::sample(self.plan.config.interval_us, recorded_threads) {
            Ok(ticks) => self.ticks = ticks,
            Err(error) => warn_once(&error),
        }
    }

    /// Writes what the threads did up to now. `cpu_use` knows their names. `is_last` tells that there is no later
    /// time.
    pub(crate) fn write(
        &mut self,
        cpu_use: Option<&NativeThreads>,
        is_last: bool,
        events: &mut Events,
    ) {
        let Some(ticks) = self.ticks.take() else { return };
        let mut waiting = mem::take(&mut self.waiting);
        for mut did in ticks.take() {
            let thread = did.thread;
            if !self.lanes.contains_key(&thread) {
                let (first_us, earlier) =
                    waiting.remove(&thread).unwrap_or((did.seen_us, Vec::new()));
                did.ticks.splice(0..0, earlier);
                let is_old = did.seen_us - first_us >= MIN_AGE_US || did.has_ended || is_last;
                let has_worked = did.seen_cpu_us - did.since_cpu_us >= MIN_US;
                let is_wanted = has_worked && is_old;
                if !(is_wanted && self.open(&did, cpu_use)) {
                    if !did.has_ended {
                        // What finds no place for a trace must not grow.
                        let ticks = if is_wanted { Vec::new() } else { did.ticks };
                        self.waiting.insert(thread, (first_us, ticks));
                    }
                    continue;
                }
            }
            let Some(mut lane) = self.lanes.remove(&thread) else { continue };
            let has_ended = did.has_ended;
            lane.write(did, is_last || has_ended, |number| ticks.frame(number), events);
            if has_ended {
                self.free.push(lane);
            } else {
                self.lanes.insert(thread, lane);
            }
        }
        let now_us = system::now_us();
        self.free.iter_mut().for_each(|lane| lane.trace.remove_older_than(now_us));
        self.ticks = Some(ticks);
    }

    /// Gives a thread a lane: that of one of its name that has ended, or a new one. Returns whether it has one.
    fn open(&mut self, did: &ThreadTicks, cpu_use: Option<&NativeThreads>) -> bool {
        let name =
            cpu_use.map_or_else(String::new, |known| known.shown_name(did.thread, &did.name));
        if let Some(index) = self.free.iter().position(|lane| lane.name == name) {
            let mut lane = self.free.swap_remove(index);
            lane.change_thread(did.since_cpu_us);
            self.lanes.insert(did.thread, lane);
            return true;
        }
        if self.lanes.len() + self.free.len() >= MAX_LANES {
            return false;
        }
        let first_us =
            did.ticks.first().map_or(did.seen_us - (did.seen_cpu_us - did.since_cpu_us), |tick| {
                tick.time_us - (tick.cpu_us - did.since_cpu_us)
            });
        let start_us = first_us.max(self.plan.start_us);
        let mut trace = match self.plan.create(did.thread, start_us) {
            Ok(trace) => trace,
            Err(error) => {
                warn_once(&error);
                return false;
            }
        };
        let mut events = Events::default();
        if let Err(error) =
            trace.append(&mut events, |trace, events| trace.rename_worker(events, &name))
        {
            warn_once(&error);
        }
        let windows = TickWindows::new(start_us, did.since_cpu_us);
        let lane = Lane::new(name, trace, self.plan.config.max_nodes, windows);
        self.lanes.insert(did.thread, lane);
        true
    }

    /// Writes the ends of the traces.
    pub(crate) fn end(&mut self, end_us: i64, is_provisional: bool, events: &mut Events) {
        self.all_mut().for_each(|lane| lane.end(end_us, is_provisional, events));
    }

    /// Keeps the history of all, and what comes until a time, microseconds.
    pub(crate) fn hold(&mut self, until_us: i64) {
        self.all_mut().for_each(|lane| lane.trace.hold(until_us));
    }

    /// Adds what the traces hold.
    pub(crate) fn add_to(&self, totals: &mut RecordingTotals) {
        for trace in self.lanes.values().chain(&self.free).map(|lane| &lane.trace) {
            let contents = trace.kept_contents();
            totals.files.extend(trace.paths());
            totals.samples += contents.samples;
            totals.nodes += contents.nodes;
        }
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.lanes.values_mut().chain(&mut self.free)
    }
}
