//! Decides when the sampling of a thread that waits is suspended.
//!
//! V8's sampling thread costs 2 to 3 % of a core, as long as a profile runs. To suspend a profile and
//! to start the next one costs about as much as to sample for 50 ms. So a thread is suspended soon
//! after it has begun to wait, if its last waits were much longer than that, and else later.

use std::time::{Duration, Instant};

use crate::record::link::recording_link::ThreadActivity;

/// The shortest time between two checks, and the shortest wait before a suspension.
const MIN_PATIENCE: Duration = Duration::from_millis(20);
/// The longest wait before a suspension.
const MAX_PATIENCE: Duration = Duration::from_secs(3);
/// The longest time between two checks.
const MAX_PAUSE: Duration = Duration::from_millis(500);
/// The shortest wait in which a suspension saves more than it costs.
const WORTH: Duration = Duration::from_millis(300);

/// The suspensions of one recording.
pub(super) struct Suspensions {
    /// Time for which the thread must wait before a suspension.
    patience: Duration,
    /// Time between two checks.
    pause: Duration,
    /// Time of the next check; none while sampling is suspended, and if it cannot be.
    pub due: Option<Instant>,
    /// The thread's activity up to the last check.
    last: Option<ThreadActivity>,
    /// Start of the current wait, as far as the checks tell, and the thread's activity up to then.
    wait: Option<(Instant, ThreadActivity)>,
}

impl Suspensions {
    /// Returns the state of a recording that begins now. `can_resume` tells whether V8 calls the addon
    /// before it runs JavaScript.
    pub(super) fn new(now: Instant, can_resume: bool) -> Self {
        // A program that starts does not wait for long.
        let patience = 10 * MIN_PATIENCE;
        let due = can_resume.then_some(now + patience);
        Self { patience, pause: MIN_PATIENCE, due, last: None, wait: None }
    }

    /// Checks whether the thread should be suspended, if a check is due. Returns the moment since which
    /// the thread has only waited.
    pub(super) fn check(
        &mut self,
        now: Instant,
        activity: impl FnOnce() -> Option<ThreadActivity>,
    ) -> Option<ThreadActivity> {
        self.due.take_if(|due| *due <= now)?;
        let activity = activity()?;
        let last = self.last.replace(activity);
        if !last.is_some_and(|last| activity.has_waited_since(&last)) {
            self.end_wait(now);
            self.wait = Some((now, activity));
        }
        let is_busy = last.is_some_and(|last| !activity.has_mostly_waited_since(&last));
        self.pause = if is_busy { (2 * self.pause).min(MAX_PAUSE) } else { MIN_PATIENCE };
        self.due = Some(now + self.pause);
        let (_, waiting) = self.wait.filter(|(since, _)| now - *since >= self.patience)?;
        // If the wait ends soon, or has ended meanwhile, the next one must be longer.
        self.patience = (2 * self.patience).min(MAX_PATIENCE);
        Some(waiting)
    }

    /// Notes that sampling is suspended.
    pub(super) fn begin(&mut self) {
        self.due = None;
    }

    /// Notes that sampling has resumed. `activity` is that of the thread up to now.
    pub(super) fn end(&mut self, now: Instant, activity: Option<ThreadActivity>) {
        self.end_wait(now);
        // Work that the next check does not notice is as good as none.
        self.wait = activity.map(|activity| (now, activity));
        self.last = activity;
        self.pause = MIN_PATIENCE;
        self.due = Some(now + self.pause);
    }

    fn end_wait(&mut self, now: Instant) {
        let Some((since, _)) = self.wait.take() else { return };
        if now - since >= WORTH {
            self.patience = MIN_PATIENCE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that works for a while, `period` after `period`.
    struct Server {
        start: Instant,
        period: Duration,
        work: Duration,
    }

    impl Server {
        fn activity(&self, now: Instant) -> ThreadActivity {
            let passed = now - self.start;
            let count = passed.as_micros() / self.period.as_micros();
            let since = passed - self.period * count as u32;
            let busy = self.work * count as u32 + since.min(self.work);
            let us = |time: Duration| time.as_micros() as i64;
            ThreadActivity { now_us: us(passed), cpu_us: us(busy), waited_us: us(passed - busy) }
        }

        /// Returns the share of ten seconds in which the thread is sampled, and the count of
        /// suspensions in the last five.
        fn sampled(&self) -> (f64, usize) {
            const STEP: Duration = Duration::from_millis(1);
            let (mut now, mut sampled, mut count) = (self.start, 0, 0);
            let mut suspensions = Suspensions::new(now, true);
            for step in 0..10_000 {
                now += STEP;
                let is_suspended = suspensions.due.is_none();
                let is_working =
                    (now - self.start).as_millis().is_multiple_of(self.period.as_millis());
                if is_suspended && is_working {
                    suspensions.end(now, Some(self.activity(now)));
                } else if suspensions.check(now, || Some(self.activity(now))).is_some() {
                    suspensions.begin();
                    count += usize::from(step >= 5000);
                }
                sampled += usize::from(suspensions.due.is_some());
            }
            (sampled as f64 / 10_000.0, count)
        }
    }

    #[test]
    fn a_thread_is_sampled_while_it_works_and_between_short_waits() {
        for (period_ms, work_us, share, suspensions) in [
            (20_000, 5000, 0.0..0.06, 0..=0),
            (1000, 5000, 0.05..0.12, 4..=6),
            (1000, 100, 0.01..0.12, 4..=6),
            (500, 5000, 0.1..0.2, 9..=11),
            (100, 5000, 0.9..1.01, 0..=0),
            (20, 5000, 0.95..1.01, 0..=0),
        ] {
            let period = Duration::from_millis(period_ms);
            let work = Duration::from_micros(work_us);
            let (sampled, count) = Server { start: Instant::now(), period, work }.sampled();
            let what = format!("{work_us} µs in {period_ms} ms");
            assert!(share.contains(&sampled), "{what}: sampled {sampled}");
            assert!(suspensions.contains(&count), "{what}: {count} suspensions");
        }
    }
}
