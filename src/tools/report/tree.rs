//! The call tree of all threads together, as far as it matters.

use std::cmp::Reverse;
use std::mem;

use super::json::{ReportTime, ReportTreeNode};
use crate::analysis::costs::WeightedTree;
use crate::analysis::path_tree::PathTree;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_core::base::cold_sort::ColdSort;

/// Levels of a tree: what is below counts for the last level. Writers and readers of JSON recurse.
const MAX_LEVELS: usize = 200;
/// Part of the whole time that a branch needs.
const ENOUGH: f64 = 0.005;

/// Returns the call tree of all threads but those of launchers. Branches with hardly any time are left
/// out.
pub(super) fn tree<'a>(view: &'a SessionView<'_>) -> Vec<ReportTreeNode<'a>> {
    let index = &view.index;
    let mut joined: PathTree<usize, ReportTime> = PathTree::default();
    for profile in view.shown_profiles() {
        let tree = WeightedTree::of(profile);
        profile.downward(|above, node, data| match index.function(data.frame) {
            Some(function) if tree.total_us(node) > 0 => {
                let (path, time) = joined.path(above, function);
                time.self_us += profile.times(data).self_us;
                time.total_us += tree.total_us(node);
                Some(path)
            }
            _ => above,
        });
    }
    let row = |function, time: ReportTime, children| ReportTreeNode {
        function: index.place(function),
        time,
        children,
    };
    let paths: Vec<_> = joined.list().map(|(above, end, time)| (above, end, *time)).collect();
    branches(&paths, |time| (time.total_us, time.self_us), ENOUGH, row)
}

/// Returns the rows of the paths that have enough of the whole time, those with the most time first,
/// each with the rows below. `time` returns a path's time, and what decides where it is equal.
pub(super) fn branches<End: Copy, Value: Copy, Row>(
    paths: &[(Option<u32>, End, Value)],
    time: impl Fn(Value) -> (u64, u64),
    enough: f64,
    row: impl Fn(End, Value, Vec<Row>) -> Row,
) -> Vec<Row> {
    let roots = paths.iter().filter(|(above, ..)| above.is_none());
    let whole_us: u64 = roots.map(|(_, _, value)| time(*value).0).sum();
    let least_us = ((whole_us as f64 * enough) as u64).max(1);
    let mut levels: Vec<usize> = Vec::with_capacity(paths.len());
    for (above, ..) in paths {
        levels.push(above.map_or(0, |above| levels[above as usize] + 1));
    }
    // By the number of the path above and one more, 0 for roots.
    let mut rows: Vec<Vec<(usize, Row)>> = (0..=paths.len()).map(|_| Vec::new()).collect();
    let sorted = |mut rows: Vec<(usize, Row)>| -> Vec<Row> {
        rows.cold_sort_by_key(|(path, _)| (Reverse(time(paths[*path].2)), *path));
        rows.into_iter().map(|(_, row)| row).collect()
    };
    for (path, (above, end, value)) in paths.iter().enumerate().rev() {
        if time(*value).0 >= least_us && levels[path] < MAX_LEVELS {
            let below = sorted(mem::take(&mut rows[path + 1]));
            let row = row(*end, *value, below);
            rows[above.map_or(0, |above| above as usize + 1)].push((path, row));
        }
    }
    sorted(mem::take(&mut rows[0]))
}
