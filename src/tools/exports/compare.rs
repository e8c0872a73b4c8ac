//! Functions that JavaScript calls to compare runs, and values of runs that it has read elsewhere.
#![allow(unsafe_code)] // napi's macros write it.

use std::path::PathBuf;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, json, paths};
use cpu_prof_tools::compare::changes::change_points::change_points;
use cpu_prof_tools::compare::changes::json::ChangeInput;
use cpu_prof_tools::compare::compare::{CompareOptions, compare as compare_runs};
use cpu_prof_tools::compare::given::compare_given;
use cpu_prof_tools::compare::page as compared_page;
use cpu_prof_tools::read::selection::Selection;

/// What is compared even if it hardly took time.
#[napi(object)]
pub(crate) struct WantedItem {
    /// `function`, `file`, `package`, `process`, `label`, or the kind of an owner.
    pub kind: String,
    /// The name that a rule gives it.
    pub name: String,
}

/// Compares runs, each a list of files and folders. Returns a `Comparison`.
#[napi(js_name = "cpuProfCompare", catch_unwind)]
pub(crate) fn compare(
    base: Vec<Vec<String>>,
    head: Vec<Vec<String>>,
    wanted: Vec<WantedItem>,
    shares: bool,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let wanted = wanted.into_iter().map(|WantedItem { kind, name }| (kind, name)).collect();
    let options = CompareOptions { wanted, shares, selection: selection.into() };
    Work::task(move || Ok(compare_runs([&runs(base), &runs(head)], &options)?))
}

/// Reads runs, each a list of files and folders, for a page that compares them. Returns the data of the
/// page.
#[napi(js_name = "cpuProfComparePage", catch_unwind)]
pub(crate) fn compare_page(
    base: Vec<Vec<String>>,
    head: Vec<Vec<String>>,
    base_name: String,
    head_name: String,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || {
        Ok(compared_page::page([&runs(base), &runs(head)], [base_name, head_name], &selection)?)
    })
}

/// Returns the paths of runs.
fn runs(side: Vec<Vec<String>>) -> Vec<Vec<PathBuf>> {
    side.into_iter().map(paths).collect()
}

/// Compares rows of values, `[{base, head, sampled}]` as JSON: one value for each run, in the same unit as
/// `sampled`, the time between two samples. Returns `{noise, differences}`, a difference for each row.
#[napi(js_name = "cpuProfDifferences", catch_unwind)]
pub(crate) fn differences(rows: String) -> AsyncTask<Work> {
    Work::task(move || Ok(compare_given(&rows)?))
}

/// Finds changes in the rows of a `ChangeInput`, which is JSON. Returns `FoundChanges`.
#[napi(js_name = "cpuProfBlame", catch_unwind)]
pub(crate) fn blame(input: String) -> AsyncTask<Work> {
    Work::task(move || {
        let input: ChangeInput = serde_json::from_str(&input)?;
        let found = change_points(&input)?;
        json(&found)
    })
}
