//! Removes what nobody reads any more.

use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use super::handle::{AT_ONCE, Lake};
use super::snapshot::{self, LakeScope, PartitionContents};
use super::temporary::remove_unfinished;
use crate::layout::partition::{LAST_TABLE, Partition, TABLES, VERSION_FOLDER};
use crate::live::removal::{TableFile, removable};
use crate::store::failure::LakeError;
use crate::store::objects::Objects;

/// What is removed, as JavaScript passes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepRequest {
    /// How long nobody must have read a file, milliseconds. It must be longer than any reading, and than any
    /// upload.
    grace_ms: u64,
}

impl Lake {
    /// Removes files that nobody has read for the grace time. Returns their count.
    pub async fn sweep(&self, request: &SweepRequest) -> Result<usize, LakeError> {
        let grace = Duration::from_millis(request.grace_ms);
        let objects = self.open_to_read().await?;
        // Before the lists: a file that is written meanwhile is young, even if they take long.
        let now = SystemTime::now();
        let snapshot = snapshot::read(&objects, &LakeScope::default(), &TABLES).await?;
        let mut removed = 0;
        for (partition, contents) in &snapshot.partitions {
            removed += sweep_partition(&objects, partition, contents, now, grace).await?;
        }
        if let Some(folder) = self.folder() {
            removed += remove_unfinished(&folder.join(VERSION_FOLDER), now, grace);
        }
        Ok(removed)
    }
}

async fn sweep_partition(
    objects: &Objects,
    partition: &Partition,
    contents: &PartitionContents,
    now: SystemTime,
    grace: Duration,
) -> Result<usize, LakeError> {
    let changes: Vec<_> = contents.changes.values().cloned().collect();
    let files: Vec<TableFile> = contents
        .files
        .iter()
        .flat_map(|(table, files)| {
            files.iter().map(|(stem, object)| TableFile {
                table,
                stem: stem.clone(),
                modified: object.modified,
            })
        })
        .collect();
    let removable = removable(&changes, &files, now, grace);
    // A stem is gone before its other files are.
    let (last, details): (Vec<_>, Vec<_>) =
        removable.iter().partition(|file| file.table == LAST_TABLE);
    let mut count = 0;
    for files in [last, details] {
        let removals = files.into_iter().map(async |file| {
            let path = partition.table_file(file.table, &file.stem);
            // A file that was written again meanwhile is young.
            let modified = objects.modified(&path).await?;
            let age = modified.and_then(|modified| now.duration_since(modified).ok());
            let is_old = age.is_some_and(|age| age >= grace);
            if is_old {
                objects.remove(&path).await?;
            }
            Ok::<_, LakeError>(is_old)
        });
        let removed: Vec<bool> =
            stream::iter(removals).buffer_unordered(AT_ONCE).try_collect().await?;
        count += removed.into_iter().filter(|removed| *removed).count();
    }
    Ok(count)
}
