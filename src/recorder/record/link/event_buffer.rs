//! Encoded events of the program that wait for the writer thread.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use cpu_prof_core::format::trace::write::events::Events;

/// Size of encoded events from which the writer thread is asked to write them, bytes.
const WRITE_BYTES: usize = 1 << 20;
/// Size past which events are dropped, bytes: the disk is slower than the program.
const MAX_BYTES: usize = 16 << 20;

/// Encoded events of one thread that wait for the writer thread.
#[derive(Default)]
pub(crate) struct EventBuffer {
    state: Mutex<State>,
    /// Count of the spans so far.
    spans: AtomicU32,
}

#[derive(Default)]
struct State {
    events: Events,
    /// Count of events that had no place.
    dropped: u64,
    /// Names of the calls that have begun and not ended (`B` and `E`).
    calls: Vec<String>,
}

impl EventBuffer {
    /// Adds the events that `encode` writes. Returns whether the writer thread should write them now.
    pub(crate) fn add(&self, encode: impl FnOnce(&mut Events)) -> bool {
        let mut state = self.state.lock();
        let before = state.events.as_bytes().len();
        if before >= MAX_BYTES {
            state.dropped += 1;
            return false;
        }
        encode(&mut state.events);
        before < WRITE_BYTES && state.events.as_bytes().len() >= WRITE_BYTES
    }

    /// Notes the beginning of a call.
    pub(crate) fn begin_call(&self, name: &str) {
        /// A program that ends no call must not fill the memory.
        const MAX_CALLS: usize = 1000;
        let calls = &mut self.state.lock().calls;
        if calls.len() < MAX_CALLS {
            calls.push(name.to_owned());
        }
    }

    /// Returns the name of the call that ends now.
    pub(crate) fn end_call(&self) -> Option<String> {
        self.state.lock().calls.pop()
    }

    /// Returns whether no event waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().events.as_bytes().is_empty()
    }

    /// Takes the events, and the count of those that had no place.
    pub(crate) fn take(&self) -> (Events, u64) {
        let mut state = self.state.lock();
        (mem::take(&mut state.events), mem::take(&mut state.dropped))
    }

    /// Returns the number of the next span.
    pub(crate) fn next_span(&self) -> u32 {
        self.spans.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_that_wait_are_bounded() {
        let events = EventBuffer::default();
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
