//! Tells idle time from native work in the samples of a thread.
//!
//! V8's idle state begins before the event loop waits, and ends with the next JavaScript. So the
//! state also covers native work in the loop's callbacks: TLS, zlib, parsers. The loop counts its
//! waits, and the sum of a window's waits is shared out: first to the gaps before idle samples,
//! because the sampling signal is blocked while the loop waits and the pending sample comes when the
//! wait ends; then to the idle samples themselves. The other idle samples are native work.
//!
//! A signal to the program ends a wait too, and libuv then forgets this wait. The time that the
//! thread has slept covers the gaps in that case.

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::{Sample, Window};

/// The classification of one thread's samples, window after window. Times are microseconds.
#[derive(Debug)]
pub(crate) struct IdleTimes {
    interval_us: i64,
    /// Time of the last sample, or the start: CLOCK_MONOTONIC.
    last_us: i64,
    /// Whether the last written sample was idle.
    is_idle: bool,
    /// Counters up to the last window.
    counters: WaitCounters,
    /// Waits that no sample has got yet; less than 0 if samples have got more.
    rest_us: i64,
}

/// Counters of a thread, microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitCounters {
    /// Waits of the event loop for events.
    pub loop_us: i64,
    /// Time in which the thread neither ran nor waited for a core; none if that is not known.
    pub slept_us: Option<i64>,
}

/// A sample in V8's idle state, and the time that can have been a wait.
struct IdleSample {
    /// Index into the window's samples.
    index: usize,
    /// Time without samples before this sample.
    gap_us: i64,
    /// Time until the next sample.
    alone_us: i64,
}

impl IdleTimes {
    /// Returns the state at the start of a recording.
    pub(crate) fn new(interval_us: u32, start_us: i64, counters: WaitCounters) -> Self {
        let interval_us = i64::from(interval_us);
        Self { interval_us, last_us: start_us, is_idle: false, counters, rest_us: 0 }
    }

    /// Returns when the thread became idle, if it has waited since its last sample: CLOCK_MONOTONIC.
    /// Returns None if that sample was idle already.
    pub(crate) fn next_idle_us(&self) -> Option<i64> {
        (!self.is_idle).then(|| self.last_us + self.interval_us)
    }

    /// Adds an idle sample at the end of a window, which is the beginning of a wait without samples.
    pub(crate) fn begin_wait(&mut self, window: &mut Window) {
        let idle = window.state_or_new(CallFrame::IDLE);
        let time_us = window.end_us.max(self.last_us);
        push_idle(&mut window.samples, time_us, idle);
        (self.last_us, self.is_idle) = (time_us, true);
    }

    /// Adds the idle samples that V8 has not taken during waits, and turns idle samples of native
    /// work into samples of `(program)`. Idle samples in a row become two, however long the wait.
    /// `counters` are those at the end of the window.
    pub(crate) fn classify(&mut self, window: &mut Window, counters: WaitCounters) {
        let idle = window.state(CallFrame::IDLE);
        let candidates = idle.map(|idle| self.idle_samples(window, idle)).unwrap_or_default();
        self.rest_us += self.waited_us(counters, &candidates);
        self.counters = counters;
        let Some(last) = window.samples.last().copied() else { return };
        match idle {
            Some(idle) => self.rewrite(window, idle, &candidates),
            None => (self.last_us, self.is_idle) = (last.time_us, false),
        }
        // The sample at the end of a wait can come with the next window. A wait that was over before
        // the last sample has none.
        let open_us = (window.end_us - self.last_us).max(self.interval_us);
        self.rest_us = self.rest_us.clamp(-self.interval_us, open_us);
    }

    /// Returns the waits since the last window.
    fn waited_us(&self, counters: WaitCounters, candidates: &[IdleSample]) -> i64 {
        let slept_us = counters.slept_us.zip(self.counters.slept_us);
        let slept_us = slept_us.map(|(now_us, last_us)| now_us - last_us).unwrap_or_default();
        // A thread also sleeps in blocking calls, which are not waits, but leave no gaps.
        let gaps_us = candidates.iter().map(|candidate| candidate.gap_us).sum();
        (counters.loop_us - self.counters.loop_us).max(slept_us.clamp(0, gaps_us))
    }

    /// Rewrites the samples of a window, of which `idle` is the idle node.
    fn rewrite(&mut self, window: &mut Window, idle: u32, candidates: &[IdleSample]) {
        let program = window.state_or_new(CallFrame::PROGRAM);
        let gaps = self.share_out_gaps(candidates);
        let own = self.share_out_samples(candidates);
        let mut shares = candidates.iter().zip(gaps.into_iter().zip(own)).peekable();
        for (index, sample) in std::mem::take(&mut window.samples).into_iter().enumerate() {
            let time_us = sample.time_us;
            let share = shares.next_if(|(candidate, _)| candidate.index == index);
            let Some((_, (waited_us, is_idle))) = share else {
                window.samples.push(sample);
                (self.last_us, self.is_idle) = (time_us, false);
                continue;
            };
            if waited_us > 0 && !self.is_idle {
                push_idle(&mut window.samples, time_us - waited_us, idle);
            }
            if is_idle {
                push_idle(&mut window.samples, time_us, idle);
            } else {
                window.samples.push(Sample { node: program, ..sample });
            }
            (self.last_us, self.is_idle) = (time_us, is_idle);
        }
    }

    fn idle_samples(&self, window: &Window, idle: u32) -> Vec<IdleSample> {
        let samples = &window.samples;
        let time_us = |index: usize| samples.get(index).map(|sample| sample.time_us);
        let is_idle = |index: usize| samples.get(index).is_some_and(|sample| sample.node == idle);
        // Samples come up to half an interval late.
        let gap_us = |since_us: i64| {
            if since_us * 2 > self.interval_us * 3 { since_us - self.interval_us } else { 0 }
        };
        let mut last_us = self.last_us;
        let mut found = Vec::new();
        for (index, sample) in samples.iter().enumerate() {
            if sample.node == idle {
                let until_us = time_us(index + 1).map(|next_us| next_us - sample.time_us);
                let until_us = until_us.unwrap_or(self.interval_us);
                let next_gap_us = if is_idle(index + 1) { gap_us(until_us) } else { 0 };
                let alone_us = until_us - next_gap_us;
                found.push(IdleSample {
                    index,
                    gap_us: gap_us(sample.time_us - last_us),
                    alone_us,
                });
            }
            last_us = sample.time_us;
        }
        found
    }

    /// Returns for each idle sample how much of the gap before the sample was a wait. In the longest
    /// gaps this is most certain; a thread that waits for a core has no samples either.
    fn share_out_gaps(&mut self, candidates: &[IdleSample]) -> Vec<i64> {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(candidates[*index].gap_us));
        let mut waits_us = vec![0; candidates.len()];
        for index in order {
            let gap_us = candidates[index].gap_us;
            let waited_us = gap_us.min(self.rest_us + self.interval_us);
            if waited_us > gap_us * 3 / 4 {
                waits_us[index] = waited_us;
                self.rest_us -= waited_us;
            }
        }
        waits_us
    }

    /// Returns for each idle sample whether the sample itself was a wait: as many, evenly spread, as
    /// the rest of the waits needs.
    fn share_out_samples(&mut self, candidates: &[IdleSample]) -> Vec<bool> {
        let total_us: i64 = candidates.iter().map(|candidate| candidate.alone_us).sum();
        let share_us = self.rest_us.clamp(0, total_us);
        let (mut seen_us, mut given_us) = (0, 0);
        let is_wait = candidates.iter().map(|candidate| {
            seen_us += candidate.alone_us;
            let due_us = share_us * seen_us / total_us.max(1);
            let is_wait = due_us - given_us >= (candidate.alone_us + 1) / 2;
            given_us += if is_wait { candidate.alone_us } else { 0 };
            is_wait
        });
        let is_wait = is_wait.collect();
        self.rest_us -= given_us;
        is_wait
    }
}

/// Adds an idle sample, which replaces the last of two.
fn push_idle(samples: &mut Vec<Sample>, time_us: i64, idle: u32) {
    if let [.., before, last] = samples.as_slice()
        && before.node == idle
        && last.node == idle
    {
        samples.pop();
    }
    samples.push(Sample { time_us, node: idle, ..Sample::default() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{frame, window};
    use proptest::prelude::*;

    const ROOT: u32 = 0;
    const IDLE: u32 = 1;
    const PROGRAM: u32 = 2;
    const JS: u32 = 3;

    /// Returns a window of samples: times in milliseconds, and nodes.
    fn of(samples: &[(i64, u32)]) -> Window {
        let frames = ["(root)", "(idle)", "(program)"].map(|name| (ROOT, CallFrame::state(name)));
        let nodes: Vec<_> = frames.into_iter().chain([(ROOT, frame("f", "/a.js", 5))]).collect();
        let mut window = window(&nodes, &[]);
        let at = |(ms, node): &(i64, u32)| Sample {
            time_us: ms * 1000,
            node: *node,
            ..Sample::default()
        };
        window.samples = samples.iter().map(at).collect();
        window
    }

    fn classified(
        times: &mut IdleTimes,
        samples: &[(i64, u32)],
        waited_ms: i64,
    ) -> Vec<(i64, u32)> {
        let mut window = of(samples);
        times.classify(&mut window, waited(waited_ms));
        window.samples.iter().map(|sample| (sample.time_us / 1000, sample.node)).collect()
    }

    fn waited(ms: i64) -> WaitCounters {
        WaitCounters { loop_us: ms * 1000, slept_us: None }
    }

    fn times() -> IdleTimes {
        IdleTimes::new(1000, 0, waited(0))
    }

    #[test]
    fn a_long_wait_has_two_samples() {
        let samples = classified(&mut times(), &[(1, JS), (100, IDLE), (101, JS)], 99);
        assert_eq!(samples, [(1, JS), (2, IDLE), (100, IDLE), (101, JS)]);
        // The wait ended as the sample came.
        let samples = classified(&mut times(), &[(1, JS), (100, IDLE), (101, JS)], 98);
        assert_eq!(samples, [(1, JS), (2, IDLE), (100, PROGRAM), (101, JS)]);
    }

    #[test]
    fn waits_in_a_row_have_two_samples() {
        let waits = [(50, IDLE), (100, IDLE), (150, IDLE), (151, JS)];
        let samples = classified(&mut times(), &waits, 151);
        assert_eq!(samples, [(1, IDLE), (150, IDLE), (151, JS)]);
        let mut times = times();
        assert_eq!(times.next_idle_us(), Some(1000));
        classified(&mut times, &[(50, IDLE)], 50);
        assert_eq!(times.next_idle_us(), None);
        assert_eq!(classified(&mut times, &[(90, IDLE)], 90), [(90, IDLE)]);
    }

    #[test]
    fn a_wait_at_the_end_of_a_window_belongs_to_a_sample_of_the_next() {
        let mut times = times();
        let mut window = of(&[(1, JS), (50, IDLE)]);
        window.end_us = 100_000;
        times.classify(&mut window, waited(48 + 50));
        let samples = classified(&mut times, &[(100, IDLE), (150, IDLE), (151, JS)], 149);
        assert_eq!(samples, [(100, IDLE), (150, IDLE), (151, JS)]);
    }

    #[test]
    fn native_work_in_a_callback_is_not_idle() {
        let work: Vec<(i64, u32)> = (1..=10).map(|ms| (ms, IDLE)).collect();
        let samples = classified(&mut times(), &work, 0);
        assert!(samples.iter().all(|(_, node)| *node == PROGRAM), "{samples:?}");
        let work: Vec<(i64, u32)> = (51..=60).map(|ms| (ms, IDLE)).collect();
        let samples = classified(&mut times(), &work, 50);
        assert_eq!(samples[..2], [(1, IDLE), (51, PROGRAM)]);
        assert!(samples[1..].iter().all(|(_, node)| *node == PROGRAM), "{samples:?}");
    }

    #[test]
    fn short_waits_are_shared_out_evenly() {
        let ticks: Vec<(i64, u32)> = (1..=100).map(|ms| (ms, IDLE)).collect();
        let samples = classified(&mut times(), &ticks, 25);
        let work = samples.iter().filter(|(_, node)| *node == PROGRAM).count();
        assert_eq!(work, 75);
        let half = samples.iter().take(50).filter(|(_, node)| *node == PROGRAM).count();
        assert!((36..=39).contains(&half), "{half}");
    }

    #[test]
    fn a_gap_in_which_the_loop_has_not_waited_is_not_idle() {
        // The thread waited for a core between 1 and 80.
        let samples = classified(&mut times(), &[(1, JS), (80, IDLE), (120, IDLE), (121, JS)], 39);
        assert_eq!(samples, [(1, JS), (80, PROGRAM), (81, IDLE), (120, PROGRAM), (121, JS)]);
    }

    #[test]
    fn a_wait_can_be_shorter_than_its_gap() {
        let samples = classified(&mut times(), &[(1, JS), (100, IDLE), (101, JS)], 90);
        assert_eq!(samples, [(1, JS), (9, IDLE), (100, PROGRAM), (101, JS)]);
    }

    #[test]
    fn a_wait_that_a_signal_ended_is_known_from_sleep() {
        let slept = |loop_us, slept_us| WaitCounters { loop_us, slept_us: Some(slept_us) };
        let mut times = IdleTimes::new(1000, 0, slept(50_000, 3_000_000));
        let mut window = of(&[(1, JS), (100, IDLE), (101, JS)]);
        times.classify(&mut window, slept(0, 3_097_000));
        let samples: Vec<_> =
            window.samples.iter().map(|sample| (sample.time_us, sample.node)).collect();
        assert_eq!(samples, [(1000, JS), (2000, IDLE), (100_000, PROGRAM), (101_000, JS)]);
        // Sleep in a blocking call is not a wait.
        let mut window = of(&[(102, IDLE), (103, JS)]);
        times.classify(&mut window, slept(0, 5_000_000));
        assert_eq!(window.samples[0].node, PROGRAM);
    }

    #[test]
    fn a_wait_can_begin_at_the_end_of_a_window() {
        let mut times = times();
        let mut window = of(&[(1, JS)]);
        window.end_us = 5000;
        times.classify(&mut window, waited(0));
        times.begin_wait(&mut window);
        assert_eq!((window.samples[1].time_us, window.samples[1].node), (5000, IDLE));
        assert_eq!(times.next_idle_us(), None);
        assert_eq!(classified(&mut times, &[(90, IDLE), (91, JS)], 84), [(90, PROGRAM), (91, JS)]);
    }

    #[test]
    fn a_window_without_waits_stays_as_it_is() {
        let samples = [(1, JS), (2, JS), (9, JS)];
        assert_eq!(classified(&mut times(), &samples, 0), samples);
        assert_eq!(classified(&mut times(), &[], 7), []);
    }

    proptest! {
        #[test]
        fn idle_time_is_the_time_of_the_waits(
            steps in prop::collection::vec((any::<bool>(), 1_i64..40), 1..60),
            share in 0_i64..=100,
        ) {
            let mut now = 0;
            let mut samples = Vec::new();
            let mut possible = 0;
            for (is_wait, ms) in steps {
                if is_wait {
                    now += ms;
                    possible += ms;
                    samples.push((now, IDLE));
                }
                now += 1;
                samples.push((now, JS));
            }
            let waited = possible * share / 100;
            let samples = classified(&mut times(), &samples, waited);
            prop_assert!(samples.is_sorted_by_key(|(ms, _)| *ms));
            let idle: i64 = samples
                .windows(2)
                .filter(|pair| pair[0].1 == IDLE)
                .map(|pair| pair[1].0 - pair[0].0)
                .sum();
            prop_assert!(idle <= waited + 2, "{idle} of {waited}");
            let pairs = samples.windows(3).filter(|of| of.iter().all(|(_, node)| *node == IDLE));
            prop_assert_eq!(pairs.count(), 0);
        }
    }
}
