//! The slice that a user asks for, found on the time line of the recordings.

/// The limits of a slice, as the user gave them: microseconds after the recordings' start, or before
/// their end if the number is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SliceLimits {
    /// Start of the slice; none for the start of the recordings.
    pub from_us: Option<i64>,
    /// End of the slice; none for the end of the recordings.
    pub to_us: Option<i64>,
}

/// A slice on the time line of the recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundSlice {
    /// Start, microseconds.
    pub from_us: Option<i64>,
    /// End, microseconds.
    pub to_us: Option<i64>,
    /// Start of the first recording and end of the last, microseconds.
    recorded_us: (i64, i64),
}

impl SliceLimits {
    /// Returns the limits for times in milliseconds, which may be infinite.
    pub(crate) fn of_ms(from_ms: Option<f64>, to_ms: Option<f64>) -> Self {
        const US_PER_MS: f64 = 1000.0;
        // The conversion saturates: infinity becomes the largest number.
        let micros = |ms: f64| (ms * US_PER_MS).round() as i64;
        Self { from_us: from_ms.map(micros), to_us: to_ms.map(micros) }
    }

    /// Returns whether there is a limit.
    pub fn is_limited(self) -> bool {
        self != Self::default()
    }

    /// Returns whether the limits exclude nothing.
    pub fn is_everything(self) -> bool {
        self.from_us.is_none_or(|from_us| from_us == 0)
            && self.to_us.is_none_or(|to_us| to_us == i64::MAX)
    }

    /// Finds the slice of recordings by one clock, from their first start to their last end.
    pub fn find(self, start_us: i64, end_us: i64) -> FoundSlice {
        let at = |limit_us: i64| match limit_us {
            ..0 => end_us.saturating_add(limit_us),
            0.. => start_us.saturating_add(limit_us),
        };
        let (from_us, to_us) = (self.from_us.map(at), self.to_us.map(at));
        FoundSlice { from_us, to_us, recorded_us: (start_us, end_us) }
    }
}

impl FoundSlice {
    /// Returns whether the slice does not end after its start.
    pub(crate) fn is_reversed(&self) -> bool {
        self.from_us.zip(self.to_us).is_some_and(|(from_us, to_us)| from_us >= to_us)
    }

    /// Returns why nothing is in the slice, for the user.
    pub fn reason(&self) -> String {
        let (start_us, end_us) = self.recorded_us;
        let length = milliseconds(end_us.saturating_sub(start_us));
        let place = |limit_us: Option<i64>, none: &str| {
            limit_us.map_or(none.to_owned(), |us| milliseconds(us.saturating_sub(start_us)))
        };
        let (from, to) = (place(self.from_us, "the start"), place(self.to_us, "the end"));
        if self.is_reversed() {
            return format!(
                "the slice ends before it starts: of recordings of {length}, from is at {from} and \
                 to at {to}; choose an earlier from or a later to"
            );
        }
        format!(
            "nothing was recorded in that time: the slice goes from {from} to {to}, and the \
             recordings from 0 to {length}; choose other limits"
        )
    }
}

fn milliseconds(us: i64) -> String {
    format!("{} ms", us as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_from_the_start_or_from_the_end() {
        let find = |from, to| {
            let found = SliceLimits::of_ms(from, to).find(1_000_000, 11_000_000);
            (found.from_us, found.to_us)
        };
        assert_eq!(find(Some(2.5), Some(4.0)), (Some(1_002_500), Some(1_004_000)));
        assert_eq!(find(Some(-2.5), None), (Some(10_997_500), None));
        assert_eq!(find(Some(1000.0), Some(-1000.0)), (Some(2_000_000), Some(10_000_000)));
        // Before the start is no error: the last minute of a shorter recording is all of it.
        assert_eq!(find(Some(-60_000.0), None), (Some(-49_000_000), None));
        let infinite = find(Some(f64::NEG_INFINITY), Some(f64::INFINITY));
        assert!(infinite.0 < Some(0) && infinite.1 == Some(i64::MAX));
    }

    #[test]
    fn the_whole_has_no_limits() {
        let limits = SliceLimits::of_ms;
        assert!(limits(None, None).is_everything() && !limits(None, None).is_limited());
        assert!(limits(Some(0.0), Some(f64::INFINITY)).is_everything());
        assert!(limits(Some(0.0), None).is_limited());
        for (from, to) in [(Some(1.0), None), (None, Some(5.0)), (Some(-1.0), None)] {
            assert!(!limits(from, to).is_everything());
        }
    }

    #[test]
    fn the_reason_names_the_limits_and_the_length() {
        let found = |from, to| SliceLimits::of_ms(from, to).find(5_000_000, 15_000_000);
        let reversed = found(Some(8000.0), Some(-5000.5));
        assert!(reversed.is_reversed());
        assert_eq!(
            reversed.reason(),
            "the slice ends before it starts: of recordings of 10000 ms, from is at 8000 ms and to \
             at 4999.5 ms; choose an earlier from or a later to"
        );
        assert!(found(Some(5000.0), Some(-5000.0)).is_reversed());
        let late = found(Some(20_000.0), None);
        assert!(!late.is_reversed());
        assert_eq!(
            late.reason(),
            "nothing was recorded in that time: the slice goes from 20000 ms to the end, and the \
             recordings from 0 to 10000 ms; choose other limits"
        );
    }
}
