//! The built-in functions in which the time of functions was spent, by the text of their lines: V8 has no
//! frames for them.

use rustc_hash::FxHashMap;

use super::json::ReportBuiltIn;
use super::lines::LineCosts;
use crate::read::originals::source_lines::{FunctionPlace, SourceLines};
use crate::shared::frame_index::{FrameIndex, SourceFunction};

/// Functions that are looked at: each can need another file.
const MAX_FUNCTIONS: usize = 50;
/// Self time of a function that makes its file worth a look, microseconds.
const MIN_US: u64 = 10_000;

/// Returns the built-ins of functions, the most time first. `functions` are the functions with their self
/// times, the longest first.
pub(super) fn built_ins(
    functions: impl Iterator<Item = (usize, u64)>,
    lines: &LineCosts,
    index: &FrameIndex,
) -> FxHashMap<usize, Vec<ReportBuiltIn>> {
    let heavy = functions.filter(|(_, self_us)| *self_us >= MIN_US).take(MAX_FUNCTIONS);
    let mut found: FxHashMap<usize, Vec<ReportBuiltIn>> =
        heavy.map(|(id, _)| (id, Vec::new())).collect();
    let mut sources = SourceLines::default();
    for (function, line, self_us) in lines.list() {
        let Some(list) = found.get_mut(&function) else { continue };
        let Some(place) = place_of(function, index) else { continue };
        let Some(name) = sources.built_in(place, line) else { continue };
        match list.iter_mut().find(|known| known.name == name) {
            Some(known) => known.self_us = known.self_us.saturating_add(self_us),
            None => list.push(ReportBuiltIn { name, self_us }),
        }
    }
    for list in found.values_mut() {
        list.sort_by_key(|built_in| (std::cmp::Reverse(built_in.self_us), built_in.name));
    }
    found
}

/// Returns the place of a function; none if it has none in a file.
fn place_of(function: usize, index: &FrameIndex) -> Option<FunctionPlace<'_>> {
    let SourceFunction { name, file, line, column, is_transpiled } = &index.functions[function];
    let path = &index.files[*file].path;
    if *is_transpiled || path.is_empty() || path.starts_with("node:") {
        return None;
    }
    // Names that V8 did not give.
    let is_own = name == "(anonymous)" || name.starts_with("callback of ");
    let name = if is_own { "" } else { name };
    let (line, column) = (u32::try_from(*line).ok()?, u32::try_from(*column).ok()?);
    Some(FunctionPlace { path, name, line, column })
}
