//! How long a request may take, and how much it may bring.

use std::time::Duration;

use super::failure::LakeError;

/// The variable that sets the time of a request. Lengths such as `500ms` come as numbers of seconds.
pub const TIME_VARIABLE: &str = "AWS_TIMEOUT";

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
    /// Reads the value of the variable.
    pub(super) fn of(value: &str) -> Result<Self, LakeError> {
        let seconds = value.parse().ok().filter(|seconds| (0.001..=86400.0).contains(seconds));
        let whole = seconds.map(Duration::from_secs_f64).ok_or_else(|| {
            LakeError(format!(
                "{TIME_VARIABLE} is not valid: set a time such as 30s or 500ms, from 1ms to 1d"
            ))
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
    fn times_are_seconds() {
        for (value, ms) in [("2", 2000), ("0.5", 500), ("0.001", 1), ("86400", 86_400_000)] {
            assert_eq!(Limits::of(value).unwrap().whole, Duration::from_millis(ms));
        }
        assert_eq!(Limits::of("1").unwrap().connect, Duration::from_secs(1));
        assert_eq!(Limits::of("90").unwrap().connect, Duration::from_secs(10));
        for value in ["", "0", "-1", "1x", "inf", "NaN", "s", "1e9", "86401", "1e3s"] {
            assert!(Limits::of(value).is_err(), "{value}");
        }
    }

    #[test]
    fn uploads_have_the_time_of_their_size() {
        let limits = Limits::of("1").unwrap();
        assert_eq!(limits.whole_for(0), Duration::from_secs(1));
        assert_eq!(limits.whole_for(1 << 20), Duration::from_secs(17));
    }
}
