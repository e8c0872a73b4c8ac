//! Windows overlap: removes from a window the samples that the recording has already, and those that
//! V8 takes of the profiler at work.

use std::time::Duration;

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::{Sample, Window};

/// Returns the time for which the old and the next profile both run. V8 processes a sample when the
/// next is due.
pub(crate) fn duration(interval_us: u32) -> Duration {
    const DELAY: Duration = Duration::from_millis(1);
    Duration::from_micros(u64::from(interval_us)) * 5 / 4 + DELAY
}

/// The time up to which a recording has samples: CLOCK_MONOTONIC, microseconds.
#[derive(Debug)]
pub(crate) struct TakenUntil(i64);

impl TakenUntil {
    /// Returns the state of a recording without samples.
    pub(crate) const START: Self = Self(i64::MIN);

    /// Returns whether nothing was taken yet.
    pub(crate) fn is_start(&self) -> bool {
        self.0 == i64::MIN
    }

    /// Removes the samples that the recording has already, and V8's own sample of `profiler_span_us`, the
    /// time in which the next profile was started. V8 takes that sample last in the span. An earlier
    /// sample of the span is an ordinary one, whose signal came while the profile was started.
    pub(crate) fn remove_from(
        &mut self,
        window: &mut Window,
        profiler_span_us: Option<(i64, i64)>,
    ) {
        window.samples.retain(|sample| sample.time_us > self.0);
        let last_us = window.samples.last().map(|sample| sample.time_us);
        self.0 = self.0.max(last_us.unwrap_or(i64::MIN));
        if let Some((from_us, to_us)) = profiler_span_us {
            let is_profiler = |sample: &Sample| (from_us..=to_us).contains(&sample.time_us);
            if let Some(own) = window.samples.iter().rposition(is_profiler) {
                window.samples.remove(own);
            }
            self.0 = self.0.max(to_us);
        }
    }
}

/// Replaces V8's own sample at the start of a window that follows a suspension. An idle sample there
/// stands for the signal that would have stayed pending during the wait.
///
/// V8's first tick comes an interval after the start, or later where the thread waits for a core. Unless
/// the thread has waited for events until then, the tick stands for that time too, but for half an
/// interval: the last tick stands for so much time after the work.
pub(crate) fn replace_first_sample(
    window: &mut Window,
    (from_us, to_us): (i64, i64),
    interval_us: i64,
) {
    window.samples.retain(|sample| sample.time_us > to_us);
    let node = window.state_or_new(CallFrame::IDLE);
    let early_us = to_us + interval_us / 2;
    let first = window.samples.first().filter(|first| first.node != node);
    if let Some(first) = first.filter(|first| first.time_us > early_us).copied() {
        window.samples.insert(0, Sample { time_us: early_us, ..first });
    }
    window.samples.insert(0, Sample { time_us: from_us, node, ..Sample::default() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::window::WindowNode;

    fn taken(
        until: &mut TakenUntil,
        times_us: &[i64],
        profiler_span_us: Option<(i64, i64)>,
    ) -> Vec<i64> {
        let samples = times_us.iter().map(|&time_us| Sample { time_us, ..Sample::default() });
        let mut window = Window { samples: samples.collect(), ..Window::default() };
        until.remove_from(&mut window, profiler_span_us);
        window.samples.iter().map(|sample| sample.time_us).collect()
    }

    #[test]
    fn each_sample_is_taken_once() {
        let mut until = TakenUntil::START;
        assert_eq!(taken(&mut until, &[100, 200, 210, 300], Some((205, 211))), [100, 200, 300]);
        assert_eq!(taken(&mut until, &[210, 300, 400], None), [400]);
    }

    #[test]
    fn a_sample_that_came_while_a_profile_was_started_is_kept() {
        let mut until = TakenUntil::START;
        assert_eq!(taken(&mut until, &[100, 206, 210], Some((205, 211))), [100, 206]);
        assert_eq!(taken(&mut until, &[206, 210, 300], None), [300]);
    }

    #[test]
    fn the_own_sample_is_not_taken_from_the_next_profile_either() {
        let mut until = TakenUntil::START;
        assert_eq!(taken(&mut until, &[100], Some((205, 211))), [100]);
        assert_eq!(taken(&mut until, &[210, 300], None), [300]);
    }

    #[test]
    fn the_first_tick_after_a_suspension_stands_for_the_time_before_it() {
        let resumed = |ticks: &[(i64, bool)]| {
            let root = WindowNode { parent: 0, frame: 0 };
            let mut window = Window {
                frames: vec![CallFrame::state("(root)")],
                nodes: vec![root],
                ..Window::default()
            };
            let idle = window.state_or_new(CallFrame::IDLE);
            let node = |is_idle| if is_idle { idle } else { 0 };
            window.samples = [(105, false)]
                .iter()
                .chain(ticks)
                .map(|&(time_us, is_idle)| Sample {
                    time_us,
                    node: node(is_idle),
                    ..Sample::default()
                })
                .collect();
            replace_first_sample(&mut window, (100, 110), 1000);
            let all = window.samples.iter().map(|sample| (sample.time_us, sample.node == idle));
            all.collect::<Vec<_>>()
        };
        assert_eq!(
            resumed(&[(1115, false), (2115, false)]),
            [(100, true), (610, false), (1115, false), (2115, false)]
        );
        assert_eq!(resumed(&[(9000, true)]), [(100, true), (9000, true)]);
        assert_eq!(resumed(&[(500, false)]), [(100, true), (500, false)]);
        assert_eq!(resumed(&[]), [(100, true)]);
    }
}
