//! The profile of one thread, as it was read from a file: a call tree with times, and samples.

/// Index of no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Time that two recordings of a thread may overlap, microseconds: an end can be an estimate.
pub(crate) const END_TOLERANCE_US: i64 = 10_000;

/// A profile of one thread, from start to stop.
#[derive(Debug, Default)]
pub(crate) struct ThreadProfile {
    /// Microseconds of the recording machine's clock.
    pub start_us: i64,
    /// Not before `start_us`, nor before the last sample.
    pub end_us: i64,
    /// Parents stand before their children.
    pub nodes: Vec<ProfileNode>,
    /// In the order of their times; empty if they were not wanted.
    pub samples: Vec<ProfileSample>,
    /// How many samples there were, in the wanted time.
    pub sample_count: u64,
    /// From when to when it was recorded, whatever was wanted of it: it is known by that.
    pub recorded_us: (i64, i64),
}

impl ThreadProfile {
    /// Whether both were recorded at the same time.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (self.recorded_us, other.recorded_us);
        one.1.min(other.1).saturating_sub(one.0.max(other.0)) > END_TOLERANCE_US
    }
}

/// A node of the call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfileNode {
    /// Index into `ThreadProfile::nodes`; [`NONE`] for a root.
    pub parent: u32,
    /// A number of [`FrameTable`].
    pub frame: u32,
    /// The time of its samples: microseconds. A sample's time is what passes until the next.
    pub self_us: u64,
}

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfileSample {
    /// Microseconds of the recording machine's clock.
    pub time_us: i64,
    /// Index into `ThreadProfile::nodes`; [`NONE`] where nothing was recorded until the next.
    pub node: u32,
}

/// What is wanted of a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadScope {
    /// Whether the samples one by one are.
    pub samples: bool,
    /// Time before this is left out.
    pub from_us: i64,
    /// Time after this is left out.
    pub to_us: i64,
}

impl ReadScope {
    /// All times, no list of samples.
    pub(crate) const TIMES: Self = Self { samples: false, from_us: i64::MIN, to_us: i64::MAX };
    /// Everything.
    pub(crate) const SAMPLES: Self = Self { samples: true, ..Self::TIMES };
}
