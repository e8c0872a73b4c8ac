//! The lists of a report that a page shows beside its own tables.

use serde_json::{Map, Value, to_value};

use super::imports::imports;
use super::scripts::scripts;
use super::stalls::stalls;
use crate::analysis::process::session_view::SessionView;

/// The shortest stall of a page, microseconds.
const STALL_US: u64 = 50_000;
/// Stalls of a page.
const MAX_STALLS: usize = 200;

/// Returns the lists by their names in a report. A list that would be empty is missing.
pub fn page_lists(view: &SessionView<'_>) -> serde_json::Result<Map<String, Value>> {
    let lists = [
        ("stalls", to_value(stalls(view, STALL_US, MAX_STALLS))?),
        ("imports", to_value(imports(view))?),
        ("scripts", to_value(scripts(view))?),
    ];
    let is_full = |list: &Value| list.as_array().is_some_and(|items| !items.is_empty());
    let full = lists.into_iter().filter(|(_, list)| is_full(list));
    Ok(full.map(|(name, list)| (name.to_owned(), list)).collect())
}
