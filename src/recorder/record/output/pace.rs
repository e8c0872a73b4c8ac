//! The pace at which a recording takes its windows.

use std::time::Duration;

use crate::record::window::overlap;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::values::Source;

/// The pace of a recording's windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Time between two flushes.
    pub flush_interval: Duration,
    /// Time for which the old and the next profile both run in a rotation.
    pub overlap: Duration,
}

impl Pace {
    /// Returns the pace with a source of samples.
    pub(super) fn of(config: &Config, source: Source) -> Self {
        let overlap = overlap::duration(config.interval_us);
        Self { flush_interval: config.flush_interval(source), overlap }
    }
}
