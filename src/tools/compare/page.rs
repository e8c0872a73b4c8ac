//! The call trees of both sides as one, for the page of a comparison.

use std::path::PathBuf;

use rustc_hash::FxHashMap;

use super::compare_error::CompareError;
use super::items::ComparedItem;
use super::matching::matched;
use super::run_costs::{function_item, read_runs, root};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::path_tree::PathTree;
use crate::analysis::process::session_view::SessionView;
use crate::page::page::{PageSides, PathTime, page_of_sides};
use crate::read::selection::Selection;
use cpu_prof_session::model::thread_profile::NodeTimes;

/// Returns the data of a page that compares the runs of both sides, each a list of files and folders, as
/// JSON; or the reason why a run cannot be read.
pub fn page(
    sides: [&[Vec<PathBuf>]; 2],
    names: [String; 2],
    selection: &Selection,
) -> Result<String, CompareError> {
    let mut trees = SideTrees::default();
    let mut notes = Vec::new();
    let (items, runs) = read_runs(sides, selection, |side, loaded, view| {
        trees.add(view, side);
        notes.extend_from_slice(&loaded.notes);
    })?;
    notes.sort();
    notes.dedup();
    let rows = matched(&items, &runs);
    let numbers = rows
        .iter()
        .enumerate()
        .flat_map(|(row, matched)| matched.iter().flatten().map(move |item| (*item, row)));
    let rows: FxHashMap<&ComparedItem, usize> =
        numbers.map(|(item, row)| (&items[item], row)).collect();
    let paths = trees.joined(&rows, sides.map(<[_]>::len));
    let cwd = trees.cwd.as_str();
    Ok(page_of_sides(PageSides { index: &trees.index, paths, names, cwd, notes: &notes })?)
}

type SidePaths = PathTree<FrameKind, [PathTime; 2]>;

/// The call trees of all runs.
#[derive(Default)]
struct SideTrees {
    /// Functions of all runs.
    index: FrameIndex,
    /// Functions as on every machine, by their numbers in the index.
    functions: FxHashMap<usize, ComparedItem>,
    /// The paths, with their times in all runs of each side.
    paths: SidePaths,
    /// Folder in which the last run was started.
    cwd: String,
}

impl SideTrees {
    /// Adds a run of a side: 0 for base, 1 for head.
    fn add(&mut self, view: &SessionView<'_>, side: usize) {
        let session = view.session;
        self.index.read(&session.frames);
        let root = root(session);
        root.clone_into(&mut self.cwd);
        for frame in 0..session.frames.list().len() as u32 {
            if let Some(function) = self.index.function(frame) {
                self.functions
                    .entry(function)
                    .or_insert_with(|| function_item(function, &self.index, root));
            }
        }
        for profile in view.shown_profiles() {
            profile.downward(|above, _, node| match self.index.kind(node.frame) {
                FrameKind::Unrecorded => above,
                kind => {
                    let (path, times) = self.paths.path(above, kind);
                    if kind != FrameKind::Idle {
                        let NodeTimes { self_us, blocked_us, waiting_us, .. } = profile.times(node);
                        times[side].add(PathTime { self_us, blocked_us, waiting_us });
                    }
                    Some(path)
                }
            });
        }
    }

    /// Returns the call tree in which the functions of a row are one, with the times of one of the
    /// `runs` of each side.
    fn joined(&self, rows: &FxHashMap<&ComparedItem, usize>, runs: [usize; 2]) -> SidePaths {
        let same = self.same_functions(rows);
        let mut joined = SidePaths::default();
        let mut numbers: Vec<u32> = Vec::new();
        for (above, kind, times) in self.paths.list() {
            let kind = match kind {
                FrameKind::Function(function) => FrameKind::Function(same[function]),
                kind => kind,
            };
            let above = above.map(|above| numbers[above as usize]);
            let (path, sums) = joined.path(above, kind);
            numbers.push(path);
            for (sum, time) in sums.iter_mut().zip(times) {
                sum.add(*time);
            }
        }
        let count = joined.list().len() as u32;
        for path in 0..count {
            for (time, runs) in joined.value(path).iter_mut().zip(runs) {
                let runs = runs.max(1) as u64;
                time.self_us /= runs;
                time.blocked_us /= runs;
                time.waiting_us /= runs;
            }
        }
        joined
    }

    /// Returns for each function the one that stands for its row: the last, because head is read after
    /// base.
    fn same_functions(&self, rows: &FxHashMap<&ComparedItem, usize>) -> Vec<usize> {
        let key = |function: usize| {
            let item = &self.functions[&function];
            // Functions with hardly any time have no row.
            match rows.get(item) {
                Some(row) => (Some(*row), "", ""),
                None => (None, item.name.as_str(), item.file.as_str()),
            }
        };
        let all = 0..self.index.functions.len();
        let last: FxHashMap<_, usize> =
            all.clone().map(|function| (key(function), function)).collect();
        all.map(|function| last[&key(function)]).collect()
    }
}

impl PathTime {
    fn add(&mut self, other: Self) {
        self.self_us = self.self_us.saturating_add(other.self_us);
        self.blocked_us = self.blocked_us.saturating_add(other.blocked_us);
        self.waiting_us = self.waiting_us.saturating_add(other.waiting_us);
    }
}
