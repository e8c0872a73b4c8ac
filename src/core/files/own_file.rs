//! A file that this process has written, and may remove.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use crate::base::error::Error;
use crate::base::system::files::{FileId, identify, identify_entry};

/// A file that is written to no more.
#[derive(Debug)]
pub struct OwnFile {
    /// Path.
    pub path: PathBuf,
    /// Id and size, bytes: a file system may give the inode of a removed file to the next one. None
    /// if the file could not be looked at. The file is then left alone.
    id: Option<(FileId, u64)>,
}

impl OwnFile {
    /// Returns the file of a descriptor, after the last write.
    pub fn of(path: PathBuf, file: io::Result<&File>) -> Self {
        let id = file.and_then(identify).ok();
        Self { path, id }
    }

    /// Returns the file at a path, which this process has just completed.
    pub fn at(path: PathBuf) -> Self {
        let id = identify_entry(&path).ok();
        Self { path, id }
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
        removed.map_err(|source| Error::Removal(self.path.clone(), source))
    }

    fn is_there(&self) -> io::Result<bool> {
        match identify_entry(&self.path) {
            Ok(id) => Ok(Some(id) == self.id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn file(dir: &Path) -> OwnFile {
        let path = dir.join("own");
        fs::write(&path, "own").unwrap();
        OwnFile::of(path.clone(), Ok(&File::open(path).unwrap()))
    }

    #[test]
    fn an_own_file_is_removed_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path());
        assert!(file.exists());
        file.remove().unwrap();
        assert!(!file.exists() && !file.path.exists());
        file.remove().unwrap();
        fs::write(&file.path, "own").unwrap();
        let file = OwnFile::at(file.path.clone());
        assert!(file.exists());
        file.remove().unwrap();
        assert!(!file.path.exists() && !OwnFile::at(file.path.clone()).exists());
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
            change(&file.path);
            assert!(!file.exists());
            file.remove().unwrap();
            assert!(fs::symlink_metadata(&file.path).is_ok());
        }
        let lost = OwnFile::of(file.path.clone(), Err(io::ErrorKind::Other.into()));
        lost.remove().unwrap();
        assert!(fs::symlink_metadata(&file.path).is_ok());
    }

    #[test]
    fn a_failure_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = OwnFile::of(dir.path().join("x\0y"), Err(io::ErrorKind::Other.into()));
        let line = file.remove().unwrap_err().line();
        assert!(line.contains("could not remove") && !line.contains("unprofiled"), "{line}");
    }
}
