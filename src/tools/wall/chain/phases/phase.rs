//! A phase, and its times within and outside of others.

use cpu_prof_core::base::path_text::{below, with_slashes};
use cpu_prof_core::profile::label::shortened;
use cpu_prof_session::model::Process;

/// A time in which a process did one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    /// Name; none for a time without one.
    pub name: Option<String>,
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
}

impl Phase {
    /// Returns a phase. A name of any length is one of a line.
    pub(super) fn new(name: &str, from_us: i64, to_us: i64) -> Self {
        Self { name: Some(shortened(name)), from_us, to_us }
    }

    /// Returns a phase that has the name of a file or a folder, as its process finds it.
    pub(super) fn of_path(path: &str, process: &Process, from_us: i64, to_us: i64) -> Self {
        let path = with_slashes(path);
        let cwd = process.cwd.as_deref().map(with_slashes);
        let inner = cwd.and_then(|cwd| below(&path, &cwd));
        Self::new(inner.unwrap_or(&path), from_us, to_us)
    }

    /// Returns the length, microseconds.
    pub(super) fn us(&self) -> i64 {
        self.to_us.saturating_sub(self.from_us)
    }

    /// Returns the part of the phase in another.
    pub(super) fn within(&self, other: &Self) -> Option<Self> {
        let (from_us, to_us) = (self.from_us.max(other.from_us), self.to_us.min(other.to_us));
        (from_us < to_us).then(|| Self { name: self.name.clone(), from_us, to_us })
    }

    /// Returns the parts of the phase outside of others, which are in order.
    pub(super) fn without(&self, others: &[Self]) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut at_us = self.from_us;
        let part = |from_us, to_us: i64| Self {
            name: self.name.clone(),
            from_us,
            to_us: to_us.min(self.to_us),
        };
        for other in others {
            if at_us < other.from_us.min(self.to_us) {
                parts.push(part(at_us, other.from_us));
            }
            at_us = at_us.max(other.to_us);
        }
        if at_us < self.to_us {
            parts.push(part(at_us, self.to_us));
        }
        parts
    }
}
