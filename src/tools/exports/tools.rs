//! Functions that JavaScript calls to merge, report and convert. The work runs on other threads and
//! returns JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::on_purpose::error_for_user;
use crate::check::check as check_run;
use crate::compare::compare::{CompareOptions, compare as compare_runs};
use crate::compare::page as compared_page;
use crate::convert::convert as convert_run;
use crate::merge::merge as merge_run;
use crate::merge::options::{MergeOptions, MergeProgress, ProcessExit};
use crate::page::page as page_build;
use crate::read::filter::{Filter, StackFilter};
use crate::read::label_filter::LabelFilter;
use crate::read::originals::Places;
use crate::read::selection::Selection;
use crate::read::slice::SliceLimits;
use crate::report::page_lists::page_lists;
use crate::report::report::{self, ReportOptions};
use crate::shared::frame_index::FrameIndex;
use crate::shared::label_costs::LabelBy;
use cpu_prof_core::files::atomic;
use cpu_prof_core::files::temporary::remove_partial;
use cpu_prof_core::format::registry::FORMATS;
use cpu_prof_core::profile::session::thread_profile::ReadScope;

/// JSON, or a message for the user.
type WorkResult = std::result::Result<String, String>;

/// Work for a thread of libuv's pool.
pub(crate) struct Work(Option<Box<dyn FnOnce() -> WorkResult + Send>>);

impl Work {
    pub(super) fn task(work: impl FnOnce() -> WorkResult + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work has run already"))?;
        // A panic here would end the program.
        catch_unwind(AssertUnwindSafe(work)).map_err(panic_to_error)?.map_err(error_for_user)
    }

    fn resolve(&mut self, _env: Env, json: String) -> Result<String> {
        Ok(json)
    }
}

/// How a process ended.
#[napi(object)]
pub(crate) struct JsMergeExit {
    /// Process id.
    pub pid: u32,
    /// Exit code, if there was one.
    pub code: Option<i64>,
    /// Name of the signal that ended the process, if one did.
    pub signal: Option<String>,
}

/// The options of a merge.
#[napi(object)]
pub(crate) struct JsMergeOptions {
    /// Names, which processes have in the trace, with paths of inputs, after those without names.
    pub names: Vec<(String, String)>,
    /// What goes into the trace.
    pub selection: JsSelection,
    /// End of the process that started all others.
    pub exit: Option<JsMergeExit>,
    /// Categories of other tools' events; empty for all.
    pub categories: Vec<String>,
    /// Least time between two samples, microseconds.
    pub interval: Option<i64>,
}

/// The part of recordings that a tool shows. Lists of texts are empty for everything.
#[napi(object)]
pub(crate) struct JsSelection {
    /// Start of the slice: milliseconds after the first recording's start, or before the last one's
    /// end if negative. May be infinite.
    pub from: Option<f64>,
    /// End of the slice, likewise.
    pub to: Option<f64>,
    /// Whether functions and lines are those of the sources.
    pub source_maps: bool,
    /// The folder below which sources and maps are read.
    pub sources_in: Option<String>,
    /// Folders with the symbols of native modules.
    pub symbols: Vec<String>,
    /// Parts of commands, or pids.
    pub process: Vec<String>,
    /// Parts of names of threads, or thread ids.
    pub thread: Vec<String>,
    /// Names of packages.
    pub package: Vec<String>,
    /// Parts of the names or the places of functions that stacks must have.
    pub focus: Vec<String>,
    /// Parts of the names or the places of functions that stacks must not have.
    pub ignore: Vec<String>,
    /// Labels that samples must have: `key=value`.
    pub label: Vec<String>,
}

impl From<JsSelection> for Selection {
    fn from(selection: JsSelection) -> Self {
        let JsSelection { from, to, source_maps, sources_in, symbols, .. } = selection;
        let JsSelection { process, thread, package, focus, ignore, label, .. } = selection;
        let stacks = StackFilter::new(&package, &focus, &ignore);
        Self {
            slice: SliceLimits::of_ms(from, to),
            filter: Filter::new(&process, &thread, stacks).with_labels(LabelFilter::new(&label)),
            source_maps,
            places: Places { within: sources_in.map(PathBuf::from), symbols: paths(symbols) },
        }
    }
}

impl From<JsMergeOptions> for MergeOptions {
    fn from(options: JsMergeOptions) -> Self {
        let JsMergeOptions { names, selection, exit, categories, interval } = options;
        let Selection { slice, filter, source_maps, places } = selection.into();
        Self {
            names: names.into_iter().map(|(name, path)| (name, path.into())).collect(),
            filter,
            categories,
            interval_us: interval,
            slice,
            source_maps,
            places,
            exit: exit.map(|JsMergeExit { pid, code, signal }| ProcessExit { pid, code, signal }),
        }
    }
}

/// Returns the progress of a merge that starts later, for `merge` and `mergeProgressNow`.
#[napi(js_name = "cpuProfMergeProgress", catch_unwind)]
pub(crate) fn merge_progress() -> External<Arc<MergeProgress>> {
    External::new(Arc::default())
}

/// Returns the bytes of the inputs that were read so far, and all bytes of the inputs.
#[napi(js_name = "cpuProfMergeProgressNow", catch_unwind)]
pub(crate) fn merge_progress_now(progress: &External<Arc<MergeProgress>>) -> Vec<f64> {
    let (done, total) = (&progress.done, &progress.total);
    [done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)].map(|bytes| bytes as f64).to_vec()
}

/// Merges files and folders into one trace. Returns a `MergeResult`.
#[napi(js_name = "cpuProfMerge", catch_unwind)]
pub(crate) fn merge(
    inputs: Vec<String>,
    output: String,
    options: JsMergeOptions,
    progress: &External<Arc<MergeProgress>>,
) -> AsyncTask<Work> {
    let progress = Arc::clone(progress);
    Work::task(move || {
        let result = merge_run::merge(&paths(inputs), output.as_ref(), &options.into(), &progress);
        json(&result.map_err(|error| error.to_string())?)
    })
}

/// What a report contains.
#[napi(object)]
pub(crate) struct JsReportOptions {
    /// Rows of each list, by each time. May be infinite.
    pub top: f64,
    /// A function of which callers, callees, lines and processes are wanted.
    pub function: Option<String>,
    /// Count of the functions with the most self time of which the same is wanted.
    pub details: u32,
    /// Whether the call tree is wanted.
    pub tree: bool,
    /// Whether the modules are wanted, by the time of loading them.
    pub imports: bool,
    pub projects: bool,
    /// What the list of labels is by: nothing for whole sets, or a key. Missing for the key that tells the most.
    pub label: Option<String>,
    /// The shortest stall that is wanted, milliseconds.
    pub stalls: Option<f64>,
}

impl From<JsReportOptions> for ReportOptions {
    fn from(options: JsReportOptions) -> Self {
        let JsReportOptions { top, function, details, tree, imports, projects, .. } = options;
        let JsReportOptions { label, stalls, .. } = options;
        Self {
            // Conversions saturate: infinity becomes the largest number.
            top: top as usize,
            function,
            details: details as usize,
            has_tree: tree,
            has_imports: imports,
            has_projects: projects,
            by_label: label.map(LabelBy::of_key),
            stalls_us: stalls.map(|ms| (ms * 1000.0) as u64),
        }
    }
}

/// Reports on files and folders. Returns a `Report`.
#[napi(js_name = "cpuProfReport", catch_unwind)]
pub(crate) fn report(
    inputs: Vec<String>,
    options: JsReportOptions,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let (selection, options) = (Selection::from(selection), ReportOptions::from(options));
    Work::task(move || {
        let loaded = selection.load(&paths(inputs), options.scope())?;
        report::report(&loaded, &options).map_err(|error| error.to_string())
    })
}

/// Reads files and folders for an HTML report. Returns the data of the page.
#[napi(js_name = "cpuProfPage", catch_unwind)]
pub(crate) fn page(inputs: Vec<String>, selection: JsSelection) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || {
        let loaded = selection.load(&paths(inputs), ReadScope::ALL)?;
        let index = FrameIndex::of(&loaded.session.frames);
        let lists = page_lists(&loaded, &index).map_err(|error| error.to_string())?;
        page_build::page(&loaded, &index, lists).map_err(|error| error.to_string())
    })
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
        compared_page::page([&runs(base), &runs(head)], [base_name, head_name], &selection)
    })
}

/// Checks files and folders. Returns a `Check`.
#[napi(js_name = "cpuProfCheck", catch_unwind)]
pub(crate) fn check(inputs: Vec<String>) -> AsyncTask<Work> {
    Work::task(move || json(&check_run::check(&paths(inputs))))
}

/// Returns the paths of runs.
fn runs(side: Vec<Vec<String>>) -> Vec<Vec<PathBuf>> {
    side.into_iter().map(paths).collect()
}

/// Compares runs, each a list of files and folders. `wanted` are kinds (`function`, `file`, `package`,
/// `process`, or that of an owner) and names of what is compared even if it hardly took time. Returns a
/// `Comparison`.
#[napi(js_name = "cpuProfCompare", catch_unwind)]
pub(crate) fn compare(
    base: Vec<Vec<String>>,
    head: Vec<Vec<String>>,
    wanted: Vec<(String, String)>,
    shares: bool,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let options = CompareOptions { wanted, shares, selection: selection.into() };
    Work::task(move || compare_runs([&runs(base), &runs(head)], &options))
}

/// Returns the formats that `convert` writes as JSON, a list.
#[napi(js_name = "cpuProfFormats", catch_unwind)]
pub(crate) fn formats() -> String {
    serde_json::to_string(&FORMATS).unwrap_or_default()
}

/// Converts files and folders. Returns a `ConvertResult`.
#[napi(js_name = "cpuProfConvert", catch_unwind)]
pub(crate) fn convert(
    inputs: Vec<String>,
    output: String,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || {
        let result = convert_run::convert(&paths(inputs), output.as_ref(), &selection);
        json(&result.map_err(|error| error.to_string())?)
    })
}

/// Writes a text into a file, which is whole or not there, or into a device or a pipe. Compresses a
/// file whose name ends in `.gz`. Returns nothing.
#[napi(js_name = "cpuProfWriteFile", catch_unwind)]
pub(crate) fn write_file(path: String, text: String) -> AsyncTask<Work> {
    Work::task(move || {
        let written = atomic::write(path.as_ref(), text.as_bytes());
        written.map(|()| String::new()).map_err(|error| error.to_string())
    })
}

/// Removes unfinished files, for a process that is about to end.
#[napi(js_name = "cpuProfAbandonFiles", catch_unwind)]
pub(crate) fn abandon_files() {
    remove_partial();
}

fn paths(texts: Vec<String>) -> Vec<PathBuf> {
    texts.into_iter().map(PathBuf::from).collect()
}

fn json(value: &impl serde::Serialize) -> WorkResult {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javascript_knows_a_panic_from_an_error_for_the_user() {
        let reason = |work: fn() -> WorkResult| {
            Work(Some(Box::new(work))).compute().map_err(|error| error.reason).unwrap_err()
        };
        assert_eq!(reason(|| Err("the disk is full".into())), "cpu-prof: the disk is full");
        assert_eq!(reason(|| panic!("a list is empty")), "a list is empty");
    }
}
