//! Encoded events of the program that wait for the writer thread.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::request_log::RequestLog;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::request::HttpRequest;

/// Size of encoded events from which the writer thread is asked to write them, bytes.
const WRITE_BYTES: usize = 1 << 20;
/// Count of requests from which the writer thread is asked to write them.
const WRITE_REQUESTS: usize = 2000;
/// Size past which events are dropped, bytes: the disk is slower than the program.
const MAX_BYTES: usize = 16 << 20;

/// What waits for the writer thread.
#[derive(Default)]
pub(crate) struct WaitingEvents {
    /// Encoded events.
    pub events: Events,
    /// Requests that have ended.
    pub requests: RequestLog,
    /// Count of events that had no place.
    pub dropped: u64,
}

/// Events of one thread that wait for the writer thread.
#[derive(Default)]
pub(crate) struct EventBuffer {
    state: Mutex<State>,
    /// Count of the spans so far.
    spans: AtomicU32,
}

#[derive(Default)]
struct State {
    events: Events,
    requests: RequestLog,
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

    /// Adds a request that has ended. Returns as [`EventBuffer::add`].
    pub(crate) fn add_request(&self, name: &[u16], request: HttpRequest) -> bool {
        let mut state = self.state.lock();
        if state.requests.bytes() >= MAX_BYTES {
            state.dropped += 1;
            return false;
        }
        state.requests.push(name, request);
        state.requests.len() == WRITE_REQUESTS
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

    /// Returns whether no event waits.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.events.as_bytes().is_empty() && state.requests.len() == 0
    }

    /// Takes what waits.
    pub(crate) fn take(&self) -> WaitingEvents {
        let mut state = self.state.lock();
        WaitingEvents {
            events: mem::take(&mut state.events),
            requests: mem::take(&mut state.requests),
            dropped: mem::take(&mut state.dropped),
        }
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
    fn the_names_of_calls_that_do_not_end_are_bounded() {
        let events = EventBuffer::default();
        let name = "x".repeat(4096);
        (0..5000).for_each(|_| events.begin_call(&name));
        assert_eq!(events.state.lock().calls.len(), 1000);
        events.end_call();
        events.begin_call(&"x".repeat(1 << 20));
        assert_eq!([events.end_call(), events.end_call()], [Some(String::new()), Some(name)]);
    }

    use cpu_prof_core::format::trace::write::event::At;

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
        assert!(events.is_empty());
        assert_eq!(events.take().dropped, 0);
    }

    #[test]
    fn the_requests_that_wait_are_bounded() {
        let events = EventBuffer::default();
        let (at, name) = (At { pid: 1, tid: 0, ts: 5 }, [65; 100_000]);
        let request = |number| {
            let (track, status) = ("fetch", None);
            HttpRequest { number, track, status, at, start_ms: 0.0, duration_us: 1 }
        };
        let wanted = (0..2500).filter(|number| events.add_request(&name[..5], request(*number)));
        assert_eq!(wanted.count(), 1);
        for number in 0..200 {
            events.add_request(&name, request(number));
        }
        assert!(!events.is_empty());
        let taken = events.take();
        assert!(taken.requests.bytes() < MAX_BYTES + 2 * size_of_val(&name));
        assert!(taken.dropped > 0 && taken.dropped < 200);
        assert!(events.is_empty());
    }
}
