//! The source of a recorded thread's samples.

use std::sync::Arc;

use crate::sampler::v8::{Profiler, ScriptNotes};
use crate::sampler::walk::Walker;
use cpu_prof_core::base::settings::values::Source;

/// The source.
pub(super) enum ThreadSampler {
    /// V8's profiler.
    V8(Profiler),
    /// The walk of the thread's frames.
    Walk(Walker),
    /// JavaScript takes the windows from the inspector.
    Inspector,
}

impl ThreadSampler {
    /// Returns the source in settings and results.
    pub(super) fn source(&self) -> Source {
        match self {
            Self::V8(_) => Source::V8,
            Self::Walk(_) => Source::Walk,
            Self::Inspector => Source::Inspector,
        }
    }

    /// Returns what was noted of the thread's scripts; none if JavaScript takes the windows.
    pub(super) fn scripts(&self) -> Option<Arc<ScriptNotes>> {
        match self {
            Self::V8(profiler) => Some(Arc::clone(&profiler.scripts)),
            Self::Walk(walker) => Some(Arc::clone(&walker.scripts)),
            Self::Inspector => None,
        }
    }

    /// Returns V8's profiler, if that is the source.
    pub(super) fn profiler(&self) -> Option<&Profiler> {
        match self {
            Self::V8(profiler) => Some(profiler),
            _ => None,
        }
    }
}
