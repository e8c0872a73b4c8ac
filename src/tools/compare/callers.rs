//! The code that calls functions of Node and native ones, which have no place in a program.

use rustc_hash::FxHashMap;

use crate::shared::frame_index::FrameIndex;
use cpu_prof_core::profile::session::thread_profile::{NONE, ThreadProfile};

/// Self time of Node's and of native functions, by their numbers and those of their nearest callers that
/// are code, microseconds.
pub(super) type CallersOfBuiltIns = FxHashMap<(usize, usize), u64>;

/// Adds the self times of a profile. `is_code` tells of each function whether it is neither Node's nor
/// native.
pub(super) fn add_callers(
    callers: &mut CallersOfBuiltIns,
    profile: &ThreadProfile,
    index: &FrameIndex,
    is_code: &[bool],
) {
    // Parents come before their children.
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(profile.nodes.len());
    for node in &profile.nodes {
        let function = index.function(node.frame);
        let caller = if node.parent == NONE { None } else { nearest[node.parent as usize] };
        let is_built_in = function.is_some_and(|function| !is_code[function]);
        if is_built_in
            && node.self_us > 0
            && let Some(pair) = function.zip(caller)
        {
            let us = callers.entry(pair).or_default();
            *us = us.saturating_add(node.self_us);
        }
        nearest.push(function.filter(|function| is_code[*function]).or(caller));
    }
}

/// Returns the caller with the most time in all runs, by the function that it calls.
pub(super) fn main_callers<'a>(
    runs: impl Iterator<Item = &'a CallersOfBuiltIns>,
) -> FxHashMap<usize, usize> {
    let mut sums = CallersOfBuiltIns::default();
    for (pair, us) in runs.flatten() {
        *sums.entry(*pair).or_default() += us;
    }
    let mut main: FxHashMap<usize, (u64, usize)> = FxHashMap::default();
    for ((function, caller), us) in sums {
        let most = main.entry(function).or_insert((us, caller));
        *most = (*most).max((us, caller));
    }
    main.into_iter().map(|(function, (_, caller))| (function, caller)).collect()
}
