//! Sources of samples.

use crate::base::config::Source;

pub(crate) mod inspector;
pub(crate) mod native_names;
pub(crate) mod v8;

/// Returns the fastest source that this process has.
pub(crate) fn best_source() -> Source {
    if v8::is_available() { Source::V8 } else { Source::Inspector }
}

/// The samples of a window as their source gives them.
pub(crate) enum RawWindow {
    /// A finished `v8::CpuProfile`.
    V8(v8::V8Profile),
    /// The JSON of the inspector's `Profiler`.
    Inspector(inspector::InspectorProfile),
}
