//! Lengths of time in microseconds, as recordings count them.

use std::time::Duration;

/// Returns a length in microseconds. The largest number stands for a longer one.
pub fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
