//! The observers of a recording on the writer thread.
//!
//! Their events make the file at most a tenth larger. A busy server has a hundred collections a
//! second, most of them far shorter than a sample: so the longest are drawn, as many as there is room
//! for, and the totals of all are in each heartbeat.

use super::observer::{FoundEvents, Moment, WriterObserver, WrittenWindow};
use crate::record::files::appender::Appender;
use crate::record::files::totals::RecordingTotals;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::ThreadTrace;
use cpu_prof_core::profile::window::Window;

/// Bytes of the profile for each byte of these events. The memory, long tasks and long collections may need
/// more, and the totals in heartbeats need room too.
const PROFILE_SHARE: i64 = 25;
/// The most bytes that are saved up.
const MAX_ROOM: i64 = 8 << 10;

/// The halves on the writer thread.
pub(crate) struct WriterObservers {
    halves: Vec<Box<dyn WriterObserver>>,
    /// Bytes that there is room for; less than 0 after events that are always drawn.
    room: i64,
}

impl WriterObservers {
    /// Returns these halves, which observe in their order.
    pub(super) fn new(halves: Vec<Box<dyn WriterObserver>>) -> Self {
        Self { halves, room: 0 }
    }

    /// Begins on the writer thread.
    pub(crate) fn open(&mut self) {
        self.each(|half| half.open());
    }

    /// Begins a file of the trace.
    pub(crate) fn begin_file(&mut self) {
        self.each(|half| half.begin_file());
    }

    /// Changes a window as its source returned it.
    pub(crate) fn before_passes(&mut self, window: &mut Window) {
        self.each(|half| half.before_passes(window));
    }

    /// Changes a window after all passes.
    pub(crate) fn after_passes(&mut self, window: &mut Window) {
        self.each(|half| half.after_passes(window));
    }

    /// Appends what comes before a window.
    pub(crate) fn before_window(&mut self, window: &Window, mut trace: Appender<'_>) {
        self.each(|half| half.before_window(window, &mut trace));
        self.write_waiting(trace);
    }

    /// Appends what waits.
    pub(crate) fn write_waiting(&mut self, mut trace: Appender<'_>) {
        self.each(|half| half.write_waiting(&mut trace));
    }

    /// Returns the events of a window. `cpu` has the thread's counters at the end of the window.
    pub(crate) fn window(
        &mut self,
        window: &WrittenWindow<'_>,
        cpu: CpuTimes,
        trace: &ThreadTrace,
    ) -> FoundEvents {
        let at = Moment { trace, until_us: window.window.end_us, cpu, room: self.room };
        self.found(|half, found| half.window(window, &at, found))
    }

    /// Returns the events of a thread that has waited since its last window, or since `idle_us` if
    /// it was busy in that window. `cpu` has the thread's counters.
    pub(crate) fn wait(
        &mut self,
        idle_us: Option<i64>,
        until_us: i64,
        cpu: CpuTimes,
        trace: &ThreadTrace,
    ) -> FoundEvents {
        let at = Moment { trace, until_us, cpu, room: self.room };
        self.found(|half, found| half.wait(idle_us, &at, found))
    }

    /// Returns the last events of a file that ends at a time. `is_over` tells that the recording ends, too.
    pub(crate) fn end(
        &mut self,
        is_over: bool,
        until_us: i64,
        cpu: CpuTimes,
        trace: &ThreadTrace,
    ) -> FoundEvents {
        let at = Moment { trace, until_us, cpu, room: self.room };
        self.found(|half, found| half.end(is_over, &at, found))
    }

    /// Notes that the events of the last window or wait are written.
    pub(crate) fn wrote(&mut self) {
        self.each(|half| half.wrote());
    }

    /// Notes the sizes of what was written: the profile, and these events.
    pub(crate) fn account(&mut self, profile_bytes: usize, side_bytes: usize) {
        self.room += profile_bytes as i64 / PROFILE_SHARE - side_bytes as i64;
        self.room = self.room.min(MAX_ROOM);
    }

    /// Writes the files that observers have of their own. `is_last` tells that there is no later time.
    pub(crate) fn write_files(&mut self, is_last: bool, events: &mut Events) {
        self.each(|half| half.write_files(is_last, events));
    }

    /// Ends the files that observers have of their own.
    pub(crate) fn end_files(&mut self, end_us: i64, is_provisional: bool, events: &mut Events) {
        self.each(|half| half.end_files(end_us, is_provisional, events));
    }

    /// Keeps the history of these files, and what comes until a time, microseconds.
    pub(crate) fn hold_files(&mut self, until_us: i64) {
        self.each(|half| half.hold_files(until_us));
    }

    /// Adds what these files hold.
    pub(crate) fn add_files_to(&self, totals: &mut RecordingTotals) {
        self.halves.iter().for_each(|half| half.add_files_to(totals));
    }

    fn each(&mut self, mut f: impl FnMut(&mut dyn WriterObserver)) {
        self.halves.iter_mut().for_each(|half| f(half.as_mut()));
    }

    fn found(
        &mut self,
        mut look: impl FnMut(&mut dyn WriterObserver, &mut FoundEvents),
    ) -> FoundEvents {
        let mut found = FoundEvents::default();
        self.each(|half| look(half, &mut found));
        found
    }
}

impl FoundEvents {
    /// Adds the events to those of the profile. The provisional ones come last.
    pub(crate) fn add_to(&self, events: &mut Events) {
        events.push_encoded(self.enclosing.as_bytes());
        events.push_encoded(self.lasting.as_bytes());
        if !self.provisional.as_bytes().is_empty() {
            events.begin_provisional();
            events.push_encoded(self.provisional.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_encloses_comes_first_and_what_is_replaced_last() {
        let of = |text: &str| {
            let mut events = Events::default();
            events.push_encoded(text.as_bytes());
            events
        };
        let found = FoundEvents {
            provisional: of("3"),
            lasting: of("2"),
            enclosing: of("1"),
            ..FoundEvents::default()
        };
        let mut events = of("0");
        found.add_to(&mut events);
        assert_eq!(events.as_bytes(), b"0,\n1,\n2,\n3");
        assert_eq!(events.lasting_bytes(), "0,\n1,\n2".len());
    }
}
