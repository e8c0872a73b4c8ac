//! The events that the program adds to its own recording: marks and spans, and what it emits. User timings, and what
//! TypeScript's compiler works on, are among these: JavaScript adds them.

mod event_buffer;

use std::sync::Arc;

use self::event_buffer::{EventBuffer, WaitingEvents};
use super::observer::{Halves, ObservedThread, Observer, Start, ThreadObserver, WriterObserver};
use crate::record::files::appender::Appender;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::outside_text::event_name;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::timing::{self, Timing};

/// The observer of the program's own events.
pub(super) const OBSERVER: Observer = Observer { categories: &[], is_always_on: true, begin };

fn begin(start: &Start<'_>) -> Halves {
    let waiting = Arc::<EventBuffer>::default();
    let thread = start.thread.clone();
    Halves::both(UserEvents { thread, waiting: Arc::clone(&waiting) }, EventWriter { waiting })
}

/// The program's own events, on its thread.
pub(crate) struct UserEvents {
    thread: ObservedThread,
    waiting: Arc<EventBuffer>,
}

impl ThreadObserver for UserEvents {}

impl UserEvents {
    /// Returns the thread and this moment.
    pub(crate) fn now(&self) -> At {
        self.thread.now()
    }

    /// Adds events.
    pub(crate) fn add(&self, encode: impl FnOnce(&mut Events)) {
        if !self.thread.link.has_failed.get() && self.waiting.add(encode) {
            self.thread.write_soon();
        }
    }

    /// Notes the beginning of a call that the program emits.
    pub(crate) fn begin_call(&self, name: &str) {
        self.waiting.begin_call(name);
    }

    /// Returns the name of the call whose end the program emits.
    pub(crate) fn end_call(&self) -> Option<String> {
        self.waiting.end_call()
    }

    /// Adds a mark. `start` is its time, as `timing` takes it.
    pub(crate) fn mark(&self, name: &str, detail: Option<&str>, start: Option<(i64, f64)>) {
        let name = &*event_name(name);
        let timing = self.timing(name, detail, start);
        self.add(|events| timing.mark(events));
    }

    /// Adds a span that has ended. `start` is as for a mark.
    pub(crate) fn measure(
        &self,
        name: &str,
        detail: Option<&str>,
        start: (i64, f64),
        duration_us: i64,
    ) {
        let name = &*event_name(name);
        let timing = self.timing(name, detail, Some(start));
        let id = timing::span_id(timing.at, self.thread.next_span());
        let end = At { ts: timing.at.ts + duration_us, ..timing.at };
        self.add(|events| {
            timing.begin(events, &id);
            timing::end(events, end, name, &id);
        });
    }

    /// Adds the start of a span that begins now. Returns the span's number in the recording's thread.
    pub(crate) fn begin_span(&self, name: &str, detail: Option<&str>) -> u32 {
        let name = &*event_name(name);
        let number = self.thread.next_span();
        let timing = self.timing(name, detail, None);
        let id = timing::span_id(timing.at, number);
        self.add(|events| timing.begin(events, &id));
        number
    }

    /// Adds the end of a span, which ends now.
    pub(crate) fn end_span(&self, name: &str, number: u32) {
        let name = &*event_name(name);
        let at = self.now();
        let id = timing::span_id(at, number);
        self.add(|events| timing::end(events, at, name, &id));
    }

    /// Returns a timing that starts at a time by Node's clock, microseconds, and by a clock of the program,
    /// milliseconds; now if none is given.
    fn timing<'a>(
        &self,
        name: &'a str,
        detail: Option<&'a str>,
        start: Option<(i64, f64)>,
    ) -> Timing<'a> {
        let now = self.now();
        let since_start_ms = (now.ts - self.thread.start_us) as f64 / 1000.0;
        let start = start.map(|(us, ms)| (us - system::node_clock_lead_us(), ms));
        let (ts, start_ms) = start.unwrap_or((now.ts, since_start_ms));
        Timing { name, at: At { ts, ..now }, start_ms, detail }
    }
}

/// Writes the program's own events.
struct EventWriter {
    waiting: Arc<EventBuffer>,
}

impl WriterObserver for EventWriter {
    fn write_waiting(&mut self, trace: &mut Appender<'_>) {
        let WaitingEvents { events: own, dropped } = self.waiting.take();
        if dropped > 0 {
            *trace.dropped_events += dropped;
            warn_once(&Error::DroppedEvents);
        }
        if !own.as_bytes().is_empty()
            && !trace.append(|_, events| events.push_encoded(own.as_bytes()))
        {
            *trace.dropped_events += own.count();
        }
    }
}
