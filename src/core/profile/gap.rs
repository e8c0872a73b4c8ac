//! A time that a recording lacks, because its file could not be written.

use serde::{Deserialize, Serialize};

/// A time between two windows that a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Start: CLOCK_MONOTONIC, microseconds.
    pub from_us: i64,
    /// End: CLOCK_MONOTONIC, microseconds.
    pub to_us: i64,
    /// Count of the samples in the gap.
    pub samples: u64,
}

/// What a heartbeat at the end of a gap tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LostTime {
    /// Length of the gap, microseconds.
    pub lost_us: i64,
    /// Count of the samples in the gap.
    pub lost_samples: u64,
}

impl Gap {
    /// Returns what a heartbeat tells.
    pub fn lost(&self) -> LostTime {
        LostTime { lost_us: self.to_us.saturating_sub(self.from_us), lost_samples: self.samples }
    }
}
