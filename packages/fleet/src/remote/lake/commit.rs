//! Commits a change: the files that it adds, then the change.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::Deserialize;

use super::handle::Lake;
use super::snapshot::{self, LakeScope, PartitionContents};
use super::upload::{Last, Upload};
use crate::layout::partition::{LAST_TABLE, Partition};
use crate::layout::stem::Stem;
use crate::live::change::LakeChange;
use crate::store::failure::LakeError;
use crate::store::objects::Objects;

/// What is committed, as JavaScript passes it.
#[derive(Debug, Deserialize)]
pub struct CommitRequest {
    repo: String,
    date: String,
    /// The number that the change is to have.
    number: u32,
    adds: Vec<AddedFiles>,
    replaces: Vec<String>,
}

/// The files of a stem.
#[derive(Debug, Deserialize)]
struct AddedFiles {
    stem: String,
    /// A path of this machine.
    folder: String,
}

impl Lake {
    /// Uploads files, and commits the change of them. Returns false if another change has the number.
    pub async fn commit(&self, request: &CommitRequest) -> Result<bool, LakeError> {
        let partition = Partition::of(&request.repo, &request.date)?;
        if !(1..=99_999_999).contains(&request.number) {
            return Err(LakeError(format!("{} is no number of a change", request.number)));
        }
        let stem = |text: &String| stem_of(text);
        let adds: Vec<Stem> =
            request.adds.iter().map(|added| stem(&added.stem)).collect::<Result<_, _>>()?;
        let replaces: BTreeSet<Stem> =
            request.replaces.iter().map(stem).collect::<Result<_, _>>()?;
        let uploads = adds.iter().zip(&request.adds);
        let uploads: Vec<Upload> = uploads
            .map(|(stem, files)| Upload::of(&partition, stem, &files.folder))
            .collect::<Result<_, _>>()?;
        let change = LakeChange { adds: adds.iter().cloned().collect(), replaces };
        let objects = self.open_to_write().await?;
        let scope = LakeScope::of(&partition);
        let mut snapshot = snapshot::read(&objects, &scope, &[LAST_TABLE]).await?;
        let contents = snapshot.partitions.remove(&partition).unwrap_or_default();
        if contents.next_change() > request.number {
            return Ok(false);
        }
        check(&change, &contents, request.number)?;
        commit(&objects, &partition, request.number, &change, &uploads.iter().collect::<Vec<_>>())
            .await
    }
}

/// Refuses a change that would lose runs: what was replaced never counts again.
fn check(change: &LakeChange, contents: &PartitionContents, number: u32) -> Result<(), LakeError> {
    if contents.next_change() < number {
        let next = contents.next_change();
        return Err(LakeError(format!("the next change has the number {next}, not {number}")));
    }
    let earlier = contents.plain_changes();
    let is_replaced =
        |stem: &&Stem| earlier.iter().chain([change]).any(|change| change.replaces.contains(*stem));
    match change.adds.iter().find(is_replaced) {
        Some(stem) => Err(LakeError(format!("{stem} is replaced, and cannot be added again"))),
        None => Ok(()),
    }
}

/// Returns a stem, or the error of another text.
pub(super) fn stem_of(text: &str) -> Result<Stem, LakeError> {
    Stem::of(text).ok_or_else(|| LakeError(format!("{text:?} is no name of a run's files")))
}

/// Uploads files, and writes the change if no other has the number. Returns whether it did.
pub(super) async fn commit(
    objects: &Objects,
    partition: &Partition,
    number: u32,
    change: &LakeChange,
    uploads: &[&Upload<'_>],
) -> Result<bool, LakeError> {
    let path = partition.change_file(number);
    for upload in uploads {
        upload.run(objects, Last::Anew).await?;
    }
    // Servers exist that write over the file of another.
    if objects.has(&path).await? {
        return Ok(false);
    }
    let json = change.to_json(&own_mark());
    objects.put_new(&path, json.clone().into()).await?;
    // An answer can be lost, so that the repeated request finds its own file: what is there now tells who
    // has the number.
    let committed = objects.get(&path).await?;
    if committed.is_none_or(|bytes| bytes != json.as_bytes()) {
        return Ok(false);
    }
    // A sweep can have taken files for leftovers while others were uploaded.
    for upload in uploads {
        upload.put_missing(objects).await?;
    }
    Ok(true)
}

/// Returns a text that no other writer has.
fn own_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 8];
    let is_random =
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).is_ok();
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let number = if is_random { u64::from_le_bytes(bytes) } else { since_1970.as_nanos() as u64 };
    format!("{number:016x}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
