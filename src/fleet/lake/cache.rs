//! Files of a remote lake on this machine. They never change: their names tell their contents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use ring::digest::{SHA256, digest};

use super::handle::AT_ONCE;
use super::temporary::temporary_name;
use crate::store::failure::LakeError;
use crate::store::objects::{Object, Objects};

/// Bytes of the hash of a lake's name.
const HASH_BYTES: usize = 8;

/// The fetched files of one lake.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// `folder` is private, and may have the files of several lakes.
    pub(super) fn of(folder: &Path, lake: &str) -> Self {
        let hash = digest(&SHA256, lake.as_bytes());
        let name: String =
            hash.as_ref().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
        Self { folder: folder.join(name) }
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
        if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() == object.size) {
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
