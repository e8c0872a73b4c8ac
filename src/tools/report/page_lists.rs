//! The lists of a report that a page shows beside its own tables.

use serde_json::{Map, Value, to_value};

use super::imports::imports;
use super::scripts::scripts;
use super::stalls::stalls;
use crate::read::ancestry::parents;
use crate::read::load::Loaded;
use crate::shared::frame_index::FrameIndex;
use crate::shared::process::launchers::launchers;

/// The shortest stall of a page, microseconds.
const STALL_US: u64 = 50_000;
/// Stalls of a page.
const MAX_STALLS: usize = 200;

/// Returns the lists by their names in a report. A list that would be empty is missing.
pub(crate) fn page_lists(
    loaded: &Loaded,
    index: &FrameIndex,
) -> serde_json::Result<Map<String, Value>> {
    let session = &loaded.session;
    let parents = parents(session);
    let launchers = launchers(session, &parents);
    let lists = [
        ("stalls", to_value(stalls(session, index, STALL_US, MAX_STALLS))?),
        ("imports", to_value(imports(session, &launchers, index))?),
        ("scripts", to_value(scripts(session, &parents, &launchers, index))?),
    ];
    let is_full = |list: &Value| list.as_array().is_some_and(|items| !items.is_empty());
    let full = lists.into_iter().filter(|(_, list)| is_full(list));
    Ok(full.map(|(name, list)| (name.to_owned(), list)).collect())
}
