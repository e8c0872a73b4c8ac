//! The lists of a report that a page shows beside its own tables.

use serde_json::{Map, Value, to_value};

use super::imports::imports;
use super::json::ReportProcess;
use super::report::thread_report;
use super::scripts::scripts;
use super::stalls::stalls;
use crate::read::ancestry::parents;
use crate::read::load::Loaded;
use crate::shared::frame_index::FrameIndex;
use crate::shared::json::ReportProgram;
use crate::shared::launchers::launchers;

/// The shortest stall of a page, microseconds.
const STALL_US: u64 = 50_000;
/// Stalls of a page.
const MAX_STALLS: usize = 200;

/// Returns the lists by their names in a report. A list that would be empty is missing.
pub(crate) fn page_lists(loaded: &Loaded) -> serde_json::Result<Map<String, Value>> {
    let session = &loaded.session;
    let index = FrameIndex::of(&session.frames);
    let parents = parents(session);
    let launchers = launchers(session, &parents);
    let processes: Vec<ReportProcess<'_>> = session
        .processes
        .iter()
        .zip(&launchers)
        .map(|(process, launcher)| ReportProcess {
            program: ReportProgram::of(process),
            cpu: None,
            native: None,
            launcher: *launcher,
            start_ms: 0.0,
            duration_ms: 0.0,
            threads: process.threads.iter().map(|each| thread_report(each, 0, &index)).collect(),
        })
        .collect();
    let lists = [
        ("stalls", to_value(stalls(session, &index, STALL_US, MAX_STALLS))?),
        ("imports", to_value(imports(session, &launchers, &index))?),
        ("scripts", to_value(scripts(session, &parents, &processes))?),
    ];
    let is_full = |list: &Value| list.as_array().is_some_and(|items| !items.is_empty());
    let full = lists.into_iter().filter(|(_, list)| is_full(list));
    Ok(full.map(|(name, list)| (name.to_owned(), list)).collect())
}
