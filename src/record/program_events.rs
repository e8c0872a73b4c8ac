//! The events that the program adds to its own recording: user timings, and what it emits.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::state::{RECORDING, ThreadRecording};
use crate::base::system;
use crate::format::trace::events::Events;
use crate::format::trace::timing::{self, Timing, TimingThread};

/// Size of encoded events from which the writer thread is asked to write them, bytes.
const WRITE_BYTES: usize = 1 << 20;
/// Size past which events are dropped, bytes: the disk is slower than the program.
const MAX_BYTES: usize = 16 << 20;

/// Encoded events of one thread that wait for the writer thread.
#[derive(Default)]
pub(super) struct ProgramEvents {
    state: Mutex<State>,
    /// Count of the spans so far.
    spans: AtomicU32,
}

#[derive(Default)]
struct State {
    events: Events,
    /// Count of events that had no place.
    dropped: u64,
}

impl ProgramEvents {
    /// Adds the events that `encode` writes. Returns whether the writer thread should write them now.
    fn add(&self, encode: impl FnOnce(&mut Events)) -> bool {
        let mut state = self.state.lock();
        let before = state.events.as_bytes().len();
        if before >= MAX_BYTES {
            state.dropped += 1;
            return false;
        }
        encode(&mut state.events);
        before < WRITE_BYTES && state.events.as_bytes().len() >= WRITE_BYTES
    }

    /// Returns whether no event waits.
    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().events.as_bytes().is_empty()
    }

    /// Takes the events, and the count of those that had no place.
    pub(super) fn take(&self) -> (Events, u64) {
        let mut state = self.state.lock();
        (mem::take(&mut state.events), mem::take(&mut state.dropped))
    }

    fn next_span(&self) -> u32 {
        self.spans.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns the ids that the events of the calling thread get: process and thread. Returns None if
/// the thread is not being recorded.
pub(crate) fn ids() -> Option<(u32, u32)> {
    with_recording(|recording| {
        let TimingThread { pid, tid } = thread(recording);
        (pid, tid)
    })
}

/// Returns whether the calling thread's recording wants user timings.
pub(crate) fn wants_timings() -> bool {
    with_recording(|recording| {
        recording.config.categories.timings && recording.config.formats.trace
    })
    .unwrap_or_default()
}

/// Adds events to the calling thread's recording, if there is one.
pub(crate) fn add(encode: impl FnOnce(&mut Events)) {
    with_recording(|recording| add_to(recording, encode));
}

/// Adds a mark.
pub(crate) fn mark(timing: Timing<'_>) {
    with_recording(|recording| {
        add_to(recording, |events| timing.mark(events, thread(recording)));
    });
}

/// Adds a span that has ended.
pub(crate) fn measure(timing: Timing<'_>, duration_us: i64) {
    with_recording(|recording| {
        let thread = thread(recording);
        let id = timing::span_id(thread, recording.link.program_events.next_span());
        add_to(recording, |events| {
            timing.begin(events, thread, &id);
            timing::end(events, thread, timing.name, &id, timing.start_us + duration_us);
        });
    });
}

/// Adds a mark of this moment.
pub(crate) fn instant(name: &str, detail: Option<&str>) {
    with_recording(|recording| {
        let timing = now(recording, name, detail);
        add_to(recording, |events| timing.mark(events, thread(recording)));
    });
}

/// Adds the start of a span that begins now. Returns the span's number in the recording's thread.
pub(crate) fn begin_span(name: &str, detail: Option<&str>) -> Option<u32> {
    with_recording(|recording| {
        let number = recording.link.program_events.next_span();
        let id = timing::span_id(thread(recording), number);
        let timing = now(recording, name, detail);
        add_to(recording, |events| timing.begin(events, thread(recording), &id));
        number
    })
}

/// Adds the end of a span, which ends now.
pub(crate) fn end_span(name: &str, number: u32) {
    with_recording(|recording| {
        let thread = thread(recording);
        let id = timing::span_id(thread, number);
        let end_us = system::now_us();
        add_to(recording, |events| timing::end(events, thread, name, &id, end_us));
    });
}

fn add_to(recording: &ThreadRecording, encode: impl FnOnce(&mut Events)) {
    if !recording.link.has_failed() && recording.link.program_events.add(encode) {
        recording.process.writer.write_events(&recording.link);
    }
}

/// Returns a timing that starts now.
fn now<'a>(recording: &ThreadRecording, name: &'a str, detail: Option<&'a str>) -> Timing<'a> {
    let start_us = system::now_us();
    let start_ms = (start_us - recording.start_us) as f64 / 1000.0;
    Timing { name, start_us, start_ms, detail }
}

fn thread(recording: &ThreadRecording) -> TimingThread {
    TimingThread { pid: recording.process.program.pid, tid: recording.thread_id }
}

fn with_recording<T>(f: impl FnOnce(&ThreadRecording) -> T) -> Option<T> {
    if system::is_forked() {
        return None;
    }
    RECORDING.with_borrow(|recording| recording.as_ref().map(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_that_wait_are_bounded() {
        let events = ProgramEvents::default();
        let text = vec![b' '; WRITE_BYTES / 2];
        let wanted: Vec<bool> =
            (0..40).map(|_| events.add(|events| events.push_encoded(&text))).collect();
        assert_eq!(wanted.iter().filter(|is_wanted| **is_wanted).count(), 1);
        let (taken, dropped) = events.take();
        assert!(taken.as_bytes().len() < MAX_BYTES + WRITE_BYTES);
        assert!(dropped > 0 && dropped < 40);
        assert!(events.is_empty());
        assert_eq!(events.take().1, 0);
    }
}
