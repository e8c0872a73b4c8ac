//! What a recording tells over time beside its samples: memory, CPU time, collections, and the moments
//! and times that the program has named. The time line of the page shows them.

use cpu_prof_core::profile::gc::MemoryUse;

/// What one recording tells over time. Empty if the scope is without steps.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Memory, in the order of time: microseconds, and the values.
    pub memory: Vec<(i64, MemoryUse)>,
    /// CPU times, in the order of time.
    pub cpu: Vec<CpuStep>,
    /// Collections.
    pub collections: Vec<CollectionSpan>,
    /// Marks and measures.
    pub timings: Vec<NamedTime>,
    /// Count of the timings that were left out.
    pub left_out: u64,
}

/// CPU times between two readings of the counters, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuStep {
    /// Time of the first reading.
    pub from_us: i64,
    /// Time of the second reading.
    pub to_us: i64,
    /// CPU time of the thread.
    pub thread_us: i64,
    /// CPU time of all threads of the process; none for a thread that is not a main thread.
    pub process_us: Option<i64>,
}

/// A garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionSpan {
    /// Start, microseconds.
    pub start_us: i64,
    /// Duration, microseconds.
    pub duration_us: i64,
    /// Whether the whole heap was collected.
    pub is_major: bool,
}

/// A moment or a time that the program has named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedTime {
    /// Name.
    pub name: String,
    /// Start, microseconds.
    pub start_us: i64,
    /// Duration, microseconds; none for a moment.
    pub duration_us: Option<i64>,
    /// Name of the track, unless the timing is in the track of all timings.
    pub track: Option<String>,
    /// Name of the group of tracks.
    pub group: Option<String>,
    /// Name of DevTools' colour.
    pub color: Option<String>,
}
