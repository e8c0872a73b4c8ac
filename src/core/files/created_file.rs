//! A finished file that this process made, and may remove.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::base::error::Error;

/// A finished file.
#[derive(Debug)]
pub struct CreatedFile {
    path: PathBuf,
    /// Id and size, bytes: a file system may give the inode of a removed file to the next one. None
    /// if the descriptor was lost. The file is then left alone.
    id: Option<(FileId, u64)>,
}

/// Facts that tell a file from another one that has its path or its descriptor now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl CreatedFile {
    /// Returns the file of a descriptor after the last write.
    pub fn new(path: PathBuf, file: io::Result<&File>) -> Self {
        let id = file.and_then(File::metadata).ok().map(|metadata| id_and_size(&metadata));
        Self { path, id }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the path still leads to the file.
    pub fn exists(&self) -> bool {
        self.is_there().unwrap_or(false)
    }

    /// Removes the file. A file that others moved, changed or replaced is left alone.
    pub fn remove(&self) -> Result<(), Error> {
        let removed = match self.is_there() {
            Ok(true) => fs::remove_file(&self.path),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        removed.map_err(|source| Error::Removal { path: self.path.clone(), source })
    }

    fn is_there(&self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) => Ok(Some(id_and_size(&metadata)) == self.id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl FileId {
    /// Returns the id of a file.
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

fn id_and_size(metadata: &Metadata) -> (FileId, u64) {
    (FileId::of(metadata), metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &Path) -> CreatedFile {
        let path = dir.join("own");
        fs::write(&path, "own").unwrap();
        CreatedFile::new(path.clone(), Ok(&File::open(path).unwrap()))
    }

    #[test]
    fn an_own_file_is_removed_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path());
        assert!(file.exists());
        file.remove().unwrap();
        assert!(!file.exists() && !file.path().exists());
        file.remove().unwrap();
    }

    #[test]
    fn another_file_at_the_path_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        type Change = fn(&Path);
        let changes: [Change; 4] = [
            |path| {
                fs::rename(path, path.with_extension("moved")).unwrap();
                fs::write(path, "two").unwrap();
            },
            |path| fs::write(path, "longer").unwrap(),
            |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            |path| {
                fs::remove_dir(path).unwrap();
                fs::write(path.with_extension("target"), "own").unwrap();
                std::os::unix::fs::symlink(path.with_extension("target"), path).unwrap();
            },
        ];
        let file = file(dir.path());
        for change in changes {
            change(file.path());
            assert!(!file.exists());
            file.remove().unwrap();
            assert!(fs::symlink_metadata(file.path()).is_ok());
        }
        let lost = CreatedFile::new(file.path().into(), Err(io::ErrorKind::Other.into()));
        lost.remove().unwrap();
        assert!(fs::symlink_metadata(file.path()).is_ok());
    }

    #[test]
    fn a_failure_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = CreatedFile::new(dir.path().join("x\0y"), Err(io::ErrorKind::Other.into()));
        let line = file.remove().unwrap_err().line();
        assert!(line.contains("could not remove") && !line.contains("unprofiled"), "{line}");
    }
}
