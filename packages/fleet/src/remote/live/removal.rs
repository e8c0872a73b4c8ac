//! What of a partition can be removed: what nobody has read for a grace time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::change::LakeChange;
use super::standing::Standing;
use crate::layout::partition::LAST_TABLE;
use crate::layout::stem::Stem;

/// A file of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TableFile {
    pub table: &'static str,
    pub stem: Stem,
    pub modified: SystemTime,
}

/// Returns the files that nobody has read for the grace time, in the order of removal: the last table of a
/// stem is removed first, so that the stem is gone before the others. `changes` have the times of their
/// files.
pub(crate) fn removable(
    changes: &[(LakeChange, SystemTime)],
    files: &[TableFile],
    now: SystemTime,
    grace: Duration,
) -> Vec<TableFile> {
    let plain: Vec<LakeChange> = changes.iter().map(|(change, _)| change.clone()).collect();
    let present: BTreeSet<Stem> = files
        .iter()
        .filter(|file| file.table == LAST_TABLE)
        .map(|file| file.stem.clone())
        .collect();
    let standing = Standing::of(&plain, &present);
    let mut times = Times::default();
    for (change, time) in changes {
        change.stems().for_each(|stem| times.add(stem, *time));
    }
    // A twin that came later took a file's place.
    for file in files {
        times.add(&file.stem, file.modified);
    }
    let is_old = |file: &&TableFile| {
        let since = times.last(&file.stem).unwrap_or(file.modified);
        now.duration_since(since).is_ok_and(|age| age >= grace)
    };
    let mut removable: Vec<TableFile> = files
        .iter()
        .filter(|file| !standing.live.contains(&file.stem))
        .filter(is_old)
        .cloned()
        .collect();
    removable.sort_by_key(|file| (file.table != LAST_TABLE, file.clone()));
    removable
}

/// When something last happened to stems.
#[derive(Default)]
struct Times<'a> {
    /// By the stem; of runs by their ids.
    last: BTreeMap<&'a str, SystemTime>,
}

impl<'a> Times<'a> {
    fn add(&mut self, stem: &'a Stem, time: SystemTime) {
        let last = self.last.entry(key(stem)).or_insert(time);
        *last = time.max(*last);
    }

    fn last(&self, stem: &Stem) -> Option<SystemTime> {
        self.last.get(key(stem)).copied()
    }
}

fn key(stem: &Stem) -> &str {
    stem.run_id().unwrap_or(stem.as_str())
}
