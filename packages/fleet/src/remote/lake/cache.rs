//! Files of a remote lake on this machine. They never change: their names tell their contents. A file that no
//! question needed for a month goes.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt, stream};
use ring::digest::{SHA256, digest};

use super::handle::AT_ONCE;
use super::temporary::temporary_name;
use crate::store::failure::LakeError;
use crate::store::objects::{Object, Objects};

/// Bytes of the hash of a lake's name.
const HASH_BYTES: usize = 8;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a file is kept that no question needs.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The fetched files of one lake.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    now: SystemTime,
}

impl Cache {
    /// `folder` is private, and may have the files of several lakes.
    pub(super) fn of(folder: &Path, lake: &str) -> Self {
        let hash = digest(&SHA256, lake.as_bytes());
        let name: String =
            hash.as_ref().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
        Self { folder: folder.join(name), now: SystemTime::now() }
    }

    /// Returns the paths of objects, after it has fetched those that are not there; nothing if the lake has
    /// lost one.
    pub(super) async fn fetch(
        &self,
        objects: &Objects,
        wanted: Vec<&Object>,
    ) -> Result<Option<Vec<PathBuf>>, LakeError> {
        let fetches = wanted.into_iter().map(|object| self.fetch_one(objects, object));
        stream::iter(fetches)
            .buffered(AT_ONCE)
            .try_collect()
            .await
            .map(|paths: Vec<Option<PathBuf>>| paths.into_iter().collect())
    }

    async fn fetch_one(
        &self,
        objects: &Objects,
        object: &Object,
    ) -> Result<Option<PathBuf>, LakeError> {
        let path = self.folder.join(&object.path);
        let is_whole = |found: &Metadata| found.is_file() && found.len() == object.size;
        if fs::metadata(&path).is_ok_and(|found| is_whole(&found) && self.note_use(&path, &found)) {
            return Ok(Some(path));
        }
        let Some(bytes) = objects.get(&object.path).await? else {
            return Ok(None);
        };
        if bytes.len() as u64 != object.size {
            return Err(LakeError(format!(
                "{} has {} bytes, and the list of the lake tells {}; try again",
                object.path,
                bytes.len(),
                object.size
            )));
        }
        write(&path, &bytes).map_err(|error| {
            LakeError(format!(
                "{} cannot be written: {error}; XDG_CACHE_HOME names another folder for fetched files",
                path.display()
            ))
        })?;
        Ok(Some(path))
    }

    /// Notes by the time of a file that a question needed it. Returns whether the file stays.
    fn note_use(&self, path: &Path, found: &Metadata) -> bool {
        let is_fresh = age(found, self.now).is_none_or(|age| age <= DAY);
        let note = || File::options().write(true).open(path)?.set_modified(self.now);
        is_fresh || note().is_ok()
    }
}

/// Removes the files of all lakes that no question needed for a month. `folder` is as for [`Cache::of`].
pub(super) fn remove_unused(folder: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // Does not follow links.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            remove_unused(&entry.path(), now);
        } else if age(&found, now).is_some_and(|age| age > KEPT) {
            // On Windows, a file that is read stays.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn age(found: &Metadata, now: SystemTime) -> Option<Duration> {
    now.duration_since(found.modified().ok()?).ok()
}

/// Writes a file that is whole or not there.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let temporary = folder.join(temporary_name());
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_no_question_needed_for_a_month_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::of(dir.path(), "s3://bucket/lake");
        let (old, used) = (cache.folder.join("old.parquet"), cache.folder.join("used.parquet"));
        let later = |days: u32| cache.now + days * DAY;
        for path in [&old, &used] {
            write(path, b"PAR1").unwrap();
        }
        remove_unused(dir.path(), later(29));
        let at = |now: SystemTime| Cache { folder: cache.folder.clone(), now };
        assert!(at(later(20)).note_use(&used, &fs::metadata(&used).unwrap()));
        remove_unused(dir.path(), later(31));
        assert!(!old.exists() && used.exists());
        remove_unused(dir.path(), later(51));
        assert!(!used.exists());
        remove_unused(&dir.path().join("missing"), later(0));
    }
}
