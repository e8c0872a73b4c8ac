//! What JavaScript calls for merging, reporting and converting. The work runs on other threads and
//! returns JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::files::temporary::remove_partial;
use crate::profile::thread_profile::ReadScope;
use crate::read::count::count_recordings as count_recordings_in;
use crate::read::living;
use crate::read::load::{Loaded, load, load_slice};
use crate::tools::convert::run as convert_run;
use crate::tools::merge::notes::DEVTOOLS_SLOW_BYTES;
use crate::tools::merge::outcome::{MergeOptions, MergeProgress, ProcessExit};
use crate::tools::merge::run as merge_run;
use crate::tools::report::build;

/// JSON, or a message for the user.
type WorkResult = std::result::Result<String, String>;

/// Work for a thread of libuv's pool.
pub(crate) struct Work(Option<Box<dyn FnOnce() -> WorkResult + Send>>);

impl Work {
    fn task(work: impl FnOnce() -> WorkResult + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work has run already"))?;
        // A panic here would end the program.
        let result = catch_unwind(AssertUnwindSafe(work));
        result
            .unwrap_or_else(|_| Err("an internal error happened; please report it".into()))
            .map_err(Error::from_reason)
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
    pub code: Option<i32>,
    /// Name of the signal that ended the process, if one did.
    pub signal: Option<String>,
}

/// The options of a merge.
#[napi(object)]
pub(crate) struct JsMergeOptions {
    /// Start of the slice, milliseconds after the first recording's start.
    pub from: Option<f64>,
    /// End of the slice, milliseconds after the first recording's start.
    pub to: Option<f64>,
    /// Whether the trace may become several files.
    pub split: Option<bool>,
    /// End of the process that started all others.
    pub exit: Option<JsMergeExit>,
}

impl From<JsMergeOptions> for MergeOptions {
    fn from(JsMergeOptions { from, to, split, exit }: JsMergeOptions) -> Self {
        const US_PER_MS: f64 = 1000.0;
        let micros = |ms: f64| (ms * US_PER_MS).round() as i64;
        Self {
            from_us: from.map(micros),
            to_us: to.map(micros),
            split: split.unwrap_or(false).then_some(DEVTOOLS_SLOW_BYTES),
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

/// Reports on files and folders. Returns a `Report`. `top`, `from_ms` and `to_ms` may be infinite.
#[napi(js_name = "cpuProfReport", catch_unwind)]
pub(crate) fn report(inputs: Vec<String>, top: f64, from_ms: f64, to_ms: f64) -> AsyncTask<Work> {
    Work::task(move || {
        let loaded = load_for_report(&paths(inputs), from_ms, to_ms);
        loaded.check()?;
        // The conversion saturates: infinity becomes the largest number.
        build::report(&loaded, top as usize).map_err(|error| error.to_string())
    })
}

fn load_for_report(inputs: &[PathBuf], from_ms: f64, to_ms: f64) -> Loaded {
    if from_ms <= 0.0 && to_ms == f64::INFINITY {
        load(inputs, ReadScope::LINES)
    } else {
        load_slice(inputs, from_ms, to_ms)
    }
}

/// Converts a file. Returns the paths of the files that were written.
#[napi(js_name = "cpuProfConvert", catch_unwind)]
pub(crate) fn convert(input: String, output: String) -> AsyncTask<Work> {
    Work::task(move || {
        let files = convert_run::convert(input.as_ref(), output.as_ref());
        let files = files.map_err(|error| error.to_string())?;
        json(&files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>())
    })
}

/// Returns the ids of the living processes that still record into these trace files, each once.
#[napi(js_name = "cpuProfLivingRecorders", catch_unwind)]
pub(crate) fn living_recorders(files: Vec<String>) -> Vec<u32> {
    living::living_recorders(&paths(files))
}

/// Returns the count of recordings in these files. The segments of a recording count once.
#[napi(js_name = "cpuProfCountRecordings", catch_unwind)]
pub(crate) fn count_recordings(files: Vec<String>) -> u32 {
    u32::try_from(count_recordings_in(&paths(files))).unwrap_or(u32::MAX)
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
