//! Finds the times in which a thread waited long for a core, so that DevTools can draw them. Runs on the
//! writer thread.
//!
//! DevTools draws the samples alone, and V8 samples a thread that waits as if it worked. The account of the
//! readers finds the waiting time of each window, so DevTools and the reports agree. Blocked calls are not told:
//! they last as long as they are drawn on any machine.

use std::sync::Arc;

use super::observer::{
    FoundEvents, Halves, Moment, Observer, Start, WriterObserver, WrittenWindow,
};
use crate::record::link::recording_link::RecordingLink;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::cpu_use::CoreWait;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::off_core::CpuAccount;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::PlacedWindow;
use cpu_prof_core::profile::window::path_ids::NodeId;

/// The shortest waiting time that is told, microseconds. A task of this length is a long one.
const MIN_US: i64 = 50_000;
/// The least share of the time between two windows that is told.
const MIN_SHARE: f64 = 0.25;

/// The observer of waits for a core.
pub(super) const OBSERVER: Observer = Observer { categories: &[], is_always_on: true, begin };

fn begin(start: &Start<'_>) -> Halves {
    let link = Arc::clone(&start.thread.link);
    Halves::on_writer(ThreadWaits { link, waits: CoreWaits::default() })
}

/// The waits of a thread.
struct ThreadWaits {
    link: Arc<RecordingLink>,
    waits: CoreWaits,
}

impl WriterObserver for ThreadWaits {
    fn open(&mut self) {
        self.waits.begin(system::now_us(), self.link.thread.measured.times());
    }

    fn window(&mut self, written: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        let WrittenWindow { window, placed } = written;
        if let Some(wait) = self.waits.in_window(window, placed, at.cpu) {
            at.trace.core_wait(&mut found.lasting, wait);
        }
    }

    fn wait(&mut self, _: Option<i64>, at: &Moment<'_>, _: &mut FoundEvents) {
        self.waits.begin(at.until_us, at.cpu);
    }
}

/// What is known of the windows so far.
#[derive(Default)]
struct CoreWaits {
    /// Time and values of the last reading of the counters.
    last: Option<(i64, CpuTimes)>,
    /// The last sample.
    open: Option<LastSample>,
}

/// A sample, which lasts until the next.
#[derive(Clone, Copy)]
struct LastSample {
    node: NodeId,
    is_idle: bool,
    time_us: i64,
}

impl CoreWaits {
    /// Begins with these counters. Earlier waiting time is not told.
    fn begin(&mut self, time_us: i64, times: CpuTimes) {
        self.last = Some((time_us, times));
    }

    /// Returns the time since the last reading, if the thread waited for a large part of this time. `times` are the
    /// counters at the end of the window.
    fn in_window(
        &mut self,
        window: &Window,
        placed: &PlacedWindow,
        times: CpuTimes,
    ) -> Option<CoreWait> {
        let idle = window.state(CallFrame::IDLE);
        let mut open = self.open;
        let samples = window.samples.iter().filter_map(|sample| {
            let node = *placed.ids.get(sample.node as usize)?;
            let is_idle = Some(sample.node) == idle;
            Some(LastSample { node, is_idle, time_us: sample.time_us })
        });
        self.open = samples.clone().next_back().or(open);
        let (from_us, before) = self.last.replace((window.end_us, times))?;
        let to_us = window.end_us;
        let least_us = ((to_us - from_us) as f64 * MIN_SHARE).max(MIN_US as f64) as i64;
        let on_core_us = times.cpu_us? - before.cpu_us?;
        // Most windows of busy threads end here.
        if to_us - from_us - on_core_us < least_us {
            return None;
        }
        let mut account = CpuAccount::new(ReadScope { from_us, to_us, ..ReadScope::LINES });
        account.begin(from_us, before);
        for next in samples.map(Some).chain([None]) {
            let until_us = next.map_or(to_us, |next| next.time_us);
            if let Some(LastSample { node, is_idle, time_us }) = open {
                let node = (node, SourcePosition::default());
                account.sample(node, is_idle, (time_us, until_us));
            }
            open = next;
        }
        account.add_reading(to_us, times);
        let waits = account.take_found().into_iter();
        let waits = waits.filter(|time| time.state == OffCore::Waiting);
        let waited_us = waits.map(|time| time.us as i64).sum();
        (waited_us >= least_us).then_some(CoreWait { from_us, to_us, waited_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::window::call_tree::CallTree;
    use cpu_prof_core::testing::windows::made::{self, START_US, frame};

    /// The nodes of the windows.
    const WORK: u32 = 1;
    const CALL: u32 = 2;
    const IDLE: u32 = 3;

    /// What a thread did for a time: the node that was on top, the length and the time between two samples,
    /// milliseconds.
    type Spell = (u32, i64, i64);

    /// A thread that is recorded.
    struct Recorded {
        waits: CoreWaits,
        tree: CallTree,
        now_ms: i64,
        times: CpuTimes,
    }

    impl Recorded {
        fn new() -> Self {
            let times = CpuTimes {
                cpu_us: Some(50_000),
                wait_us: Some(5_000),
                switches: Some(100),
                ..CpuTimes::default()
            };
            let mut waits = CoreWaits::default();
            waits.begin(START_US, times);
            Self { waits, tree: CallTree::new(100), now_ms: 0, times }
        }

        /// Lets the counters grow: milliseconds on a core and of waiting, and switches.
        fn count(&mut self, (cpu_ms, wait_ms, switches): (i64, i64, i64)) {
            let add = |value: &mut Option<i64>, grown: i64| *value = value.map(|old| old + grown);
            add(&mut self.times.cpu_us, 1000 * cpu_ms);
            add(&mut self.times.wait_us, 1000 * wait_ms);
            add(&mut self.times.switches, switches);
        }

        /// Returns the start, the end and the waiting time that are told of a window, milliseconds.
        fn window(
            &mut self,
            spells: &[Spell],
            counters: (i64, i64, i64),
        ) -> Option<(i64, i64, i64)> {
            let nodes = [
                (0, frame("(root)", "", 0)),
                (0, frame("work", "a.js", 1)),
                (0, frame("call", "a.js", 1)),
                (0, frame(CallFrame::IDLE, "", 0)),
            ];
            let mut samples = Vec::new();
            for (node, ms, every_ms) in spells {
                let times = (self.now_ms..self.now_ms + ms).step_by(*every_ms as usize);
                samples.extend(times.map(|ms| (1000 * ms, *node)));
                self.now_ms += ms;
            }
            let end_us = START_US + 1000 * self.now_ms;
            let window = Window { end_us, ..made::window(&nodes, &samples) };
            self.count(counters);
            let placed = self.tree.place(&window);
            let CoreWait { from_us, to_us, waited_us } =
                self.waits.in_window(&window, &placed, self.times)?;
            let ms = |us: i64| (us + 500) / 1000;
            Some((ms(from_us - START_US), ms(to_us - START_US), ms(waited_us)))
        }
    }

    #[test]
    fn long_waits_of_a_starved_thread_are_told() {
        let mut thread = Recorded::new();
        assert_eq!(thread.window(&[(WORK, 500, 20)], (100, 400, 0)), Some((0, 500, 400)));
        // A quarter of the time is enough, and a little less is not.
        assert_eq!(thread.window(&[(WORK, 500, 2)], (375, 125, 0)), Some((500, 1000, 125)));
        assert_eq!(thread.window(&[(WORK, 500, 2)], (380, 120, 0)), None);
        // A large part of a short time is none.
        assert_eq!(thread.window(&[(WORK, 100, 2)], (60, 40, 0)), None);
        assert_eq!(thread.window(&[(WORK, 100, 2)], (40, 60, 0)), Some((1600, 1700, 60)));
    }

    #[test]
    fn a_window_without_samples_is_the_time_of_the_sample_before() {
        let mut thread = Recorded::new();
        assert_eq!(thread.window(&[(WORK, 100, 1)], (100, 0, 0)), None);
        thread.now_ms += 300;
        assert_eq!(thread.window(&[], (10, 290, 0)), Some((100, 400, 290)));
    }

    #[test]
    fn a_calm_thread_that_works_blocks_or_idles_has_no_waits() {
        let mut thread = Recorded::new();
        assert_eq!(thread.window(&[(WORK, 500, 1)], (490, 10, 3)), None);
        assert_eq!(thread.window(&[(WORK, 100, 1), (CALL, 400, 1)], (105, 5, 400)), None);
        assert_eq!(thread.window(&[(WORK, 100, 1), (IDLE, 400, 200)], (100, 2, 2)), None);
    }

    #[test]
    fn the_time_of_a_stop_is_told() {
        let mut thread = Recorded::new();
        let stopped = [(WORK, 200, 1), (WORK, 3000, 3000), (WORK, 100, 1)];
        let (from_ms, to_ms, waited_ms) = thread.window(&stopped, (299, 0, 1)).unwrap();
        assert_eq!((from_ms, to_ms), (0, 3300));
        assert!((2900..=3000).contains(&waited_ms), "{waited_ms}");
    }

    #[test]
    fn time_counts_from_the_last_heartbeat_of_a_thread_that_was_idle() {
        let mut thread = Recorded::new();
        assert_eq!(thread.window(&[(IDLE, 500, 250)], (0, 0, 1)), None);
        thread.count((0, 70, 20));
        thread.now_ms = 9_500;
        thread.waits.begin(START_US + 9_500_000, thread.times);
        assert_eq!(thread.window(&[(WORK, 500, 10)], (100, 400, 0)), Some((9500, 10000, 400)));
    }

    #[test]
    fn nothing_is_told_without_counters() {
        let mut thread = Recorded::new();
        thread.times = CpuTimes::default();
        assert_eq!(thread.window(&[(WORK, 500, 20)], (0, 0, 0)), None);
        thread.waits = CoreWaits::default();
        assert_eq!(thread.window(&[(WORK, 500, 20)], (0, 0, 0)), None);
    }
}
