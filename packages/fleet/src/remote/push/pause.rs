//! How long to wait before another attempt.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

use chrono::NaiveDateTime;

use super::options::RetryTimes;

/// The longest pause that a server can ask for.
const MOST_ASKED: Duration = Duration::from_secs(60);

/// Returns the pause after this many attempts: twice as long as the last, less a random part, so that the
/// senders of a fleet do not come back at once.
pub(super) fn pause_after(attempts: u32, times: &RetryTimes) -> Duration {
    let most = times.most_ms.max(1);
    let doubled = times.first_ms.max(1).saturating_mul(1 << attempts.saturating_sub(1).min(30));
    let whole = doubled.min(most);
    let random = RandomState::new().build_hasher().finish();
    Duration::from_millis(whole - random % (whole / 2 + 1))
}

/// Returns the pause that a server asks for, in seconds or as a date.
pub(super) fn asked_pause(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let asked = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => date_of(value)?.duration_since(now).unwrap_or_default(),
    };
    Some(asked.min(MOST_ASKED))
}

/// Reads a date: `Sun, 06 Nov 1994 08:49:37 GMT`, the form that servers must send. The day of the week is not
/// checked.
fn date_of(text: &str) -> Option<SystemTime> {
    let (_, date) = text.split_once(", ")?;
    let date = NaiveDateTime::parse_from_str(date, "%d %b %Y %H:%M:%S GMT").ok()?;
    let seconds = u64::try_from(date.and_utc().timestamp()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let times = RetryTimes { first_ms: 100, most_ms: 350, give_up_ms: 0 };
        for (attempts, most) in [(1, 100), (2, 200), (3, 350), (100, 350)] {
            let pause = pause_after(attempts, &times).as_millis();
            assert!((most / 2..=most).contains(&pause), "{attempts}: {pause}");
        }
    }

    #[test]
    fn servers_ask_for_pauses_in_seconds_or_by_a_date() {
        let seconds = |number| SystemTime::UNIX_EPOCH + Duration::from_secs(number);
        assert_eq!(date_of("Sun, 06 Nov 1994 08:49:37 GMT"), Some(seconds(784_111_777)));
        assert_eq!(date_of("Thu, 01 Jan 1970 00:00:00 GMT"), Some(seconds(0)));
        assert_eq!(date_of("Thu, 29 Feb 2024 12:00:00 GMT"), Some(seconds(1_709_208_000)));
        let now = seconds(784_111_770);
        let asked = |value| asked_pause(value, now).map(|pause| pause.as_secs());
        assert_eq!(asked("2"), Some(2));
        assert_eq!(asked("86400"), Some(60));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(7));
        assert_eq!(asked("Sun, 06 Nov 1993 08:49:37 GMT"), Some(0));
        for garbage in ["", "-1", "soon", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(asked(garbage), None, "{garbage}");
        }
    }
}
