//! Uploads the files of a stem, the last table last.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::handle::AT_ONCE;
use crate::layout::partition::{LAST_TABLE, Partition, TABLES};
use crate::layout::stem::Stem;
use crate::store::failure::LakeError;
use crate::store::objects::Objects;

/// After this time files that were uploaded first are looked for again: a sweep can have taken them for
/// leftovers.
const LONG: Duration = Duration::from_secs(60);

/// The files of a stem on this machine.
#[derive(Debug)]
pub(super) struct Upload<'a> {
    partition: &'a Partition,
    stem: &'a Stem,
    folder: PathBuf,
}

/// Whether files of the last table that are there stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// The run is not there, so nobody can take it for a leftover.
    IfAbsent,
    /// Written anew, so that a sweep sees that it is young.
    Anew,
}

impl<'a> Upload<'a> {
    /// Looks for the files in a folder: `<table>.parquet` each.
    pub(super) fn of(
        partition: &'a Partition,
        stem: &'a Stem,
        folder: &str,
    ) -> Result<Self, LakeError> {
        let upload = Self { partition, stem, folder: folder.into() };
        for table in TABLES {
            let file = upload.file(table);
            if !file.is_file() {
                return Err(LakeError(format!("{} is not there to be added", file.display())));
            }
        }
        Ok(upload)
    }

    fn file(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{table}.parquet"))
    }

    /// Uploads all files. Where that fails, the stem is not there.
    pub(super) async fn run(&self, objects: &Objects, last: Last) -> Result<(), LakeError> {
        let start = Instant::now();
        self.put_details(objects, |_| async { Ok(false) }).await?;
        let (path, bytes) = self.load(LAST_TABLE)?;
        match last {
            Last::IfAbsent => {
                objects.put_new(&path, bytes).await?;
            }
            Last::Anew => objects.put(&path, bytes).await?,
        }
        if start.elapsed() > LONG {
            self.put_missing(objects).await?;
        }
        Ok(())
    }

    /// Uploads the files that are not there any more.
    pub(super) async fn put_missing(&self, objects: &Objects) -> Result<(), LakeError> {
        self.put_details(objects, |path| async move { objects.has(&path).await }).await?;
        let (path, bytes) = self.load(LAST_TABLE)?;
        if !objects.has(&path).await? {
            objects.put(&path, bytes).await?;
        }
        Ok(())
    }

    /// Uploads the files of all tables but the last, unless one is there.
    async fn put_details<F: Future<Output = Result<bool, LakeError>>>(
        &self,
        objects: &Objects,
        is_there: impl Fn(String) -> F,
    ) -> Result<(), LakeError> {
        let is_there = &is_there;
        let details = TABLES.iter().filter(|table| **table != LAST_TABLE);
        let puts = stream::iter(details.map(|table| async move {
            let (path, bytes) = self.load(table)?;
            if is_there(path.clone()).await? { Ok(()) } else { objects.put(&path, bytes).await }
        }));
        puts.buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Returns the path of a table's file in the lake, and its bytes.
    fn load(&self, table: &str) -> Result<(String, Bytes), LakeError> {
        let file = self.file(table);
        let bytes = fs::read(&file).map_err(|error| unreadable(&file, &error))?;
        Ok((self.partition.table_file(table, self.stem), bytes.into()))
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> LakeError {
    LakeError(format!("{} cannot be read: {error}", file.display()))
}
