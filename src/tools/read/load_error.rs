//! Why there is nothing to show.

use super::slice::FoundSlice;
use cpu_prof_core::files::input::Failed;

/// Why there is nothing to show, as a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No file has a profile, and none was named.
    #[error(
        "there is no trace to read: give files that a recording has written (.trace.json, .cpuprofile, .gz), or a \
         folder of them"
    )]
    NoInput,
    /// Each file failed.
    #[error("no file could be read. {}", reasons(.0))]
    Unreadable(Vec<Failed>),
    /// Nothing was recorded in the slice.
    #[error("{}", .0.reason())]
    EmptySlice(FoundSlice),
    /// The filter excludes all processes, for this reason.
    #[error("{0}")]
    NothingLeft(String),
}

fn reasons(failed: &[Failed]) -> String {
    let reason = |failed: &Failed| format!("{}: {}", failed.path.display(), failed.reason);
    failed.iter().map(reason).collect::<Vec<_>>().join(". ")
}
