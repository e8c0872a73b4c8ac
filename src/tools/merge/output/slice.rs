//! The slice of the time that goes into the trace.

/// A slice of the time, half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSlice {
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
    /// Whether 0 is a time like others. In most traces 0 stands for no time.
    pub has_zero: bool,
}

impl OutputSlice {
    /// All times.
    pub const EVERYTHING: Self = Self { from_us: i64::MIN, to_us: i64::MAX, has_zero: false };

    /// Returns whether all times are in the slice.
    pub fn is_everything(&self) -> bool {
        (self.from_us, self.to_us) == (i64::MIN, i64::MAX)
    }

    /// Returns whether a time is in the slice.
    pub fn has(&self, ts: i64) -> bool {
        (self.from_us..self.to_us).contains(&ts)
    }
}
