//! The payloads that wait, in their order, and what both threads know of them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::counts::PushCounts;
use super::push_failure::PushFailure;

/// The most bytes that wait.
const MOST_BYTES: usize = 64 << 20;

/// A profile, and what the query tells of it.
pub(super) struct Payload {
    pub query: String,
    pub body: Vec<u8>,
}

/// The line before the server.
pub(super) struct Line {
    state: Mutex<LineState>,
    changed: Condvar,
    /// The most payloads that wait.
    capacity: usize,
    /// For messages.
    host: String,
}

#[derive(Default)]
struct LineState {
    waiting: VecDeque<Payload>,
    bytes: usize,
    /// Whether a payload is being sent.
    is_sending: bool,
    counts: PushCounts,
    /// Whether the last payload was given up. The next ones have one attempt each, until one succeeds.
    has_given_up: bool,
    /// Nothing is taken any more.
    is_closed: bool,
    /// When the thread ends, whatever still waits.
    deadline: Option<Instant>,
    /// The thread has ended.
    is_over: bool,
}

impl LineState {
    fn has_room(&self, bytes: usize, capacity: usize) -> bool {
        self.waiting.len() < capacity && self.bytes + bytes <= MOST_BYTES
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    fn take(&mut self) -> Option<Payload> {
        let payload = self.waiting.pop_front()?;
        self.bytes -= payload.body.len();
        Some(payload)
    }
}

/// What became of a payload.
pub(super) enum PushOutcome {
    Sent,
    Refused(PushFailure),
    GaveUp(PushFailure),
}

impl Line {
    pub(super) fn new(capacity: usize, host: String) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), capacity: capacity.max(1), host }
    }

    /// Returns the state. A thread that panics leaves whole counts behind.
    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most until a moment.
    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, LineState>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, LineState> {
        let Some(until) = until else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let left = until.saturating_duration_since(Instant::now());
        let result = self.changed.wait_timeout(state, left);
        result.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Takes a payload, and returns whether it was taken. Without room it waits, or drops the oldest.
    pub(super) fn offer(&self, payload: Payload, waits: bool) -> bool {
        let bytes = payload.body.len();
        let mut state = self.lock();
        if bytes > MOST_BYTES {
            self.drop_for(&mut state, &PushFailure::Large);
            return false;
        }
        while !state.has_room(bytes, self.capacity) && !state.is_closed && !state.is_over {
            if waits && state.has_given_up {
                state.counts.dropped += 1;
                return false;
            } else if waits {
                state = self.wait(state, None);
            } else if state.take().is_some() {
                self.drop_for(&mut state, &PushFailure::NoRoom);
            }
        }
        if state.is_closed || state.is_over {
            state.counts.dropped += 1;
            return false;
        }
        state.bytes += bytes;
        state.waiting.push_back(payload);
        self.changed.notify_all();
        true
    }

    /// Counts a payload that is dropped here, and not by the server's fault, unless it has one.
    fn drop_for(&self, state: &mut LineState, failure: &PushFailure) {
        state.counts.dropped += 1;
        if state.counts.failure.is_none() || *failure == PushFailure::Large {
            state.counts.failure = Some(failure.of_host(&self.host));
        }
    }

    /// Returns the next payload. None at the end.
    pub(super) fn next(&self) -> Option<Payload> {
        let mut state = self.lock();
        loop {
            if state.is_late() {
                return None;
            }
            if let Some(payload) = state.take() {
                state.is_sending = true;
                self.changed.notify_all();
                return Some(payload);
            }
            if state.is_closed {
                return None;
            }
            let until = state.deadline;
            state = self.wait(state, until);
        }
    }

    /// Notes the failure of an attempt. Waits for the next, and returns whether there is one: not after the
    /// time to give up, and not after the deadline.
    pub(super) fn pause(&self, failure: &PushFailure, pause: Duration, give_up: Instant) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.lock();
        state.counts.failure = Some(failure.of_host(&self.host));
        if state.has_given_up || until > give_up {
            return false;
        }
        while Instant::now() < until {
            // The last pause before the deadline would be in vain.
            if state.deadline.is_some_and(|deadline| deadline <= until) {
                return false;
            }
            state = self.wait(state, Some(until));
        }
        true
    }

    /// Returns the time that a request may take. None after the deadline.
    pub(super) fn time_for(&self, whole: Duration) -> Option<Duration> {
        let Some(deadline) = self.lock().deadline else { return Some(whole) };
        let left = deadline.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left.min(whole))
    }

    /// Counts what became of the payload that was being sent.
    pub(super) fn settle(&self, bytes: usize, outcome: &PushOutcome) {
        let mut state = self.lock();
        // After the deadline the payload is counted already.
        if !std::mem::take(&mut state.is_sending) {
            return;
        }
        match outcome {
            PushOutcome::Sent => {
                state.counts.sent += 1;
                state.counts.sent_bytes += bytes as u64;
                state.has_given_up = false;
            }
            PushOutcome::Refused(failure) => {
                state.counts.refused += 1;
                state.counts.failure = Some(failure.of_host(&self.host));
                state.has_given_up = false;
            }
            PushOutcome::GaveUp(failure) => {
                state.counts.dropped += 1;
                state.counts.failure = Some(failure.of_host(&self.host));
                state.has_given_up = true;
            }
        }
        self.changed.notify_all();
    }

    /// Counts what is left when the thread ends.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        Self::count_left(&mut state);
        state.is_over = true;
        self.changed.notify_all();
    }

    fn count_left(state: &mut LineState) {
        let sending = u64::from(std::mem::take(&mut state.is_sending));
        state.counts.dropped += state.waiting.len() as u64 + sending;
        state.waiting.clear();
        state.bytes = 0;
    }

    /// Takes nothing more, and waits until the thread has sent all, at most for this time.
    pub(super) fn finish(&self, most: Duration) -> PushCounts {
        let deadline = Instant::now().checked_add(most);
        let mut state = self.lock();
        state.is_closed = true;
        state.deadline = deadline;
        self.changed.notify_all();
        while !state.is_over && !state.is_late() {
            state = self.wait(state, deadline);
        }
        Self::count_left(&mut state);
        self.counts_of(&state)
    }

    /// Takes nothing more, and lets the thread end at its next look.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.deadline = Some(Instant::now());
        self.changed.notify_all();
    }

    pub(super) fn counts(&self) -> PushCounts {
        self.counts_of(&self.lock())
    }

    fn counts_of(&self, state: &LineState) -> PushCounts {
        let waiting = state.waiting.len() as u64 + u64::from(state.is_sending);
        PushCounts { waiting, ..state.counts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn payload(number: u8) -> Payload {
        Payload { query: String::new(), body: vec![number] }
    }

    proptest! {
        /// What is offered is counted once, and what is sent comes in its order.
        #[test]
        fn every_payload_is_counted_once(
            steps in proptest::collection::vec(0..6u8, 0..60),
            capacity in 1..4usize,
        ) {
            let line = Line::new(capacity, "h".into());
            let failure = || PushFailure::Status(500);
            let (mut offered, mut taken) = (0u8, Vec::new());
            for step in steps {
                let is_sending = line.lock().is_sending;
                match (step, is_sending) {
                    (0..3, _) => {
                        prop_assert!(line.offer(payload(offered), false));
                        offered += 1;
                    }
                    (_, false) if line.counts().waiting > 0 => {
                        taken.extend(line.next().map(|payload| payload.body[0]));
                    }
                    (3, true) => line.settle(1, &PushOutcome::Sent),
                    (4, true) => line.settle(1, &PushOutcome::Refused(failure())),
                    (_, true) => line.settle(1, &PushOutcome::GaveUp(failure())),
                    _ => {}
                }
                let counts = line.counts();
                let all = counts.sent + counts.dropped + counts.refused + counts.waiting;
                prop_assert_eq!(all, u64::from(offered));
                prop_assert!(line.lock().waiting.len() <= capacity);
            }
            prop_assert!(taken.is_sorted());
            let counts = line.finish(Duration::ZERO);
            prop_assert_eq!(counts.sent + counts.dropped + counts.refused, u64::from(offered));
            prop_assert_eq!((counts.waiting, line.lock().bytes), (0, 0));
        }
    }

    #[test]
    fn after_giving_up_there_is_one_attempt_until_one_succeeds() {
        let line = Line::new(1, "h".into());
        let later = Instant::now() + Duration::from_secs(60);
        let pause = || line.pause(&PushFailure::Status(500), Duration::from_millis(1), later);
        assert!(pause());
        assert!(line.offer(payload(0), false) && line.next().is_some());
        line.settle(1, &PushOutcome::GaveUp(PushFailure::Status(500)));
        assert!(!pause());
        assert!(line.offer(payload(1), true), "there is room");
        assert!(!line.offer(payload(2), true), "nobody waits for room");
        assert!(line.next().is_some());
        line.settle(1, &PushOutcome::Sent);
        assert!(pause());
    }
}
