//! What is in a lake at one moment: changes and files, so that nothing is read while it is replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::handle::AT_ONCE;
use crate::layout::partition::{
    CHANGES, LAST_TABLE, Partition, parse_change_file, parse_table_file, repo_folder, repo_of,
};
use crate::layout::stem::Stem;
use crate::live::change::LakeChange;
use crate::store::failure::LakeError;
use crate::store::objects::{Object, Objects};

/// How often a lake is read again that changes meanwhile.
const ATTEMPTS: usize = 10;

/// Which partitions are wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct LakeScope {
    /// All repositories without a name.
    pub repo: Option<String>,
    /// The first day, and the last; all without.
    pub from: Option<String>,
    pub to: Option<String>,
}

impl LakeScope {
    /// Returns the scope of one partition.
    pub(super) fn of(partition: &Partition) -> Self {
        let date = Some(partition.date().to_owned());
        Self { repo: Some(partition.repo().to_owned()), from: date.clone(), to: date }
    }

    fn has(&self, partition: &Partition) -> bool {
        let date = partition.date();
        self.from.as_ref().is_none_or(|from| from.as_str() <= date)
            && self.to.as_ref().is_none_or(|to| date <= to.as_str())
    }
}

/// The changes of a partition by their numbers, with the times of their files.
pub(super) type Changes = BTreeMap<u32, (LakeChange, SystemTime)>;

/// What one partition has.
#[derive(Debug, Default)]
pub(super) struct PartitionContents {
    pub changes: Changes,
    /// The file of each stem, by table.
    pub files: BTreeMap<&'static str, BTreeMap<Stem, Object>>,
}

impl PartitionContents {
    /// Returns the stems that are there.
    pub(super) fn present(&self) -> BTreeSet<Stem> {
        self.files.get(LAST_TABLE).into_iter().flat_map(|files| files.keys().cloned()).collect()
    }

    pub(super) fn plain_changes(&self) -> Vec<LakeChange> {
        self.changes.values().map(|(change, _)| change.clone()).collect()
    }

    pub(super) fn next_change(&self) -> u32 {
        self.changes.keys().next_back().map_or(1, |last| last + 1)
    }
}

/// What a lake has, by partition.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub partitions: BTreeMap<Partition, PartitionContents>,
    /// Count of the repositories, whatever is wanted.
    pub repos: usize,
    /// Count of the files that are of nothing of ours.
    pub ignored: usize,
}

/// Reads what a lake has. `tables` are read in their order, the last table first.
pub(super) async fn read(
    objects: &Objects,
    scope: &LakeScope,
    tables: &[&'static str],
) -> Result<Snapshot, LakeError> {
    let mut known = BTreeMap::new();
    let mut before = read_changes(objects, scope, &mut known).await?;
    for _ in 0..ATTEMPTS {
        let mut snapshot = read_files(objects, scope, tables).await?;
        let after = read_changes(objects, scope, &mut known).await?;
        // With the same changes before and after, the files are those of one moment.
        if before.0 == after.0 {
            let (changes, ignored) = after;
            snapshot.ignored += ignored;
            for (partition, changes) in changes {
                snapshot.partitions.entry(partition).or_default().changes = changes;
            }
            return Ok(snapshot);
        }
        before = after;
    }
    Err(LakeError("the lake changes faster than it can be read; try again".into()))
}

/// Lists the folders of the wanted repositories, of a table or of the changes.
async fn repos(
    objects: &Objects,
    scope: &LakeScope,
    table: &str,
) -> Result<Vec<String>, LakeError> {
    let folder = format!("v1/{table}");
    let names = objects.folders(&folder).await?;
    Ok(names
        .iter()
        .filter_map(|name| repo_of(name))
        .filter(|repo| scope.repo.as_ref().is_none_or(|wanted| wanted == repo))
        .collect())
}

/// Lists the files of a table, or of the changes, in the wanted partitions.
async fn files_of(
    objects: &Objects,
    scope: &LakeScope,
    table: &str,
    repos: &[String],
) -> Result<Vec<Object>, LakeError> {
    let mut lists = stream::iter(repos.iter().map(|repo| {
        let folder = repo_folder(table, repo);
        let after =
            scope.from.as_ref().map_or(folder.clone(), |from| format!("{folder}/date={from}"));
        let end = scope.to.as_ref().map(|to| format!("{folder}/date={to}0"));
        async move {
            // `0` comes after `/`.
            let is_beyond = |path: &str| end.as_ref().is_some_and(|end| path >= end.as_str());
            objects.list(&folder, &after, is_beyond).await
        }
    }))
    .buffer_unordered(AT_ONCE);
    let mut files = Vec::new();
    while let Some(list) = lists.try_next().await? {
        files.extend(list);
    }
    Ok(files)
}

async fn read_files(
    objects: &Objects,
    scope: &LakeScope,
    tables: &[&'static str],
) -> Result<Snapshot, LakeError> {
    let mut snapshot = Snapshot::default();
    // The table that is written last is listed first: what it has, the others have.
    let others = tables.iter().filter(|table| **table != LAST_TABLE);
    for table in [LAST_TABLE].iter().chain(others) {
        let repos = repos(objects, scope, table).await?;
        snapshot.repos += repos.len();
        for object in files_of(objects, scope, table, &repos).await? {
            match parse_table_file(&object.path) {
                Some((partition, stem)) if scope.has(&partition) => {
                    let contents = snapshot.partitions.entry(partition).or_default();
                    contents.files.entry(table).or_default().insert(stem, object);
                }
                Some(_) => {}
                None => snapshot.ignored += 1,
            }
        }
    }
    Ok(snapshot)
}

type ChangesByPartition = BTreeMap<Partition, Changes>;

/// Reads the changes of the wanted partitions, and counts files that are none. `known` keeps what was read:
/// a change never changes.
async fn read_changes(
    objects: &Objects,
    scope: &LakeScope,
    known: &mut BTreeMap<String, LakeChange>,
) -> Result<(ChangesByPartition, usize), LakeError> {
    let repos = repos(objects, scope, CHANGES).await?;
    let mut ignored = 0;
    let mut wanted: BTreeMap<Partition, BTreeMap<u32, SystemTime>> = BTreeMap::new();
    for object in files_of(objects, scope, CHANGES, &repos).await? {
        match parse_change_file(&object.path) {
            Some((partition, number)) if scope.has(&partition) => {
                wanted.entry(partition).or_default().insert(number, object.modified);
            }
            Some(_) => {}
            None => ignored += 1,
        }
    }
    let mut all = Vec::new();
    for (partition, numbers) in &wanted {
        let last = numbers.keys().next_back().copied().unwrap_or(0);
        // A list can miss a change that was written meanwhile, and have a later one.
        for number in 1..=last {
            let modified = numbers.get(&number).copied().unwrap_or_else(SystemTime::now);
            all.push((partition, number, modified));
        }
    }
    let missing: Vec<String> = all
        .iter()
        .map(|(partition, number, _)| partition.change_file(*number))
        .filter(|path| !known.contains_key(path))
        .collect();
    let mut reads = stream::iter(missing.into_iter().map(async |path| {
        let change = read_change(objects, &path).await?;
        Ok::<_, LakeError>((path, change))
    }))
    .buffer_unordered(AT_ONCE);
    while let Some((path, change)) = reads.try_next().await? {
        known.insert(path, change);
    }
    drop(reads);
    let mut changes = ChangesByPartition::new();
    for (partition, number, modified) in all {
        if let Some(change) = known.get(&partition.change_file(number)) {
            let of_partition = changes.entry(partition.clone()).or_default();
            of_partition.insert(number, (change.clone(), modified));
        }
    }
    Ok((changes, ignored))
}

async fn read_change(objects: &Objects, path: &str) -> Result<LakeChange, LakeError> {
    let Some(bytes) = objects.get(path).await? else {
        return Err(LakeError(format!(
            "the lake lacks the change {path}, and has later ones: without it runs would be counted \
             twice; restore the file"
        )));
    };
    LakeChange::from_json(&bytes)
        .map_err(|why| LakeError(format!("the change {path} of the lake {why}; restore the file")))
}
