//! When a thread worked for which test file.

use super::phase::Phase;
use super::stretches::DoingOfFrames;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::package::{is_test, is_users, package_of};
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::{Process, Thread};

/// The test files of a session.
pub(super) struct TestFiles {
    paths: FxIndexSet<String>,
    frames: DoingOfFrames,
}

impl TestFiles {
    /// Returns the test files that have frames.
    pub(super) fn of(frames: &FrameTable) -> Self {
        let mut paths = FxIndexSet::default();
        let frames = DoingOfFrames::of(frames, |frame| {
            let is_file = is_test(&frame.url) && is_users(package_of(&frame.url));
            is_file.then(|| paths.insert_full(file_path(&frame.url).into_owned()).0)
        });
        Self { paths, frames }
    }

    /// Returns the times in which the main thread worked for one file. A process that runs a test file itself already
    /// has the name of the file.
    pub(super) fn phases(&self, process: &Process, main: &Thread, least_us: i64) -> Vec<Phase> {
        if self.paths.is_empty() {
            return Vec::new();
        }
        let all = self.frames.stretches(main, least_us).into_iter();
        let named = all.map(|stretch| (&self.paths[stretch.what], stretch));
        named
            .filter(|(path, _)| !path.ends_with(&process.name))
            .map(|(path, time)| Phase::of_path(path, process, time.from_us, time.to_us))
            .collect()
    }
}
