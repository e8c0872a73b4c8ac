//! The recordings that conditions have started, of which the newest are kept.

use std::collections::VecDeque;
use std::path::PathBuf;

use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::files::own_file::OwnFile;

/// The files of the newest recordings.
pub(super) struct KeptRecordings {
    /// The most recordings that are kept.
    max: usize,
    /// Files of each recording, the oldest first.
    recordings: VecDeque<Vec<OwnFile>>,
}

impl KeptRecordings {
    /// Returns no recordings. At most `max` are kept later on.
    pub(super) fn new(max: usize) -> Self {
        Self { max, recordings: VecDeque::new() }
    }

    /// Adds a recording that has just ended, and removes the files of those that are too many. Files that
    /// others have changed or replaced meanwhile stay.
    pub(super) fn add(&mut self, files: Vec<PathBuf>) {
        if files.is_empty() {
            return;
        }
        self.recordings.push_back(files.into_iter().map(OwnFile::at).collect());
        while self.recordings.len() > self.max {
            for file in self.recordings.pop_front().unwrap_or_default() {
                if let Err(error) = file.remove() {
                    warn_once(&error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_files_of_the_oldest_recordings_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = dir.path().join(name);
            fs::write(&path, name).unwrap();
            path
        };
        let mut kept = KeptRecordings::new(2);
        kept.add(vec![file("1-main"), file("1-worker")]);
        kept.add(Vec::new());
        kept.add(vec![file("2-main"), file("2-worker")]);
        fs::write(dir.path().join("1-worker"), "changed by others").unwrap();
        kept.add(vec![file("3-main")]);
        kept.add(vec![file("4-main")]);
        let mut left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["1-worker", "3-main", "4-main"]);
    }
}
