//! The call paths of several profiles, each once.

use super::frame_index::FrameKind;
use cpu_prof_core::base::numbering::FxIndexSet;

/// Numbers of call paths. A path has a larger number than the path above.
#[derive(Debug, Default)]
pub(crate) struct PathTree {
    /// For each path the number of the path above, and what the path ends with.
    paths: FxIndexSet<(Option<u32>, FrameKind)>,
}

impl PathTree {
    /// Returns the number of a path.
    pub(crate) fn number(&mut self, above: Option<u32>, end: FrameKind) -> u32 {
        self.paths.insert_full((above, end)).0 as u32
    }

    /// Returns for each path, by its number, the path above and what the path ends with.
    pub(crate) fn list(&self) -> impl ExactSizeIterator<Item = (Option<u32>, FrameKind)> {
        self.paths.iter().copied()
    }
}
