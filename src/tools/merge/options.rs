//! The options and the progress of a merge.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::names::originals::Places;
use crate::read::filter::Filter;
use crate::read::slice::SliceLimits;

/// The end of the process that all others come from.
#[derive(Debug, Clone, Default)]
pub struct ProcessExit {
    /// Pid.
    pub pid: u32,
    /// Exit code, if the process had one.
    pub code: Option<i64>,
    /// Signal that killed the process, if one did.
    pub signal: Option<String>,
}

/// The options of a merge.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// Names of inputs, which their processes have in the trace, with their paths. These inputs come
    /// after the others.
    pub names: Vec<(String, PathBuf)>,
    /// Limits of the slice of the time that goes into the trace.
    pub slice: SliceLimits,
    /// End of the process that all others come from.
    pub exit: Option<ProcessExit>,
    /// Processes, threads and stacks that go into the trace.
    pub filter: Filter,
    /// Categories of other tools' events that go into the trace; empty for all.
    pub categories: Vec<String>,
    /// Least time between two samples, microseconds; none for all samples.
    pub interval_us: Option<i64>,
    /// Whether functions and lines become those of the sources, by source maps.
    pub source_maps: bool,
    /// Where sources and names are looked for.
    pub places: Places,
}

impl MergeOptions {
    /// Returns whether the samples of profiles change.
    pub(crate) fn changes_samples(&self) -> bool {
        self.filter.limits_samples() || self.interval_us.is_some()
    }
}

/// The progress of a merge, which other threads can read.
#[derive(Debug, Default)]
pub struct MergeProgress {
    /// Bytes of the inputs read so far.
    pub done: Arc<AtomicU64>,
    /// Bytes of the inputs to read; 0 until known.
    pub total: AtomicU64,
}
