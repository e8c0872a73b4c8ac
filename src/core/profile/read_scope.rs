//! The part of a recording that is looked at.

/// The part of a recording that is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadScope {
    /// Whether single samples are kept, with their lines, and the reasons of nodes.
    pub samples: bool,
    /// Whether times of lines are kept, and those in which threads were not on a core.
    pub lines: bool,
    /// Whether times of lines are also kept of a profile that has samples, which have their lines themselves.
    pub lines_of_samples: bool,
    /// Whether it is kept what happened when: steps, memory, CPU times, collections and timings.
    pub steps: bool,
    /// Start: earlier time is left out.
    pub from_us: i64,
    /// End: later time is left out.
    pub to_us: i64,
}

impl ReadScope {
    /// All times, without lines and single samples.
    pub const TIMES: Self = Self {
        samples: false,
        lines: false,
        lines_of_samples: true,
        steps: false,
        from_us: i64::MIN,
        to_us: i64::MAX,
    };
    /// No time: only the start and the end of each recording.
    pub const NOTHING: Self = Self { from_us: i64::MAX, ..Self::TIMES };
    /// All times, with lines.
    pub const LINES: Self = Self { lines: true, ..Self::TIMES };
    /// All times, with lines, steps and series.
    pub const STEPS: Self = Self { steps: true, ..Self::LINES };
    /// All times, with single samples.
    pub const SAMPLES: Self = Self { samples: true, ..Self::TIMES };
    /// Everything.
    pub const ALL: Self = Self { samples: true, ..Self::STEPS };

    /// Returns whether a moment is in the scope.
    pub fn contains(&self, time_us: i64) -> bool {
        (self.from_us..=self.to_us).contains(&time_us)
    }
}
