//! Tells what a thread did by the system's counters: on a core, waiting for a core, or blocked in a
//! call such as `spawnSync`, `Atomics.wait` or a synchronous read.
//!
//! V8 samples a blocked thread as if the call worked. The time between two readings of the counters
//! that is neither on a core, nor waiting for a core, nor idle was spent blocked. Time that a
//! hypervisor took away looks the same, but a thread that blocks also gives up its core by itself, at
//! each sample again. The calls that lasted longest between the two readings were the blocked calls.
//!
//! A process that is stopped (SIGSTOP, Ctrl-Z, a debugger) takes no samples at all: one sample lasts until
//! the process goes on. The thread gave up its core once. Such a gap counts as blocked too.

use super::thread_profile::ReadScope;
use crate::base::system::cpu_times::CpuTimes;
use crate::profile::cpu_use::CpuUse;
use crate::profile::position::SourcePosition;

/// The shortest time that counts as blocked, microseconds: the counters are read at slightly
/// different moments.
const MIN_BLOCKED_US: f64 = 10_000.0;

/// The shortest sample that can be the time of a stop, microseconds.
const MIN_STOP_US: f64 = 50_000.0;

/// How much longer than other samples the time of a stop is.
const STOP_FACTOR: f64 = 10.0;

/// A call that lasted for some samples in a row.
#[derive(Debug, Clone)]
pub struct Call {
    /// Index of the call's node.
    pub node: u32,
    /// Positions of its samples with their lengths, in order: microseconds.
    pub positions: Vec<(SourcePosition, f64)>,
    /// Start, microseconds.
    pub from_us: i64,
    /// Length, microseconds.
    pub us: f64,
}

impl Call {
    fn add(&mut self, position: SourcePosition, us: f64) {
        self.us += us;
        match self.positions.last_mut() {
            Some((last, sum)) if *last == position => *sum += us,
            _ => self.positions.push((position, us)),
        }
    }
}

/// Reads the counters of one recording.
#[derive(Debug)]
pub(super) struct CpuAccount {
    scope: ReadScope,
    /// Time and values of the last reading.
    last: Option<(i64, CpuTimes)>,
    /// Calls since the last reading.
    calls: Vec<Call>,
    /// Count of samples since the last reading.
    samples: u32,
    /// Samples since the last reading that are as long as a stop, each as a call of its own.
    gaps: Vec<Call>,
    idle_us: f64,
    /// Time up to which samples were counted, microseconds.
    counted_until_us: i64,
    sum: Option<CpuUse>,
}

impl CpuAccount {
    /// Returns an account without readings.
    pub(super) fn new(scope: ReadScope) -> Self {
        Self {
            scope,
            last: None,
            calls: Vec::new(),
            samples: 0,
            gaps: Vec::new(),
            idle_us: 0.0,
            counted_until_us: i64::MIN,
            sum: None,
        }
    }

    /// Returns whether counters were read.
    pub(super) fn is_in_use(&self) -> bool {
        self.last.is_some()
    }

    /// Counts a sample, which lasted from one time to another: microseconds.
    pub(super) fn sample(
        &mut self,
        (node, position): (u32, SourcePosition),
        is_idle: bool,
        span_us: (i64, i64),
    ) {
        let from_us = span_us.0.max(self.counted_until_us);
        self.counted_until_us = self.counted_until_us.max(span_us.1);
        let us = self.in_scope_us(from_us, span_us.1);
        if us == 0.0 {
            return;
        }
        if is_idle {
            self.idle_us += us;
            return;
        }
        self.samples += 1;
        let from_us = from_us.max(self.scope.from_us);
        let call = || Call { node, positions: vec![(position, us)], from_us, us };
        if us >= MIN_STOP_US {
            self.gaps.push(call());
        }
        match self.calls.last_mut() {
            Some(last) if last.node == node => last.add(position, us),
            _ => self.calls.push(call()),
        }
    }

    /// Begins a recording with these counters. What the thread did before is not counted.
    pub(super) fn begin(&mut self, time_us: i64, times: CpuTimes) {
        self.last = Some((time_us, times));
        self.sum.get_or_insert_default().last = times;
        self.forget_samples();
    }

    /// Reads the counters. Returns the calls that were blocked since the last reading, each with its
    /// blocked time.
    pub(super) fn read(&mut self, time_us: i64, times: CpuTimes) -> Vec<Call> {
        let Some((last_us, last)) = self.last.replace((time_us, times)) else {
            self.begin(time_us, times);
            return Vec::new();
        };
        let span_us = self.in_scope_us(last_us, time_us);
        let share = span_us / (time_us.saturating_sub(last_us).max(1)) as f64;
        let grown = |now: Option<i64>, last: Option<i64>| {
            let grown = now.zip(last).map(|(now, last)| now.saturating_sub(last).max(0) as f64);
            grown.map(|grown| grown * share)
        };
        let cpu_us = grown(times.cpu_us, last.cpu_us);
        let wait_us = grown(times.wait_us, last.wait_us);
        let sum = self.sum.get_or_insert_default();
        sum.last = times;
        sum.cpu_us += cpu_us.unwrap_or_default();
        if let Some(wait_us) = wait_us {
            *sum.wait_us.get_or_insert_default() += wait_us;
        }
        if let Some(process_cpu_us) = grown(times.process_cpu_us, last.process_cpu_us) {
            *sum.process_cpu_us.get_or_insert_default() += process_cpu_us;
        }
        let mut blocked = Vec::new();
        if let Some((cpu_us, switches)) = cpu_us.zip(grown(times.switches, last.switches)) {
            let rest_us = span_us - self.idle_us - cpu_us - wait_us.unwrap_or_default();
            let called_us: f64 = self.calls.iter().map(|call| call.us).sum();
            let sample_us = called_us / f64::from(self.samples.max(1));
            blocked = self.longest_calls(rest_us.min(switches * sample_us));
            let blocked_us: f64 = blocked.iter().map(|call| call.us).sum();
            let stops = self.stops(rest_us - blocked_us, called_us, switches);
            blocked.extend(stops);
        }
        self.forget_samples();
        blocked
    }

    /// Returns the sum of all readings.
    pub(super) fn finish(self) -> Option<CpuUse> {
        self.sum
    }

    /// Returns the longest calls, which have so much time in all.
    fn longest_calls(&mut self, mut rest_us: f64) -> Vec<Call> {
        let mut longest = Vec::new();
        if rest_us < MIN_BLOCKED_US {
            return longest;
        }
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by(|one, other| other.us.total_cmp(&one.us));
        for call in calls {
            if rest_us <= 0.0 || call.us < MIN_BLOCKED_US {
                break;
            }
            let us = call.us.min(rest_us);
            longest.push(Call { us, ..call });
            rest_us -= us;
        }
        longest
    }

    /// Returns the times in which the process was stopped, of this length in all at most. `called_us` is
    /// the length of all samples.
    fn stops(&mut self, mut rest_us: f64, called_us: f64, switches: f64) -> Vec<Call> {
        let mut gaps = std::mem::take(&mut self.gaps);
        let gaps_us: f64 = gaps.iter().map(|gap| gap.us).sum();
        let others = f64::from(self.samples) - gaps.len() as f64;
        if others < 1.0 {
            return Vec::new();
        }
        let least_us = MIN_STOP_US.max(STOP_FACTOR * (called_us - gaps_us) / others);
        gaps.retain(|gap| gap.us >= least_us);
        gaps.sort_by(|one, other| other.us.total_cmp(&one.us));
        // Each stop is a switch. A core that a hypervisor took away is none.
        gaps.truncate(switches as usize);
        gaps.retain_mut(|gap| {
            gap.us = gap.us.min(rest_us);
            rest_us -= gap.us;
            gap.us >= MIN_BLOCKED_US
        });
        gaps
    }

    fn forget_samples(&mut self) {
        self.calls.clear();
        self.gaps.clear();
        (self.samples, self.idle_us) = (0, 0.0);
    }

    fn in_scope_us(&self, from_us: i64, to_us: i64) -> f64 {
        let (from_us, to_us) = (from_us.max(self.scope.from_us), to_us.min(self.scope.to_us));
        to_us.saturating_sub(from_us).max(0) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: (u32, SourcePosition) = (1, SourcePosition { line: 7, column: 0 });
    const CALL: (u32, SourcePosition) = (2, SourcePosition { line: 8, column: 0 });
    const IDLE: (u32, SourcePosition) = (3, SourcePosition { line: 0, column: 0 });

    fn times(cpu_ms: i64, wait_ms: i64, switches: i64) -> CpuTimes {
        CpuTimes {
            cpu_us: Some(cpu_ms * 1000),
            wait_us: Some(wait_ms * 1000),
            switches: Some(switches),
            ..CpuTimes::default()
        }
    }

    /// Samples of a millisecond each.
    fn samples(account: &mut CpuAccount, what: (u32, SourcePosition), ms: std::ops::Range<i64>) {
        for at in ms {
            account.sample(what, what == IDLE, (at * 1000, (at + 1) * 1000));
        }
    }

    fn begun() -> CpuAccount {
        let mut account = CpuAccount::new(ReadScope::LINES);
        account.begin(0, times(50, 5, 100));
        account
    }

    #[test]
    fn a_blocked_call_is_the_longest() {
        let mut account = begun();
        samples(&mut account, WORK, 0..60);
        samples(&mut account, CALL, 60..400);
        samples(&mut account, WORK, 400..440);
        samples(&mut account, IDLE, 440..500);
        let blocked = account.read(500_000, times(50 + 110, 5 + 10, 100 + 340));
        assert_eq!(blocked.len(), 1);
        assert_eq!((blocked[0].node, blocked[0].us), (2, 320_000.0));
        assert_eq!(blocked[0].positions, [(CALL.1, 340_000.0)]);
        let sum = account.finish().unwrap();
        assert_eq!(
            (sum.cpu_us, sum.wait_us, sum.process_cpu_us),
            (110_000.0, Some(10_000.0), None)
        );
    }

    #[test]
    fn counters_that_the_system_does_not_have_stay_unknown() {
        let times = |cpu_ms: i64| CpuTimes { cpu_us: Some(cpu_ms * 1000), ..CpuTimes::default() };
        let mut account = CpuAccount::new(ReadScope::LINES);
        account.begin(0, times(50));
        samples(&mut account, CALL, 0..500);
        assert!(account.read(500_000, times(60)).is_empty());
        let sum = account.finish().unwrap();
        assert_eq!((sum.cpu_us, sum.wait_us, sum.process_cpu_us), (10_000.0, None, None));
    }

    #[test]
    fn a_busy_thread_whose_core_was_taken_away_is_not_blocked() {
        let mut account = begun();
        samples(&mut account, WORK, 0..500);
        assert!(account.read(500_000, times(50 + 350, 5, 102)).is_empty());
    }

    #[test]
    fn a_stopped_process_takes_no_samples() {
        let stopped = |switches: i64| {
            let mut account = begun();
            samples(&mut account, WORK, 0..100);
            account.sample(WORK, false, (100_000, 400_000));
            samples(&mut account, WORK, 400..500);
            account.read(500_000, times(50 + 198, 5, 100 + switches))
        };
        let blocked = stopped(1);
        assert_eq!(blocked.len(), 1);
        assert_eq!((blocked[0].us, blocked[0].from_us), (300_000.0, 100_000));
        // A hypervisor took the cores away.
        assert!(stopped(0).is_empty());
        // The thread worked on where V8 took no samples.
        let mut account = begun();
        samples(&mut account, WORK, 0..100);
        account.sample(WORK, false, (100_000, 500_000));
        assert!(account.read(500_000, times(50 + 499, 5, 101)).is_empty());
    }

    #[test]
    fn without_counters_nothing_is_blocked() {
        let mut account = begun();
        samples(&mut account, CALL, 0..500);
        assert!(account.read(500_000, CpuTimes::default()).is_empty());
        let none = CpuAccount::new(ReadScope::LINES);
        assert!(!none.is_in_use());
        assert_eq!(none.finish(), None);
    }

    #[test]
    fn the_open_sample_counts_up_to_the_reading_and_from_there() {
        let mut account = begun();
        // An idle sample that lasts until the next, in two parts.
        account.sample(IDLE, true, (0, 500_000));
        assert!(account.read(500_000, times(51, 5, 102)).is_empty());
        account.sample(IDLE, true, (0, 600_000));
        samples(&mut account, CALL, 600..1000);
        let blocked = account.read(1_000_000, times(52, 5, 600));
        assert_eq!(blocked[0].us, 399_000.0);
    }

    #[test]
    fn a_slice_has_its_part() {
        let mut account = CpuAccount::new(ReadScope { from_us: 250_000, ..ReadScope::LINES });
        account.begin(0, times(0, 0, 0));
        samples(&mut account, CALL, 0..500);
        let blocked = account.read(500_000, times(100, 0, 480));
        assert_eq!(blocked[0].us, 200_000.0);
        assert_eq!(account.finish().unwrap().cpu_us, 50_000.0);
    }

    #[test]
    fn time_between_two_recordings_is_not_counted() {
        let mut account = begun();
        account.read(100_000, times(60, 5, 100));
        account.begin(900_000, times(700, 5, 100));
        account.read(1_000_000, times(720, 5, 100));
        assert_eq!(account.finish().unwrap().cpu_us, 30_000.0);
    }
}
