//! The passes over a window, between the sampler and the call tree, in their order.

use super::idle::{IdleTimes, WaitCounters};
use super::inlined::KnownCalls;
use super::native_names::AddonName;
use super::overlap::{self, TakenUntil};
use super::profiler_frames;
use super::unseen_loop::UnseenLoop;
use crate::record::link::taken_window::Circumstances;
use crate::sampler::v8::StallDetector;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::window::Window;

/// What the passes remember from one window to the next.
pub(crate) struct WindowPasses {
    /// Time between two samples, microseconds.
    interval_us: i64,
    stall: StallDetector,
    /// Number of times that V8's sampling was stuck, so that it is restarted.
    pub restarts: u32,
    /// Start of the recording, CLOCK_MONOTONIC, microseconds; none after the first window.
    start_us: Option<i64>,
    taken_until: TakenUntil,
    addon_name: AddonName,
    unseen_loop: UnseenLoop,
    calls: KnownCalls,
    /// None if V8's sampling ends the waits of the event loop.
    idle: Option<IdleTimes>,
}

impl WindowPasses {
    /// Returns the state of a recording without windows, which starts at `start_us`.
    pub(crate) fn new(config: &Config, start_us: i64, idle: Option<IdleTimes>) -> Self {
        Self {
            interval_us: i64::from(config.interval_us),
            stall: StallDetector::new(config.interval_us),
            restarts: 0,
            start_us: Some(start_us),
            taken_until: TakenUntil::START,
            addon_name: AddonName::default(),
            unseen_loop: UnseenLoop::default(),
            calls: KnownCalls::new(config.max_nodes),
            idle,
        }
    }

    /// Changes a window into what is written of it. `cpu` has the thread's counters at the end of the
    /// window. Returns whether V8's sampling is stuck.
    pub(crate) fn run(
        &mut self,
        window: &mut Window,
        circumstances: &Circumstances,
        cpu: &CpuTimes,
    ) -> bool {
        if let Some(call_us) = circumstances.addon_call_us {
            self.addon_name.learn(window, call_us);
        }
        self.addon_name.rename(window);
        profiler_frames::hide(window, self.taken_until.is_start());
        if !circumstances.began_in.is_empty() {
            self.unseen_loop.begin(circumstances.began_in.clone());
        }
        self.unseen_loop.reveal(window);
        let is_stuck = self.stall.is_stuck(window);
        self.taken_until.remove_from(window, circumstances.profiler_span_us);
        if let Some(start_us) = self.start_us.take() {
            profiler_frames::show_start(window, start_us);
        }
        if let Some(resumed_us) = circumstances.resumed_us {
            overlap::replace_first_sample(window, resumed_us, self.interval_us);
        }
        self.calls.charge_inlined(window);
        self.tell_idle_from_work(window, circumstances, cpu);
        self.restarts += u32::from(is_stuck);
        is_stuck
    }

    fn tell_idle_from_work(
        &mut self,
        window: &mut Window,
        circumstances: &Circumstances,
        cpu: &CpuTimes,
    ) {
        let Circumstances { activity, is_suspended, .. } = circumstances;
        let Some((idle, activity)) = self.idle.as_mut().zip(activity.as_ref()) else { return };
        let slept_us = cpu.wait_us.map(|wait_us| activity.slept_us(wait_us));
        idle.classify(window, WaitCounters { loop_us: activity.waited_us, slept_us });
        if *is_suspended {
            idle.begin_wait(window);
        }
    }

    /// Returns the time of the next idle sample of a thread that waits, microseconds; none if the
    /// event loop does not tell.
    pub(crate) fn next_idle_us(&self) -> Option<i64> {
        self.idle.as_ref()?.next_idle_us()
    }
}
