//! The sources of samples, and their windows before they are read.

pub(crate) mod inspector;
pub(crate) mod native;
pub(crate) mod v8;
pub(crate) mod walk;

use self::v8::V8Profile;
use self::walk::WalkWindow;
use cpu_prof_core::base::settings::values::Source;

/// Returns the fastest source that this process offers.
pub(crate) fn best_source() -> Source {
    if v8::is_available() { Source::V8 } else { Source::Inspector }
}

/// A window as its source returns it.
pub(crate) enum RawWindow {
    /// A finished `v8::CpuProfile`.
    V8(V8Profile),
    /// A window of the walk.
    Walk(Box<WalkWindow>),
    /// The JSON of the inspector's `Profiler`.
    Inspector(String),
}
