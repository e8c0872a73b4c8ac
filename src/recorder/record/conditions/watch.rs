//! Judges when a condition is met: counters in, a reason out. Nothing here knows a clock or a thread.

use super::share::ShareWatch;
use super::stall::StallWatch;
use crate::sampler::v8::LoopProgress;
use cpu_prof_core::base::micros::micros;
use cpu_prof_core::base::settings::start::{Condition, Trigger};

/// What can be read at any moment. None is what cannot be known now.
pub(super) trait Counters {
    /// Returns what the main thread's event loop has done so far.
    fn event_loop(&self) -> Option<LoopProgress>;
    /// Returns the CPU time of the process, microseconds.
    fn cpu_us(&self) -> Option<i64>;
    /// Returns the resident memory, bytes.
    fn resident_bytes(&self) -> Option<u64>;
}

/// A condition that is met.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Observation {
    /// Text of the condition.
    pub condition: String,
    /// What was observed, with its unit.
    pub observed: String,
}

/// Time between two looks at the memory, microseconds.
const MEMORY_STEP_US: i64 = 1_000_000;

/// The conditions of a process. Times are on one clock that never goes back, microseconds.
pub(super) struct Watch(Vec<WatchedCondition>);

struct WatchedCondition {
    text: String,
    kind: WatchKind,
    /// Time of the next look.
    due_us: i64,
}

enum WatchKind {
    Stall(StallWatch),
    Cpu(ShareWatch),
    Utilization(ShareWatch),
    Memory { limit: u64 },
}

impl Watch {
    /// Watches what can be read; a signal comes by itself.
    pub(super) fn new(conditions: &[Condition]) -> Self {
        let watched = |condition: &Condition| {
            let kind = match condition.trigger {
                Trigger::Stall(limit) => WatchKind::Stall(StallWatch::new(micros(limit))),
                Trigger::Cpu(share) => WatchKind::Cpu(ShareWatch::new(share)),
                Trigger::Utilization(share) => WatchKind::Utilization(ShareWatch::new(share)),
                Trigger::Memory(limit) => WatchKind::Memory { limit },
                Trigger::Signal(_) => return None,
            };
            Some(WatchedCondition { text: condition.text.clone(), kind, due_us: i64::MIN })
        };
        Self(conditions.iter().filter_map(watched).collect())
    }

    /// Returns the time of the next look; none if there is nothing to look at.
    pub(super) fn due_us(&self) -> Option<i64> {
        self.0.iter().map(|watched| watched.due_us).min()
    }

    /// Looks at what is due, and returns the first condition that is met.
    pub(super) fn look(&mut self, now_us: i64, counters: &impl Counters) -> Option<Observation> {
        let mut met = None;
        for watched in self.0.iter_mut().filter(|watched| watched.due_us <= now_us) {
            let (observed, step_us) = watched.kind.look(now_us, counters);
            watched.due_us = now_us + step_us;
            let condition = &watched.text;
            met =
                met.or(
                    observed.map(|observed| Observation { condition: condition.clone(), observed })
                );
        }
        met
    }

    /// Forgets what was read, because nobody has looked for a while.
    pub(super) fn restart(&mut self) {
        for watched in &mut self.0 {
            watched.due_us = i64::MIN;
            match &mut watched.kind {
                WatchKind::Stall(watch) => watch.restart(),
                WatchKind::Cpu(watch) | WatchKind::Utilization(watch) => watch.restart(),
                WatchKind::Memory { .. } => {}
            }
        }
    }
}

impl WatchKind {
    /// Returns what was observed, if the condition is met, and the time to the next look.
    fn look(&mut self, now_us: i64, counters: &impl Counters) -> (Option<String>, i64) {
        match self {
            Self::Stall(watch) => {
                let stalled_us = watch.look(now_us, counters.event_loop());
                (stalled_us.map(|us| format!("{} ms", us / 1000)), watch.step_us())
            }
            Self::Cpu(watch) => {
                let share = watch.look(now_us, counters.cpu_us());
                (share.map(|share| format!("{:.0}%", 100.0 * share)), watch.step_us())
            }
            Self::Utilization(watch) => {
                let busy_us = counters
                    .event_loop()
                    .filter(|progress| progress.has_begun)
                    .map(|progress| now_us - progress.waited_us);
                let share = watch.look(now_us, busy_us);
                (share.map(|share| format!("{share:.2}")), watch.step_us())
            }
            Self::Memory { limit } => {
                let bytes = counters.resident_bytes().filter(|bytes| *bytes > *limit);
                (bytes.map(|bytes| format!("{} MiB", bytes >> 20)), MEMORY_STEP_US)
            }
        }
    }
}

#[cfg(test)]
mod tests;
