//! Functions that JavaScript calls to merge files and folders.
#![allow(unsafe_code)] // napi's macros write it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, json, paths};
use cpu_prof_tools::merge::merge as merge_run;
use cpu_prof_tools::merge::options::{MergeOptions, MergeProgress, ProcessExit};
use cpu_prof_tools::read::selection::Selection;

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

/// An input with the name that its processes have in the trace.
#[napi(object)]
pub(crate) struct NamedInput {
    /// Name of the processes.
    pub name: String,
    /// Path of the input.
    pub path: String,
}

/// How far a merge is.
#[napi(object)]
pub(crate) struct JsMergeProgress {
    /// Bytes of the inputs that were read so far.
    pub done: f64,
    /// All bytes of the inputs; 0 until they are known.
    pub total: f64,
}

/// The options of a merge.
#[napi(object)]
pub(crate) struct JsMergeOptions {
    /// The inputs with names, after those without.
    pub named: Vec<NamedInput>,
    /// What goes into the trace.
    pub selection: JsSelection,
    /// End of the process that started all others.
    pub exit: Option<JsMergeExit>,
    /// Categories of other tools' events; empty for all.
    pub categories: Vec<String>,
    /// Least time between two samples, microseconds.
    pub interval: Option<i64>,
}

impl From<JsMergeOptions> for MergeOptions {
    fn from(options: JsMergeOptions) -> Self {
        let JsMergeOptions { named, selection, exit, categories, interval } = options;
        let Selection { slice, filter, source_maps, places } = selection.into();
        Self {
            names: named.into_iter().map(|NamedInput { name, path }| (name, path.into())).collect(),
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

/// Returns how far a merge is.
#[napi(js_name = "cpuProfMergeProgressNow", catch_unwind)]
pub(crate) fn merge_progress_now(progress: &External<Arc<MergeProgress>>) -> JsMergeProgress {
    JsMergeProgress {
        done: progress.done.load(Ordering::Relaxed) as f64,
        total: progress.total.load(Ordering::Relaxed) as f64,
    }
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
        json(&merge_run::merge(&paths(inputs), output.as_ref(), &options.into(), &progress)?)
    })
}
