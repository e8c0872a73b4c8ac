//! The rule: which stems of a partition are live, so that a reader sees each run exactly once.

use std::collections::{BTreeMap, BTreeSet};

use super::change::LakeChange;
use crate::layout::stem::Stem;

/// How the stems of a partition stand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// What readers read.
    pub live: BTreeSet<Stem>,
    /// What is there, and nobody reads.
    pub dead: BTreeSet<Stem>,
    /// Ids of the runs that a change names.
    pub settled: BTreeSet<String>,
    /// The live stem of each run that no change names, by the run's id.
    pub unsettled: BTreeMap<String, Stem>,
}

impl Standing {
    /// Applies the rule to the changes of a partition, and to the stems whose files are there.
    pub(crate) fn of(changes: &[LakeChange], present: &BTreeSet<Stem>) -> Self {
        let added: BTreeSet<&Stem> = changes.iter().flat_map(|change| &change.adds).collect();
        let replaced: BTreeSet<&Stem> =
            changes.iter().flat_map(|change| &change.replaces).collect();
        let run_id = |stem: &Stem| stem.run_id().map(str::to_owned);
        let settled: BTreeSet<String> =
            added.iter().chain(&replaced).filter_map(|stem| run_id(stem)).collect();
        let mut unsettled: BTreeMap<String, Stem> = BTreeMap::new();
        // In their order, so the smallest stem of a run comes first.
        for stem in present {
            if let Some(run) = run_id(stem).filter(|run| !settled.contains(run)) {
                unsettled.entry(run).or_insert_with(|| stem.clone());
            }
        }
        let is_live = |stem: &Stem| {
            let is_added = added.contains(stem) && !replaced.contains(stem);
            is_added || stem.run_id().is_some_and(|run| unsettled.get(run) == Some(stem))
        };
        let (live, dead) = present.iter().cloned().partition(is_live);
        Self { live, dead, settled, unsettled }
    }

    /// Returns the live stems of a run, without those of many runs.
    pub(crate) fn of_run<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a Stem> {
        self.live.iter().filter(move |stem| stem.run_id() == Some(run))
    }
}
