//! What adding a run means where the run can be there already.

use std::collections::BTreeSet;

use super::change::LakeChange;
use super::standing::Standing;
use crate::layout::stem::Stem;

/// What to do with a run that is to be added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Adding {
    /// The run is new: its files are all that it takes.
    Upload,
    /// The run is there.
    Present,
    /// The run is there with other contents: its files, then this change.
    Commit(LakeChange),
    /// The run is in a file of many runs.
    Compacted,
    /// The run had these contents before.
    ReplacedBefore,
}

/// Decides what adding a stem means. `present` are the stems whose files are there.
pub(crate) fn adding(
    stem: &Stem,
    changes: &[LakeChange],
    present: &BTreeSet<Stem>,
    replaces: bool,
) -> Adding {
    let Some(run) = stem.run_id() else { return Adding::Compacted };
    let standing = Standing::of(changes, present);
    let is_settled = standing.settled.contains(run);
    let live: BTreeSet<Stem> = standing.of_run(run).cloned().collect();
    if live.contains(stem) {
        return Adding::Present;
    }
    if live.is_empty() && !is_settled {
        return Adding::Upload;
    }
    if !replaces {
        return Adding::Present;
    }
    if live.is_empty() {
        return Adding::Compacted;
    }
    if changes.iter().any(|change| change.replaces.contains(stem)) {
        return Adding::ReplacedBefore;
    }
    // Not what others have uploaded for a change of their own.
    Adding::Commit(LakeChange { adds: [stem.clone()].into(), replaces: live })
}
