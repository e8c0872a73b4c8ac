//! The trace of a native thread, and of those of its name that come after it.

use super::thread_ticks::TickWindows;
use crate::record::files::complete_segment::SegmentContents;
use crate::record::files::segments::TraceSegments;
use crate::sampler::native::{ThreadTicks, Tick};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::format::trace::write::event_args::{Flush, TraceEnd};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::CallTree;

/// The most ticks that wait while the trace cannot be written.
const MAX_WAITING: usize = 20_000;

/// The trace of a native thread.
pub(super) struct Lane {
    /// Name of the thread, without its id.
    pub name: String,
    pub trace: TraceSegments,
    tree: CallTree,
    windows: TickWindows,
    /// Ticks that could not be written so far.
    waiting: Vec<Tick>,
    has_failed: bool,
}

impl Lane {
    /// Returns the lane of a thread that is told from a time and a CPU time on, microseconds.
    pub(super) fn new(
        name: String,
        trace: TraceSegments,
        max_nodes: usize,
        windows: TickWindows,
    ) -> Self {
        Self {
            name,
            trace,
            tree: CallTree::new(max_nodes),
            windows,
            waiting: Vec::new(),
            has_failed: false,
        }
    }

    /// Goes on with another thread, which is told from a CPU time on.
    pub(super) fn change_thread(&mut self, cpu_us: i64) {
        self.windows.change_thread(cpu_us);
    }

    /// Writes what the thread did. `events` is a buffer.
    pub(super) fn write(
        &mut self,
        mut did: ThreadTicks,
        is_last: bool,
        frame_of: impl Fn(u32) -> CallFrame,
        events: &mut Events,
    ) {
        if self.has_failed {
            return;
        }
        let kept = self.trace.keep_file(is_last);
        if matches!(kept, Ok(Some(_))) {
            self.tree.clear();
        }
        self.note(kept.map(drop));
        did.ticks.splice(0..0, self.waiting.drain(..));
        let before = self.windows.clone();
        let window = self.windows.window(&did, is_last, frame_of);
        if window.samples.is_empty() {
            return self.trace.remove_older_than(window.end_us);
        }
        self.begin_segment(&window, events);
        let placed = self.tree.place(&window);
        let written = self.trace.append(events, |trace, events| {
            trace.window(events, &window, &placed, Flush::default());
        });
        if self.note(written) {
            let (samples, nodes) = (window.samples.len() as u64, placed.new_nodes.len() as u64);
            self.trace.contents.add(SegmentContents { samples, nodes });
        } else {
            self.tree.take_back(&placed);
            self.windows = before;
            self.waiting = did.ticks;
            self.waiting.truncate(MAX_WAITING);
        }
    }

    /// Begins the next segment of the trace, if it starts with this window.
    fn begin_segment(&mut self, window: &Window, events: &mut Events) {
        let Some(start_us) = self.trace.next_start(window) else { return };
        let begun = self.trace.begin_next(events, start_us, TraceEnd::default(), |_| {});
        if self.note(begun) {
            self.tree.clear();
        }
    }

    /// Writes the end of the trace, which the next write replaces if it is provisional.
    pub(super) fn end(&mut self, end_us: i64, is_provisional: bool, events: &mut Events) {
        if self.has_failed {
            return;
        }
        let ended = self.trace.append(events, |trace, events| {
            if is_provisional {
                events.begin_provisional();
            }
            trace.close(events, end_us, Some(TraceEnd::default()));
        });
        self.note(ended);
    }

    /// Tells the user about an error, and ends the lane if the error lasts. Returns whether there was none.
    fn note(&mut self, result: Result<(), Error>) -> bool {
        if let Err(error) = &result {
            self.has_failed |= !error.can_pass();
            warn_once(error);
        }
        result.is_ok()
    }
}
