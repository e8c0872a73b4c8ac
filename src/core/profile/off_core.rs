//! Tells what a thread did by the system's counters: on a core, waiting for a core, or blocked in a
//! call such as `spawnSync`, `Atomics.wait` or a synchronous read.
//!
//! V8 samples a thread that waits for a core, and a blocked thread, as if the call worked.
//!
//! - **Waiting**: the system counts the time that a thread was ready to run without a core. V8's signal
//!   reaches the thread when the thread runs again, so the longest samples have the waiting time.
//! - **Blocked**: the time of samples between two readings of the counters that is neither on a core, nor
//!   waiting, nor idle. Time that a hypervisor took away looks the same, but a thread that blocks also gives up its core
//!   by itself, at each sample again. The calls that lasted longest were the blocked calls.
//! - **Stopped**: a process that is stopped (SIGSTOP, Ctrl-Z, a debugger) takes no samples at all: one sample
//!   lasts until the process goes on. The thread gave up its core once. Such a gap counts as waiting.

use std::mem;

use super::read_scope::ReadScope;
use crate::base::system::cpu_times::CpuTimes;
use crate::profile::cpu_use::CpuUse;
use crate::profile::position::SourcePosition;

/// The shortest time that counts as blocked, microseconds: the counters are read at slightly
/// different moments.
const MIN_BLOCKED_US: f64 = 10_000.0;

/// The shortest waiting time between two readings that is looked for, microseconds.
const MIN_WAITING_US: f64 = 1_000.0;

/// The shortest sample that can be the time of a stop, microseconds.
const MIN_STOP_US: f64 = 50_000.0;

/// Part of the time of calls below which a thread did not run at all.
const HARDLY_RAN: f64 = 0.02;

/// How much longer than other samples the time of a stop is.
const STOP_FACTOR: f64 = 10.0;

/// Why a thread was not on a core while its stack showed a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OffCore {
    /// The call waited for something.
    Blocked,
    /// The thread was ready to run, and other threads had the cores; or the process was stopped.
    Waiting,
    /// The thread of a pool waited for its next task.
    Idle,
}

/// A part of a sample in which the thread was not on a core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffCoreTime {
    /// Index of the sample's node.
    pub node: u32,
    /// Position of the sample.
    pub position: SourcePosition,
    /// Start, microseconds.
    pub from_us: i64,
    /// Length, microseconds.
    pub us: u64,
    /// Reason.
    pub state: OffCore,
}

/// A sample since the last reading.
#[derive(Debug, Clone, Copy)]
struct CountedSample {
    node: u32,
    position: SourcePosition,
    is_idle: bool,
    from_us: i64,
    us: f64,
    /// Time of the start that was blocked.
    blocked_us: f64,
    /// Time of the end that was waiting.
    waiting_us: f64,
}

impl CountedSample {
    /// Returns the time that can be on a core, microseconds.
    fn rest_us(&self) -> f64 {
        self.us - self.blocked_us - self.waiting_us
    }
}

/// Reads the counters of one recording.
#[derive(Debug, Clone)]
pub struct CpuAccount {
    scope: ReadScope,
    /// Time and values of the last reading.
    last: Option<(i64, CpuTimes)>,
    /// Time and values of the next reading, until all samples before are counted. A reading is later
    /// than the window that is written with the reading: the next window has samples before that time.
    next: Option<(i64, CpuTimes)>,
    /// Samples since the last reading.
    samples: Vec<CountedSample>,
    /// Time up to which samples were counted, microseconds.
    counted_until_us: i64,
    /// Times in which the thread was not on a core.
    found: Vec<OffCoreTime>,
    sum: Option<CpuUse>,
}

impl CpuAccount {
    /// Returns an account without readings.
    pub fn new(scope: ReadScope) -> Self {
        Self {
            scope,
            last: None,
            next: None,
            samples: Vec::new(),
            counted_until_us: i64::MIN,
            found: Vec::new(),
            sum: None,
        }
    }

    /// Sets the part of the recording that is counted from now on.
    pub fn set_scope(&mut self, scope: ReadScope) {
        self.scope = scope;
    }

    /// Returns whether counters were read.
    pub fn is_in_use(&self) -> bool {
        self.last.is_some()
    }

    /// Returns the time of a reading whose samples are not complete, microseconds.
    pub fn next_us(&self) -> Option<i64> {
        self.next.map(|(time_us, _)| time_us)
    }

    /// Counts a sample, which lasted from one time to another: microseconds.
    pub fn sample(
        &mut self,
        what: (u32, SourcePosition),
        is_idle: bool,
        (from_us, to_us): (i64, i64),
    ) {
        if let Some((next_us, times)) = self.next.take_if(|(next_us, _)| *next_us <= to_us) {
            self.count(what, is_idle, (from_us, next_us));
            self.read(next_us, times);
        }
        self.count(what, is_idle, (from_us, to_us));
    }

    fn count(
        &mut self,
        (node, position): (u32, SourcePosition),
        is_idle: bool,
        (from_us, to_us): (i64, i64),
    ) {
        let from_us = from_us.max(self.counted_until_us);
        self.counted_until_us = self.counted_until_us.max(to_us);
        let us = self.in_scope_us(from_us, to_us);
        if us > 0.0 {
            let from_us = from_us.max(self.scope.from_us);
            let (blocked_us, waiting_us) = (0.0, 0.0);
            self.samples.push(CountedSample {
                node,
                position,
                is_idle,
                from_us,
                us,
                blocked_us,
                waiting_us,
            });
        }
    }

    /// Begins a recording with these counters. What the thread did before is not counted.
    pub fn begin(&mut self, time_us: i64, times: CpuTimes) {
        self.complete();
        self.last = Some((time_us, times));
        self.sum.get_or_insert_default().last = times;
        self.samples.clear();
    }

    /// Adds a reading of the counters. The samples up to its time can come later.
    pub fn add_reading(&mut self, time_us: i64, times: CpuTimes) {
        self.complete();
        if self.is_in_use() {
            self.next = Some((time_us, times));
        } else {
            self.begin(time_us, times);
        }
    }

    /// Reads the counters, if no more samples come before their time.
    fn complete(&mut self) {
        if let Some((time_us, times)) = self.next.take() {
            self.read(time_us, times);
        }
    }

    /// Finds the times since the last reading in which the thread was not on a core.
    fn read(&mut self, time_us: i64, times: CpuTimes) {
        let Some((last_us, last)) = self.last.replace((time_us, times)) else { return };
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
        if let Some(cpu_us) = cpu_us {
            self.find_waiting(wait_us.unwrap_or_default(), cpu_us);
            if let Some(switches) = grown(times.switches, last.switches) {
                self.find_blocked(cpu_us, switches);
            }
            self.collect();
        }
        self.samples.clear();
    }

    /// Returns the times in which the thread was not on a core. All samples are counted.
    pub fn take_found(&mut self) -> Vec<OffCoreTime> {
        self.complete();
        mem::take(&mut self.found)
    }

    /// Returns the sum of all readings.
    pub fn finish(self) -> Option<CpuUse> {
        self.sum
    }

    /// Shares the waiting time out: to calls as far as these lasted longer than the thread was on a
    /// core, and the rest to idle time.
    fn find_waiting(&mut self, wait_us: f64, cpu_us: f64) {
        if wait_us < MIN_WAITING_US {
            return;
        }
        let in_calls_us = wait_us.min(self.sum_us(|sample| !sample.is_idle) - cpu_us).max(0.0);
        let idle_us = self.sum_us(|sample| sample.is_idle);
        self.shorten_longest(in_calls_us, false);
        self.shorten_longest((wait_us - in_calls_us).min(idle_us), true);
    }

    /// Takes waiting time from the longest samples, so that the longest of what is left are equal.
    fn shorten_longest(&mut self, waiting_us: f64, is_idle: bool) {
        let of_kind = |sample: &&CountedSample| sample.is_idle == is_idle;
        let mut lengths: Vec<f64> =
            self.samples.iter().filter(of_kind).map(|sample| sample.us).collect();
        let mean_us = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let above_us: f64 = lengths.iter().map(|us| (us - mean_us).max(0.0)).sum();
        if above_us >= waiting_us {
            // Few samples are longer than the mean.
            lengths.retain(|us| *us > mean_us);
        }
        lengths.sort_unstable_by(|one, other| other.total_cmp(one));
        let mut sum_us = 0.0;
        let mut level_us = f64::MAX;
        for (count, us) in (1_u32..).zip(lengths) {
            if level_us < f64::MAX && us <= level_us {
                break;
            }
            sum_us += us;
            level_us = (sum_us - waiting_us) / f64::from(count);
        }
        for sample in self.samples.iter_mut().filter(|sample| sample.is_idle == is_idle) {
            sample.waiting_us = (sample.us - level_us.max(0.0)).max(0.0);
        }
    }

    /// Finds the calls that were blocked, and the times of stops.
    fn find_blocked(&mut self, cpu_us: f64, switches: f64) {
        let calls = || self.samples.iter().filter(|sample| !sample.is_idle);
        let called_us = calls().map(CountedSample::rest_us).sum::<f64>();
        let sample_us = called_us / calls().count().max(1) as f64;
        // A thread is not sampled while it ends, but uses CPU time.
        let rest_us = called_us - cpu_us;
        let has_run = cpu_us >= HARDLY_RAN * called_us;
        let most_us = if has_run {
            rest_us.min(switches * sample_us)
        } else {
            rest_us - self.find_stops(rest_us, called_us, switches)
        };
        let left_us = most_us - self.block_longest_calls(most_us);
        if has_run {
            self.find_stops(rest_us - most_us + left_us, called_us, switches);
        }
        self.block_long_samples(left_us);
    }

    /// Makes the parts of samples blocked by which these are longer than most, up to a time in all: the
    /// system does not let V8's signal through while a thread waits for memory or a disk.
    fn block_long_samples(&mut self, mut rest_us: f64) {
        if rest_us < MIN_BLOCKED_US {
            return;
        }
        let mut calls: Vec<_> = self.samples.iter_mut().filter(|sample| !sample.is_idle).collect();
        calls.sort_by(|one, other| other.rest_us().total_cmp(&one.rest_us()));
        let Some(usual_us) = calls.get(calls.len() / 2).map(|sample| sample.rest_us()) else {
            return;
        };
        for sample in calls {
            let us = (sample.rest_us() - usual_us).min(rest_us);
            if us < usual_us.max(1.0) {
                break;
            }
            sample.blocked_us += us;
            rest_us -= us;
        }
    }

    /// Makes the longest calls blocked, up to a time in all. Returns the time that was found.
    fn block_longest_calls(&mut self, most_us: f64) -> f64 {
        if most_us < MIN_BLOCKED_US {
            return 0.0;
        }
        let mut calls: Vec<_> = self
            .samples
            .chunk_by_mut(|one, next| (one.node, one.is_idle) == (next.node, next.is_idle))
            .map(|call| (call.iter().map(CountedSample::rest_us).sum::<f64>(), call))
            .filter(|(us, call)| *us >= MIN_BLOCKED_US && !call[0].is_idle)
            .collect();
        calls.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut rest_us = most_us;
        for sample in calls.into_iter().flat_map(|(_, call)| call) {
            sample.blocked_us = sample.rest_us().min(rest_us);
            rest_us -= sample.blocked_us;
        }
        most_us - rest_us
    }

    /// Finds the samples in which the process was stopped, up to a time in all. Returns the time that was
    /// found. `called_us` is the length of all samples in calls.
    fn find_stops(&mut self, most_us: f64, called_us: f64, switches: f64) -> f64 {
        let calls = self.samples.iter_mut().filter(|sample| !sample.is_idle);
        let (mut gaps, others): (Vec<_>, Vec<_>) =
            calls.partition(|sample| sample.rest_us() >= MIN_STOP_US);
        if others.is_empty() {
            return 0.0;
        }
        let mut rest_us = most_us;
        let gaps_us: f64 = gaps.iter().map(|gap| gap.rest_us()).sum();
        let least_us = MIN_STOP_US.max(STOP_FACTOR * (called_us - gaps_us) / others.len() as f64);
        gaps.retain(|gap| gap.rest_us() >= least_us);
        gaps.sort_by(|one, other| other.us.total_cmp(&one.us));
        // Each stop is a switch. A core that a hypervisor took away is none.
        for gap in gaps.into_iter().take(switches as usize) {
            let us = gap.rest_us().min(rest_us);
            if us >= MIN_BLOCKED_US {
                gap.waiting_us += us;
                rest_us -= us;
            }
        }
        most_us - rest_us
    }

    /// Appends what was found, in the order of the times.
    fn collect(&mut self) {
        // What rounding leaves out of a sample goes to the next.
        let (mut blocked_rest_us, mut waiting_rest_us) = (0.0, 0.0);
        for sample in &self.samples {
            let CountedSample { node, position, from_us, .. } = *sample;
            let mut add = |from_us: i64, us: f64, rest_us: &mut f64, state: OffCore| {
                if us <= 0.0 {
                    return;
                }
                let whole_us = (us + *rest_us).round();
                *rest_us += us - whole_us;
                if whole_us > 0.0 {
                    let us = whole_us as u64;
                    self.found.push(OffCoreTime { node, position, from_us, us, state });
                }
            };
            add(from_us, sample.blocked_us, &mut blocked_rest_us, OffCore::Blocked);
            let waiting_us = sample.waiting_us;
            let waiting_from_us = from_us.saturating_add((sample.us - waiting_us).round() as i64);
            add(waiting_from_us, waiting_us, &mut waiting_rest_us, OffCore::Waiting);
        }
    }

    fn sum_us(&self, is_of: impl Fn(&CountedSample) -> bool) -> f64 {
        self.samples.iter().filter(|sample| is_of(sample)).map(|sample| sample.us).sum()
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

    /// Reads the counters after all samples. Returns the times that were found since the last call.
    fn read(account: &mut CpuAccount, time_us: i64, times: CpuTimes) -> Vec<OffCoreTime> {
        account.add_reading(time_us, times);
        account.take_found()
    }

    fn begun() -> CpuAccount {
        let mut account = CpuAccount::new(ReadScope::LINES);
        account.begin(0, times(50, 5, 100));
        account
    }

    /// Returns the time of a node in a state, microseconds.
    fn us(found: &[OffCoreTime], node: u32, state: OffCore) -> u64 {
        let of = found.iter().filter(|time| (time.node, time.state) == (node, state));
        of.map(|time| time.us).sum()
    }

    #[test]
    fn a_blocked_call_is_the_longest() {
        let mut account = begun();
        samples(&mut account, WORK, 0..60);
        samples(&mut account, CALL, 60..400);
        samples(&mut account, WORK, 400..440);
        samples(&mut account, IDLE, 440..500);
        let found = read(&mut account, 500_000, times(50 + 110, 5 + 10, 100 + 340));
        let blocked = us(&found, 2, OffCore::Blocked);
        assert!((319_999..=320_001).contains(&blocked), "{blocked}");
        assert_eq!(us(&found, 1, OffCore::Blocked), 0);
        assert!(found.iter().all(|time| time.position.line != CALL.1.line || time.node == 2));
        let waiting: u64 = (1..=3).map(|node| us(&found, node, OffCore::Waiting)).sum();
        assert!((9_999..=10_001).contains(&waiting), "{waiting}");
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
        assert!(read(&mut account, 500_000, times(60)).is_empty());
        let sum = account.finish().unwrap();
        assert_eq!((sum.cpu_us, sum.wait_us, sum.process_cpu_us), (10_000.0, None, None));
    }

    #[test]
    fn a_busy_thread_whose_core_was_taken_away_is_not_blocked() {
        let mut account = begun();
        samples(&mut account, WORK, 0..500);
        assert!(read(&mut account, 500_000, times(50 + 350, 5, 102)).is_empty());
    }

    #[test]
    fn a_stopped_process_takes_no_samples() {
        let stopped = |switches: i64| {
            let mut account = begun();
            samples(&mut account, WORK, 0..100);
            account.sample(WORK, false, (100_000, 400_000));
            samples(&mut account, WORK, 400..500);
            read(&mut account, 500_000, times(50 + 198, 5, 100 + switches))
        };
        let found = stopped(1);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].us, found[0].from_us), (300_000, 100_000));
        assert_eq!(found[0].state, OffCore::Waiting);
        // A hypervisor took the cores away.
        assert!(stopped(0).is_empty());
        // A long stop: the thread hardly ran in all.
        let mut account = begun();
        samples(&mut account, WORK, 0..300);
        account.sample(WORK, false, (300_000, 60_000_000));
        samples(&mut account, WORK, 60_000..60_200);
        let found = read(&mut account, 60_200_000, times(50 + 499, 5, 103));
        let waiting_us = us(&found, 1, OffCore::Waiting);
        assert!((59_600_000..59_702_000).contains(&waiting_us), "{waiting_us}");
        // The thread worked on where V8 took no samples.
        let mut account = begun();
        samples(&mut account, WORK, 0..100);
        account.sample(WORK, false, (100_000, 500_000));
        assert!(read(&mut account, 500_000, times(50 + 499, 5, 101)).is_empty());
    }

    #[test]
    fn a_thread_that_hardly_ran_beside_its_stop_was_not_blocked() {
        let mut account = begun();
        // A busy machine: the thread ran for a fifth of the time before the stop.
        samples(&mut account, WORK, 0..100);
        account.sample(WORK, false, (100_000, 1_600_000));
        let found = read(&mut account, 1_600_000, times(50 + 20, 5 + 70, 101));
        assert_eq!(us(&found, 1, OffCore::Waiting), 1_500_000);
    }

    #[test]
    fn a_thread_that_waits_for_a_core_has_long_samples() {
        let mut account = begun();
        // The thread has its core for 4 ms, then others have it for 16 ms.
        for turn in 0..25 {
            samples(&mut account, WORK, 20 * turn..20 * turn + 3);
            account.sample(CALL, false, ((20 * turn + 3) * 1000, (20 * turn + 20) * 1000));
        }
        let found = read(&mut account, 500_000, times(50 + 100, 5 + 400, 100));
        assert_eq!(us(&found, 2, OffCore::Waiting), 400_000);
        assert_eq!(us(&found, 1, OffCore::Waiting), 0);
        assert!(found.iter().all(|time| time.state == OffCore::Waiting));
        assert_eq!((found[0].from_us, found[0].us), (4_000, 16_000));
    }

    #[test]
    fn an_idle_thread_waits_for_a_core_as_well() {
        let mut account = begun();
        account.sample(IDLE, true, (0, 480_000));
        samples(&mut account, WORK, 480..500);
        let found = read(&mut account, 500_000, times(50 + 20, 5 + 60, 100));
        assert_eq!(us(&found, 3, OffCore::Waiting), 60_000);
        assert_eq!((found[0].from_us, found.len()), (420_000, 1));
    }

    #[test]
    fn waiting_time_beyond_all_samples_is_left_out() {
        let mut account = begun();
        samples(&mut account, WORK, 0..100);
        let found = read(&mut account, 500_000, times(50, 5 + 490, 100));
        assert_eq!(us(&found, 1, OffCore::Waiting), 100_000);
    }

    #[test]
    fn a_thread_that_neither_ran_nor_switched_was_blocked_all_the_time() {
        let mut account = begun();
        account.sample(CALL, false, (0, 500_000));
        let found = read(&mut account, 500_000, times(50, 5, 100));
        assert_eq!(us(&found, 2, OffCore::Blocked), 500_000);
    }

    #[test]
    fn long_samples_of_short_calls_are_blocked() {
        let mut account = begun();
        for turn in 0..50 {
            account.sample(WORK, false, (10_000 * turn, 10_000 * turn + 1_000));
            account.sample(IDLE, true, (10_000 * turn + 1_000, 10_000 * turn + 2_000));
            account.sample(CALL, false, (10_000 * turn + 2_000, 10_000 * turn + 10_000));
        }
        let found = read(&mut account, 500_000, times(50 + 100, 5, 100 + 200));
        assert_eq!(us(&found, 1, OffCore::Blocked), 0);
        let blocked = us(&found, 2, OffCore::Blocked);
        assert!((340_000..=350_000).contains(&blocked), "{blocked}");
    }

    #[test]
    fn without_counters_nothing_is_blocked() {
        let mut account = begun();
        samples(&mut account, CALL, 0..500);
        assert!(read(&mut account, 500_000, CpuTimes::default()).is_empty());
        let none = CpuAccount::new(ReadScope::LINES);
        assert!(!none.is_in_use());
        assert_eq!(none.finish(), None);
    }

    #[test]
    fn the_open_sample_counts_up_to_the_reading_and_from_there() {
        let mut account = begun();
        // An idle sample that lasts until the next, in two parts.
        account.sample(IDLE, true, (0, 500_000));
        assert!(read(&mut account, 500_000, times(51, 5, 102)).is_empty());
        account.sample(IDLE, true, (0, 600_000));
        samples(&mut account, CALL, 600..1000);
        let found = read(&mut account, 1_000_000, times(52, 5, 600));
        assert_eq!(us(&found, 2, OffCore::Blocked), 399_000);
    }

    #[test]
    fn a_reading_waits_for_the_samples_of_the_next_window_before_its_time() {
        let mut account = begun();
        samples(&mut account, IDLE, 0..400);
        account.add_reading(500_000, times(51, 5, 200));
        // The next window begins before the reading.
        account.sample(WORK, false, (400_000, 401_000));
        samples(&mut account, CALL, 401..600);
        assert_eq!(us(&account.found, 1, OffCore::Blocked), 0);
        assert_eq!(us(&account.found, 2, OffCore::Blocked), 99_000);
        assert_eq!(account.found[0].from_us, 401_000);
    }

    #[test]
    fn a_slice_has_its_part() {
        let mut account = CpuAccount::new(ReadScope { from_us: 250_000, ..ReadScope::LINES });
        account.begin(0, times(0, 0, 0));
        samples(&mut account, CALL, 0..500);
        let found = read(&mut account, 500_000, times(100, 0, 480));
        assert_eq!(us(&found, 2, OffCore::Blocked), 200_000);
        assert_eq!(account.finish().unwrap().cpu_us, 50_000.0);
    }

    #[test]
    fn time_between_two_recordings_is_not_counted() {
        let mut account = begun();
        read(&mut account, 100_000, times(60, 5, 100));
        account.begin(900_000, times(700, 5, 100));
        read(&mut account, 1_000_000, times(720, 5, 100));
        assert_eq!(account.finish().unwrap().cpu_us, 30_000.0);
    }
}
