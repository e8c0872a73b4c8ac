//! When a thread worked for which test file.

use super::phase::Phase;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::frame_table::FrameTable;
use cpu_prof_core::profile::package::{is_test, is_users, package_of};
use cpu_prof_core::profile::session::{Process, Thread};

/// The test files of a session.
pub(super) struct TestFiles {
    /// Paths of the files.
    paths: Vec<String>,
    /// Index of each frame's path, by the number of the frame; none for a frame of no test file.
    of_frames: Vec<Option<usize>>,
}

impl TestFiles {
    /// Returns the test files that have frames.
    pub(super) fn of(frames: &FrameTable) -> Self {
        let mut paths = FxIndexSet::default();
        let mut path = |frame: &CallFrame| {
            let is_file = is_test(&frame.url) && is_users(package_of(&frame.url));
            is_file.then(|| paths.insert_full(file_path(&frame.url).into_owned()).0)
        };
        let of_frames = frames.list().iter().map(&mut path).collect();
        Self { paths: paths.into_iter().collect(), of_frames }
    }

    /// Returns the times in which a thread worked for one file, until it worked for another: code after an
    /// `await` has no caller on its stack.
    pub(super) fn phases(&self, process: &Process, thread: &Thread) -> Vec<Phase> {
        if self.paths.is_empty() {
            return Vec::new();
        }
        let mut times: Vec<(usize, i64, i64)> = Vec::new();
        for profile in &thread.profiles {
            // The outermost file of each node's stack.
            let mut files: Vec<Option<usize>> = Vec::with_capacity(profile.nodes.len());
            for node in &profile.nodes {
                let above = files.get(node.parent as usize).copied().flatten();
                files.push(above.or(self.of_frames[node.frame as usize]));
            }
            for step in profile.steps.spans() {
                let Some(file) = files[step.node as usize] else { continue };
                match times.last_mut() {
                    Some((last, _, to_us)) if *last == file => *to_us = step.to_us,
                    _ => times.push((file, step.from_us, step.to_us)),
                }
            }
        }
        // A process that runs a test file has the name of the file.
        times.retain(|(file, ..)| !self.paths[*file].ends_with(&process.name));
        let phase = |(file, from_us, to_us): (usize, i64, i64)| {
            Phase::of_path(&self.paths[file], process, from_us, to_us)
        };
        times.into_iter().map(phase).collect()
    }
}
