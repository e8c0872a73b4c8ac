//! Appends events to the trace of a recording.

use super::segments::TraceSegments;
use crate::record::link::recording_link::RecordingLink;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::ThreadTrace;

/// The trace of a recording, as events are appended to it.
pub(crate) struct Appender<'a> {
    /// Link to the recorded thread.
    pub link: &'a RecordingLink,
    /// The trace, if there is one.
    pub trace: Option<&'a mut TraceSegments>,
    /// Buffer for the events.
    pub events: &'a mut Events,
    /// Count of the program's events that could not be written.
    pub dropped_events: &'a mut u64,
}

impl Appender<'_> {
    /// Appends events to the trace, if there is one. Returns whether the files are intact.
    pub(crate) fn append(&mut self, encode: impl FnOnce(&mut ThreadTrace, &mut Events)) -> bool {
        if self.link.has_failed.get() {
            return false;
        }
        let Some(trace) = &mut self.trace else { return true };
        let result = trace.append(self.events, encode);
        if let Err(error) = &result {
            note_failure(self.link, error);
        }
        result.is_ok()
    }
}

/// Tells the user about an error of a recording's files, and ends the recording if the error lasts.
pub(crate) fn note_failure(link: &RecordingLink, error: &Error) {
    if !error.can_pass() {
        link.has_failed.set(true);
    }
    warn_once(error);
}
