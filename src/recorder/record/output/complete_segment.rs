//! A segment of a trace that is written to no more, and may be removed.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system::files::{FileId, identify, identify_entry};

/// Counts of what a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SegmentContents {
    /// Number of samples.
    pub samples: u64,
    /// Number of call-tree nodes.
    pub nodes: u64,
}

impl SegmentContents {
    /// Adds the contents of another segment, or of a window.
    pub(super) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.nodes += other.nodes;
    }
}

/// A segment that is written to no more.
#[derive(Debug)]
pub(crate) struct CompleteSegment {
    /// Path of the file.
    pub(super) path: PathBuf,
    /// Id and size, bytes: a file system may give the inode of a removed file to the next one. None
    /// if the descriptor was lost. The file is then left alone.
    id: Option<(FileId, u64)>,
    /// Size, bytes.
    pub(super) bytes: u64,
    /// End, microseconds.
    pub(super) end_us: i64,
    /// Counts of what the segment holds.
    pub(super) contents: SegmentContents,
}

impl CompleteSegment {
    /// Returns the segment in the file of a descriptor, after the last write.
    pub(super) fn new(
        path: PathBuf,
        file: io::Result<&File>,
        bytes: u64,
        end_us: i64,
        contents: SegmentContents,
    ) -> Self {
        let id = file.and_then(identify).ok();
        Self { path, id, bytes, end_us, contents }
    }

    /// Returns whether the path still leads to the file.
    pub(super) fn exists(&self) -> bool {
        self.is_there().unwrap_or(false)
    }

    /// Removes the file. A file that others moved, changed or replaced is left alone.
    pub(super) fn remove(&self) -> Result<(), Error> {
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

    fn segment(path: PathBuf, file: io::Result<&File>) -> CompleteSegment {
        CompleteSegment::new(path, file, 3, 0, SegmentContents::default())
    }

    fn file(dir: &Path) -> CompleteSegment {
        let path = dir.join("own");
        fs::write(&path, "own").unwrap();
        segment(path.clone(), Ok(&File::open(path).unwrap()))
    }

    #[test]
    fn an_own_file_is_removed_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path());
        assert!(file.exists());
        file.remove().unwrap();
        assert!(!file.exists() && !file.path.exists());
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
            change(&file.path);
            assert!(!file.exists());
            file.remove().unwrap();
            assert!(fs::symlink_metadata(&file.path).is_ok());
        }
        let lost = segment(file.path.clone(), Err(io::ErrorKind::Other.into()));
        lost.remove().unwrap();
        assert!(fs::symlink_metadata(&file.path).is_ok());
    }

    #[test]
    fn a_failure_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = segment(dir.path().join("x\0y"), Err(io::ErrorKind::Other.into()));
        let line = file.remove().unwrap_err().line();
        assert!(line.contains("could not remove") && !line.contains("unprofiled"), "{line}");
    }
}
