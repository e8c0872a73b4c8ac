//! Makes windows from the ticks of a thread that runs no JavaScript.
//!
//! A tick tells how much CPU time the thread has used, and V8's samples tell moments. So a tick becomes a part of
//! the time line that is as long as its CPU time and ends with it, and what is left between is idle. The parts
//! add up to the thread's CPU time.

use super::pairing::NativeNodes;
use crate::sampler::native::{StackEnd, ThreadTicks, Tick};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};

/// The shortest idle time that is shown, microseconds. Shorter ones are added up.
const MIN_IDLE_US: i64 = 1000;
/// The most CPU time that a tick tells of, microseconds: two steps of the slowest kernel. A thread that has used
/// more had ticks that are lost.
const MAX_TICK_US: i64 = 20_000;
/// The least CPU time without a stack that is told at the end, microseconds.
const MIN_LAST_US: i64 = 500;

/// What is told of a thread so far.
#[derive(Debug, Clone)]
pub(crate) struct TickWindows {
    /// Time up to which the thread is told, microseconds.
    until_us: i64,
    /// CPU time of the thread that is told, microseconds.
    told_cpu_us: i64,
    /// Idle time that is not told, microseconds; less than 0 if too much is told.
    owed_us: i64,
}

impl TickWindows {
    /// Returns the state before the first tick of a thread, which is told from a time and a CPU time on.
    pub(crate) fn new(start_us: i64, cpu_us: i64) -> Self {
        Self { until_us: start_us, told_cpu_us: cpu_us, owed_us: 0 }
    }

    /// Goes on with another thread, which is told from a CPU time on.
    pub(crate) fn change_thread(&mut self, cpu_us: i64) {
        self.told_cpu_us = cpu_us;
    }

    /// Returns the window of what a thread did. `frame_of` returns the frame of a function by its number. After
    /// the last there are no more.
    pub(crate) fn window(
        &mut self,
        did: &ThreadTicks,
        is_last: bool,
        frame_of: impl Fn(u32) -> CallFrame,
    ) -> Window {
        // The clock of another thread that has got the id.
        if did.seen_cpu_us + MAX_TICK_US < self.told_cpu_us {
            self.change_thread(did.since_cpu_us);
        }
        let mut window = Window {
            frames: vec![CallFrame::root()],
            nodes: vec![WindowNode { parent: 0, frame: 0 }],
            start_us: self.until_us,
            end_us: did.seen_us.max(self.until_us),
            ..Window::default()
        };
        let mut nodes = NativeNodes::default();
        let mut add = |window: &mut Window, told: &mut Self, tick: &Tick| {
            told.add(window, tick, &mut nodes, &frame_of);
        };
        did.ticks.iter().for_each(|tick| add(&mut window, self, tick));
        let left_us = did.seen_cpu_us - self.told_cpu_us;
        if left_us > MAX_TICK_US || is_last && left_us >= MIN_LAST_US {
            let (time_us, cpu_us) = (did.seen_us, did.seen_cpu_us);
            let tick = Tick { time_us, cpu_us, functions: Vec::new(), end: StackEnd::Cut };
            add(&mut window, self, &tick);
        }
        let left_us = (did.seen_cpu_us - self.told_cpu_us).max(0);
        let idle_us = did.seen_us - self.until_us - left_us;
        // Without an idle part after the last tick, its function would last until the trace ends.
        if idle_us >= MIN_IDLE_US || is_last {
            let node = window.state_or_new(CallFrame::IDLE);
            window.samples.push(Sample { time_us: self.until_us, node, ..Sample::default() });
            self.until_us += idle_us.max(0);
        }
        window
    }

    /// Adds a tick.
    fn add(
        &mut self,
        window: &mut Window,
        tick: &Tick,
        nodes: &mut NativeNodes,
        frame_of: impl Fn(u32) -> CallFrame,
    ) {
        let used_us = (tick.cpu_us - self.told_cpu_us).max(0);
        let span_us = tick.time_us - self.until_us;
        self.told_cpu_us = self.told_cpu_us.max(tick.cpu_us);
        self.owed_us += span_us - used_us;
        if span_us <= 0 {
            return;
        }
        // Earlier ticks can have got what is idle, so this one gives some of its own.
        let most_us = (span_us - used_us / 2).max(0);
        let idle_us = if self.owed_us < MIN_IDLE_US { 0 } else { self.owed_us.min(most_us) };
        self.owed_us -= idle_us;
        let lost_us = if used_us > MAX_TICK_US { span_us - idle_us - MAX_TICK_US } else { 0 };
        let mut push = |window: &mut Window, node: u32, us: i64| {
            let time_us = self.until_us;
            window.samples.push(Sample { time_us, node, ..Sample::default() });
            self.until_us += us;
        };
        if idle_us > 0 {
            let idle = window.state_or_new(CallFrame::IDLE);
            push(window, idle, idle_us);
        }
        if lost_us > 0 {
            let unknown = nodes.stack(window, 0, &[], false, &frame_of);
            push(window, unknown, lost_us);
        }
        let is_whole = tick.end == StackEnd::Thread;
        let node = nodes.stack(window, 0, &tick.functions, is_whole, &frame_of);
        push(window, node, span_us - idle_us - lost_us.max(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(time_us: i64, cpu_us: i64, function: u32) -> Tick {
        Tick { time_us, cpu_us, functions: vec![function, 0], end: StackEnd::Thread }
    }

    fn did(ticks: Vec<Tick>, seen_us: i64, seen_cpu_us: i64) -> ThreadTicks {
        let has_ended = false;
        ThreadTicks {
            thread: 7,
            name: String::new(),
            since_cpu_us: 0,
            ticks,
            seen_us,
            seen_cpu_us,
            has_ended,
        }
    }

    /// Returns the parts of the time line, milliseconds and name, up to the end of the window.
    fn parts(windows: &mut TickWindows, did: &ThreadTicks, is_last: bool) -> Vec<(i64, String)> {
        let window = windows.window(did, is_last, |number| CallFrame::state(&format!("f{number}")));
        let ends = window.samples.iter().skip(1).map(|next| next.time_us);
        let name = |sample: &Sample| {
            let node = window.nodes[sample.node as usize];
            window.frames[node.frame as usize].function_name.clone()
        };
        let each = window.samples.iter().zip(ends.chain([windows.until_us]));
        each.map(|(sample, end_us)| ((end_us - sample.time_us) / 1000, name(sample))).collect()
    }

    fn named(parts: &[(i64, &str)]) -> Vec<(i64, String)> {
        parts.iter().map(|(ms, name)| (*ms, (*name).to_owned())).collect()
    }

    #[test]
    fn a_tick_is_as_long_as_its_cpu_time_and_the_rest_is_idle() {
        let mut windows = TickWindows::new(0, 0);
        let ticks = vec![tick(4000, 4000, 1), tick(8000, 8000, 2), tick(100_000, 12_000, 3)];
        let first = parts(&mut windows, &did(ticks, 150_000, 13_000), false);
        let expected = [(4, "f1"), (4, "f2"), (88, "(idle)"), (4, "f3"), (49, "(idle)")];
        assert_eq!(first, named(&expected));
        let next = parts(&mut windows, &did(vec![tick(152_000, 15_000, 4)], 152_000, 15_000), true);
        assert_eq!(next, named(&[(3, "f4"), (0, "(idle)")]));
    }

    #[test]
    fn short_idle_times_add_up() {
        let mut windows = TickWindows::new(0, 0);
        let ticks: Vec<_> = (1..=10).map(|index| tick(index * 4400, index * 4000, 1)).collect();
        let told = parts(&mut windows, &did(ticks, 44_000, 40_000), false);
        let sum = |name: &str| -> i64 {
            told.iter().filter(|(_, of)| of == name).map(|(ms, _)| ms).sum()
        };
        assert!((36..=43).contains(&sum("f1")), "{told:?}");
        assert!((1..=4).contains(&sum("(idle)")), "{told:?}");
    }

    #[test]
    fn time_without_a_stack_is_told_as_such() {
        let mut windows = TickWindows::new(0, 0);
        // The first tick with a stack comes late.
        let late =
            parts(&mut windows, &did(vec![tick(100_000, 90_000, 1)], 100_000, 90_000), false);
        assert_eq!(late, named(&[(10, "(idle)"), (70, "(truncated)"), (20, "f1")]));
        // The thread blocks the signal.
        let blocks = parts(&mut windows, &did(Vec::new(), 200_000, 140_000), false);
        assert_eq!(blocks, named(&[(50, "(idle)"), (30, "(truncated)"), (20, "(truncated)")]));
        let last = parts(&mut windows, &did(Vec::new(), 201_000, 141_000), true);
        assert_eq!(last, named(&[(1, "(truncated)"), (0, "(idle)")]));
    }

    #[test]
    fn a_clock_that_runs_back_is_that_of_another_thread() {
        let mut windows = TickWindows::new(0, 0);
        parts(&mut windows, &did(vec![tick(900_000, 900_000, 1)], 900_000, 900_000), false);
        let next = parts(&mut windows, &did(vec![tick(910_000, 10_000, 2)], 910_000, 10_000), true);
        assert_eq!(next, named(&[(10, "f2"), (0, "(idle)")]));
    }

    #[test]
    fn a_tick_after_the_last_look_ends_when_the_thread_ends() {
        let mut windows = TickWindows::new(0, 0);
        let ticks = vec![tick(4000, 4000, 1), tick(8000, 8000, 2)];
        let last = parts(&mut windows, &did(ticks, 3000, 3000), true);
        assert_eq!(last, named(&[(4, "f1"), (4, "f2"), (0, "(idle)")]));
    }

    #[test]
    fn clocks_that_run_back_do_no_harm() {
        let mut windows = TickWindows::new(10_000, 5000);
        let ticks = vec![tick(9000, 4000, 1), tick(14_000, 20_000, 2), tick(13_000, 21_000, 3)];
        let told = parts(&mut windows, &did(ticks, 12_000, 0), true);
        assert_eq!(told, named(&[(4, "f2"), (0, "(idle)")]));
    }
}
