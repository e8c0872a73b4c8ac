//! Writes the events that the program adds to its own recording.

use super::recording_writer::RecordingWriter;
use crate::record::link::event_buffer::WaitingEvents;
use crate::record::link::request_log::RequestLog;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::format::trace::write::events::Events;

impl RecordingWriter {
    /// Writes the events of the program that wait.
    pub(crate) fn write_program_events(&mut self, events: &mut Events) {
        let WaitingEvents { events: own, requests, dropped } = self.link.program_events.take();
        self.totals.dropped_events += dropped;
        if dropped > 0 {
            warn_once(&Error::DroppedEvents);
        }
        if !own.as_bytes().is_empty()
            && !self.append(events, |_, events| events.push_encoded(own.as_bytes()))
        {
            self.totals.dropped_events += own.count();
        }
        self.write_requests(&requests, events);
    }

    fn write_requests(&mut self, requests: &RequestLog, events: &mut Events) {
        /// These need a quarter of a megabyte, which the buffers keep.
        const PER_WRITE: usize = 500;
        let mut requests = requests.iter();
        while requests.len() > 0 {
            let chunk = requests.by_ref().take(PER_WRITE);
            let count = chunk.len() as u64;
            let is_written = self.append(events, |_, events| {
                chunk.for_each(|(name, request)| request.add_to(events, &name));
            });
            if !is_written {
                self.totals.dropped_events += count;
            }
        }
    }
}
