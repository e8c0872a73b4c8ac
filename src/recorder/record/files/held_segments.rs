//! Segments that a met condition keeps: those before it, and those of a while after it.

use std::collections::VecDeque;

use super::complete_segment::CompleteSegment;
use cpu_prof_core::base::stderr::warn_once;

/// The segments that the limits of the history do not remove.
pub(super) struct HeldSegments {
    /// The most groups that are kept.
    max: usize,
    /// A group for each condition that was met, the oldest first.
    groups: VecDeque<Vec<CompleteSegment>>,
    /// Time up to which the last group grows, microseconds; none if the group is complete.
    until_us: Option<i64>,
}

impl HeldSegments {
    /// Returns no segments. There are at most `max` groups later on.
    pub(super) fn new(max: usize) -> Self {
        Self { max, groups: VecDeque::new(), until_us: None }
    }

    /// Begins a group with the history so far. The group grows up to `until_us`. A group that still grows
    /// takes the history, and grows for longer.
    pub(super) fn begin(&mut self, until_us: i64, history: VecDeque<CompleteSegment>) {
        match (self.until_us, self.groups.back_mut()) {
            (Some(growing_us), Some(group)) => {
                group.extend(history);
                self.until_us = Some(growing_us.max(until_us));
            }
            _ => {
                self.groups.push_back(history.into());
                self.until_us = Some(until_us);
            }
        }
        while self.groups.len() > self.max {
            for segment in self.groups.pop_front().unwrap_or_default() {
                if let Err(error) = segment.file.remove() {
                    warn_once(&error);
                }
            }
        }
    }

    /// Takes a segment that is complete, if the last group still grows; otherwise returns the segment.
    pub(super) fn take(&mut self, segment: CompleteSegment) -> Option<CompleteSegment> {
        let (Some(until_us), Some(group)) = (self.until_us, self.groups.back_mut()) else {
            return Some(segment);
        };
        if segment.end_us >= until_us {
            self.until_us = None;
        }
        group.push(segment);
        None
    }

    /// Returns all segments, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &CompleteSegment> {
        self.groups.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::files::complete_segment::SegmentContents;
    use cpu_prof_core::files::own_file::OwnFile;
    use std::fs;
    use std::path::Path;

    /// Writes the segment that ends at `end_us`.
    fn segment(dir: &Path, end_us: i64) -> CompleteSegment {
        let path = dir.join(end_us.to_string());
        fs::write(&path, "own").unwrap();
        let contents = SegmentContents::default();
        CompleteSegment { file: OwnFile::at(path), bytes: 3, end_us, contents }
    }

    fn ends(held: &HeldSegments) -> Vec<i64> {
        held.iter().map(|segment| segment.end_us).collect()
    }

    #[test]
    fn a_group_has_the_history_and_what_comes_until_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = HeldSegments::new(2);
        assert!(held.take(segment(dir.path(), 10)).is_some());
        held.begin(35, [segment(dir.path(), 20)].into());
        assert!(held.take(segment(dir.path(), 30)).is_none());
        assert!(held.take(segment(dir.path(), 40)).is_none());
        assert!(held.take(segment(dir.path(), 50)).is_some());
        assert_eq!(ends(&held), [20, 30, 40]);
    }

    #[test]
    fn a_group_that_still_grows_grows_for_longer() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = HeldSegments::new(1);
        held.begin(35, VecDeque::new());
        assert!(held.take(segment(dir.path(), 30)).is_none());
        held.begin(55, VecDeque::new());
        assert!(held.take(segment(dir.path(), 40)).is_none());
        assert!(held.take(segment(dir.path(), 60)).is_none());
        assert!(held.take(segment(dir.path(), 70)).is_some());
        assert_eq!(ends(&held), [30, 40, 60]);
    }

    #[test]
    fn the_files_of_the_oldest_group_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = HeldSegments::new(2);
        for until_us in [15, 25, 35] {
            held.begin(until_us, [segment(dir.path(), until_us - 5)].into());
            held.take(segment(dir.path(), until_us));
        }
        assert_eq!(ends(&held), [20, 25, 30, 35]);
        let mut left: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["20", "25", "30", "35"]);
    }
}
