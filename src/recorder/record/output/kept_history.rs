//! Keeps the history around a condition that was met. Runs on the writer thread.

use std::time::Duration;

use super::recording_writer::RecordingWriter;
use cpu_prof_core::base::micros::micros;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::met_condition::MetCondition;

impl RecordingWriter {
    /// Keeps the history, and what comes for a time, and marks the condition in the main thread's trace.
    pub(crate) fn keep_history(&mut self, met: &MetCondition, for_: Duration, events: &mut Events) {
        let now_us = system::now_us();
        if self.link.thread.is_main {
            self.append(events, |trace, events| trace.met_condition(events, now_us, met));
        }
        let until_us = now_us.saturating_add(micros(for_));
        self.trace.iter_mut().for_each(|trace| trace.segments.hold(until_us));
        self.observers.hold_files(until_us);
    }
}
