//! Encoded events of the program that wait for the writer thread.

use std::mem;

use parking_lot::Mutex;

use cpu_prof_core::format::trace::write::events::Events;

/// Size of encoded events from which the writer thread is asked to write them, bytes.
const WRITE_BYTES: usize = 1 << 20;
/// Size past which events are dropped, bytes: the disk is slower than the program.
const MAX_BYTES: usize = 16 << 20;

/// What waits for the writer thread.
#[derive(Default)]
pub(crate) struct WaitingEvents {
    /// Encoded events.
    pub events: Events,
    /// Count of events that had no place.
    pub dropped: u64,
}

/// Events of one thread that wait for the writer thread.
#[derive(Default)]
pub(crate) struct EventBuffer {
    state: Mutex<State>,
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
        /// Bytes of a name. An end whose begin has a longer one has no name.
        const MAX_NAME: usize = 4096;
        let calls = &mut self.state.lock().calls;
        if calls.len() < MAX_CALLS {
            calls.push(if name.len() <= MAX_NAME { name.to_owned() } else { String::new() });
        }
    }

    /// Returns the name of the call that ends now.
    pub(crate) fn end_call(&self) -> Option<String> {
        self.state.lock().calls.pop()
    }

    /// Takes what waits.
    pub(crate) fn take(&self) -> WaitingEvents {
        let mut state = self.state.lock();
        WaitingEvents {
            events: mem::take(&mut state.events),
            dropped: mem::take(&mut state.dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_calls_that_do_not_end_are_bounded() {
        let events = EventBuffer::default();
        let name = "x".repeat(4096);
        (0..5000).for_each(|_| events.begin_call(&name));
        assert_eq!(events.state.lock().calls.len(), 1000);
        events.end_call();
        events.begin_call(&"x".repeat(1 << 20));
        assert_eq!([events.end_call(), events.end_call()], [Some(String::new()), Some(name)]);
    }

    #[test]
    fn the_events_that_wait_are_bounded() {
        let events = EventBuffer::default();
        let text = vec![b' '; WRITE_BYTES / 2];
        let wanted: Vec<bool> =
            (0..40).map(|_| events.add(|events| events.push_encoded(&text))).collect();
        assert_eq!(wanted.iter().filter(|is_wanted| **is_wanted).count(), 1);
        let taken = events.take();
        assert!(taken.events.as_bytes().len() < MAX_BYTES + WRITE_BYTES);
        assert!(taken.dropped > 0 && taken.dropped < 40);
        let rest = events.take();
        assert!(rest.events.as_bytes().is_empty() && rest.dropped == 0);
    }
}
