//! The wall time at which a run started, by which the lake sorts runs.

use std::time::{SystemTime, UNIX_EPOCH};

use cpu_prof_core::profile::wall_time::{from_iso, to_iso};
use cpu_prof_session::model::Session;

/// Dates before this one are those of clocks that nobody has set.
const FIRST_DATE: &str = "2000-01-01T00:00:00Z";
/// How far the clocks of two machines may differ, microseconds.
const MAX_SKEW_US: i64 = 24 * 3600 * 1_000_000;

/// The start of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RunStart {
    /// Wall time, microseconds after 1970.
    pub us: i64,
    /// The same as text: ISO 8601, UTC.
    pub text: String,
    /// What is wrong with the time, for the user.
    pub notes: Vec<String>,
}

impl RunStart {
    /// Returns the start that the recordings tell, or the first modification of a file.
    pub(super) fn of(session: &Session, modified: Option<SystemTime>, now: SystemTime) -> Self {
        let mut notes = Vec::new();
        let recorded = recorded_us(session).filter(|us| to_iso(*us).is_some());
        let us = recorded.unwrap_or_else(|| {
            let from = "no recording tells when it was made: the run has the time at which its first \
                        file was last written";
            notes.push(from.to_owned());
            since_1970_us(modified.unwrap_or(now))
        });
        let (us, text) = match to_iso(us) {
            Some(text) => (us, text),
            None => (0, to_iso(0).unwrap_or_default()),
        };
        if from_iso(FIRST_DATE).is_some_and(|first_us| us < first_us) {
            notes.push(format!(
                "the run started on {text}, before 2000: the clock of its machine was not set, or its file \
                 has lost its time. Questions about a time of the lake do not find the run where it belongs"
            ));
        } else if us.saturating_sub(since_1970_us(now)) > MAX_SKEW_US {
            notes.push(format!(
                "the run started on {text}, more than a day from now: the clock of its machine or of this one \
                 is wrong. Questions about a time of the lake do not find the run where it belongs"
            ));
        }
        Self { us, text, notes }
    }

    /// Returns the date in UTC: `2026-03-04`.
    pub(super) fn date(&self) -> &str {
        self.text.split('T').next().unwrap_or_default()
    }
}

/// Returns the wall time of the first start of a recording; none if no file tells.
fn recorded_us(session: &Session) -> Option<i64> {
    let starts = session
        .processes
        .iter()
        .filter_map(|process| session.clock(process).wall_us(process.recorded_us().0));
    starts.min()
}

/// Returns microseconds after 1970.
fn since_1970_us(time: SystemTime) -> i64 {
    let us = time.duration_since(UNIX_EPOCH).map(|after| i64::try_from(after.as_micros()));
    us.ok().and_then(Result::ok).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use cpu_prof_session::model::thread_profile::ThreadProfile;
    use cpu_prof_session::model::{Clock, Process, Thread};

    /// A session whose clock began at a time, and two processes that were recorded from a second on.
    fn session(wall_zero_us: Option<i64>) -> Session {
        let process = |start_us| {
            let profile =
                ThreadProfile { recorded_us: (start_us, 9_000_000), ..Default::default() };
            let threads = vec![Thread { profiles: vec![profile], ..Thread::default() }];
            Process { threads, ..Process::default() }
        };
        let clocks = vec![Clock { wall_zero_us, ..Clock::default() }];
        let processes = vec![process(3_000_000), process(1_000_000)];
        Session { processes, clocks, ..Session::default() }
    }

    fn at(text: &str) -> SystemTime {
        UNIX_EPOCH + Duration::from_micros(from_iso(text).unwrap().unsigned_abs())
    }

    const NOW: &str = "2026-03-05T00:00:00Z";

    #[test]
    fn a_run_starts_with_its_first_recording() {
        let zero = from_iso("2026-03-04T23:59:58Z");
        let start = RunStart::of(&session(zero), Some(at(NOW)), at(NOW));
        assert_eq!((start.date(), &*start.text), ("2026-03-04", "2026-03-04T23:59:59.000Z"));
        assert!(start.notes.is_empty());
    }

    #[test]
    fn without_a_time_the_file_tells() {
        let start = RunStart::of(&session(None), Some(at("2026-03-04T01:00:00Z")), at(NOW));
        assert_eq!(start.text, "2026-03-04T01:00:00.000Z");
        assert_eq!(start.notes.len(), 1);
        assert_eq!(RunStart::of(&session(None), None, at(NOW)).us, since_1970_us(at(NOW)));
    }

    #[test]
    fn dates_that_cannot_be_have_notes() {
        for (zero, date, part) in [
            ("1999-12-31T23:00:00Z", "1999-12-31", "before 2000"),
            ("2026-03-06T01:00:00Z", "2026-03-06", "more than a day"),
            ("2026-03-05T23:00:00Z", "2026-03-05", ""),
        ] {
            let start = RunStart::of(&session(from_iso(zero)), None, at(NOW));
            assert_eq!(start.date(), date);
            assert!(start.notes.join(" ").contains(part), "{:?}", start.notes);
            assert_eq!(start.notes.is_empty(), part.is_empty());
        }
        for zero in [i64::MAX, i64::MIN] {
            let start = RunStart::of(&session(Some(zero)), Some(at(NOW)), at(NOW));
            assert_eq!((start.date(), start.notes.len()), ("2026-03-05", 1));
        }
        let start =
            RunStart::of(&session(None), Some(UNIX_EPOCH - Duration::from_secs(9)), at(NOW));
        assert_eq!((start.us, start.date(), start.notes.len()), (0, "1970-01-01", 2));
    }
}
