//! How long a request may take, and how much it may bring.

use std::time::Duration;

/// The variable that sets the time of a request: `30s`, `500ms`, or seconds.
pub(super) const TIME_VARIABLE: &str = "AWS_TIMEOUT";

/// The most bytes of a file, and of any other answer.
pub(super) const MOST_FILE_BYTES: u64 = 1 << 30;
pub(super) const MOST_BYTES: u64 = 16 << 20;
/// Time to connect to the service of the machine that tells credentials: elsewhere nothing answers there.
pub(super) const MACHINE_TIME: Duration = Duration::from_secs(1);
/// How many times as long a file may take that comes in without a break.
const FILE_TIMES: u32 = 20;
/// Bytes in a second that a slow upload must have at least.
const SLOWEST_UPLOAD: u64 = 64 << 10;

/// The times of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub connect: Duration,
    pub whole: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), whole: Duration::from_secs(60) }
    }
}

impl Limits {
    /// Reads the value of the variable. The error is for the user.
    pub(super) fn of(value: &str) -> Result<Self, String> {
        let (digits, unit) = match value.strip_suffix("ms") {
            Some(digits) => (digits, 0.001),
            None => (value.strip_suffix('s').unwrap_or(value), 1.0),
        };
        let seconds = digits.parse::<f64>().map(|number| number * unit);
        let whole = seconds.ok().filter(|seconds| (0.001..=86400.0).contains(seconds));
        let whole = whole.map(Duration::from_secs_f64).ok_or_else(|| {
            format!("{TIME_VARIABLE} is no time from 1ms to 86400s: set 30s or 500ms")
        })?;
        Ok(Self { connect: whole.min(Self::default().connect), whole })
    }

    /// Returns the time for a file that comes in.
    pub(super) fn whole_of_file(&self) -> Duration {
        self.whole * FILE_TIMES
    }

    /// Returns the time for a request that sends this many bytes.
    pub(super) fn whole_for(&self, bytes: usize) -> Duration {
        self.whole + Duration::from_secs(bytes as u64 / SLOWEST_UPLOAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (value, ms) in [("2", 2000), ("30s", 30_000), ("500ms", 500), ("0.5", 500)] {
            assert_eq!(Limits::of(value).unwrap().whole, Duration::from_millis(ms));
        }
        assert_eq!(Limits::of("1s").unwrap().connect, Duration::from_secs(1));
        assert_eq!(Limits::of("90s").unwrap().connect, Duration::from_secs(10));
        for value in ["", "0", "-1", "1m", "inf", "NaN", "s", "1e9"] {
            assert!(Limits::of(value).is_err(), "{value}");
        }
    }

    #[test]
    fn uploads_have_the_time_of_their_size() {
        let limits = Limits::of("1s").unwrap();
        assert_eq!(limits.whole_for(0), Duration::from_secs(1));
        assert_eq!(limits.whole_for(1 << 20), Duration::from_secs(17));
    }
}
