//! What JavaScript sees of merging, reporting and converting: work for other threads, whose results
//! are JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::files::temporary::remove_partial;
use crate::profile::thread_profile::ReadScope;
use crate::read::living;
use crate::read::load::{load, load_slice};
use crate::tools::convert::run as convert_run;
use crate::tools::merge::notes::DEVTOOLS_SLOW_BYTES;
use crate::tools::merge::outcome::{MergeOptions, MergeProgress, ProcessExit};
use crate::tools::merge::run;
use crate::tools::report::build;

/// Work for another thread, that gives text.
pub(crate) struct Work(Option<Box<dyn FnOnce() -> std::result::Result<String, String> + Send>>);

impl Work {
    fn task(
        work: impl FnOnce() -> std::result::Result<String, String> + Send + 'static,
    ) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("it was done already"))?;
        // A panic here would end the program.
        let done = catch_unwind(AssertUnwindSafe(work));
        done.unwrap_or_else(|_| Err("something unforeseen happened; please report it".into()))
            .map_err(Error::from_reason)
    }

    fn resolve(&mut self, _env: Env, text: String) -> Result<String> {
        Ok(text)
    }
}

/// How a process ended.
#[napi(object)]
pub(crate) struct JsMergeExit {
    /// Its id.
    pub pid: u32,
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<String>,
}

/// How to merge.
#[napi(object)]
pub(crate) struct JsMergeOptions {
    /// Milliseconds after the first recording's start.
    pub from: Option<f64>,
    /// Milliseconds after the first recording's start.
    pub to: Option<f64>,
    /// Whether it may become several files.
    pub split: Option<bool>,
    /// How the process ended that the others came from.
    pub exit: Option<JsMergeExit>,
}

/// How far a merge is, to be asked while it runs.
#[napi(catch_unwind)]
pub(crate) fn merge_progress() -> External<Arc<MergeProgress>> {
    External::new(Arc::default())
}

/// Bytes of the inputs that were read, and all of them.
#[napi(catch_unwind)]
pub(crate) fn merge_progress_now(progress: &External<Arc<MergeProgress>>) -> Vec<f64> {
    let (done, total) = (&progress.done, &progress.total);
    [done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)].map(|bytes| bytes as f64).to_vec()
}

/// Merges files and folders into one trace. Gives a `MergeResult`.
#[napi(catch_unwind)]
pub(crate) fn merge(
    inputs: Vec<String>,
    output: String,
    options: JsMergeOptions,
    progress: &External<Arc<MergeProgress>>,
) -> AsyncTask<Work> {
    const US_PER_MS: f64 = 1000.0;
    let micros = |ms: Option<f64>| ms.map(|ms| (ms * US_PER_MS).round() as i64);
    let options = MergeOptions {
        from_us: micros(options.from),
        to_us: micros(options.to),
        split: options.split.unwrap_or(false).then_some(DEVTOOLS_SLOW_BYTES),
        exit: options.exit.map(|JsMergeExit { pid, code, signal }| ProcessExit {
            pid,
            code,
            signal,
        }),
    };
    let progress = Arc::clone(progress);
    Work::task(move || {
        let merged = run::merge(&paths(inputs), output.as_ref(), &options, &progress);
        json(&merged.map_err(|error| error.to_string())?)
    })
}

/// Reports on files and folders. Gives a `Report`. `top`, `from_ms` and `to_ms` may be infinite.
#[napi(catch_unwind)]
pub(crate) fn report(inputs: Vec<String>, top: f64, from_ms: f64, to_ms: f64) -> AsyncTask<Work> {
    Work::task(move || {
        let inputs = paths(inputs);
        let loaded = if from_ms <= 0.0 && to_ms == f64::INFINITY {
            load(&inputs, ReadScope::TIMES)
        } else {
            load_slice(&inputs, from_ms, to_ms)
        };
        loaded.check()?;
        // Saturates.
        build::report(&loaded, top as usize).map_err(|error| error.to_string())
    })
}

/// Converts a file. Gives a list of those that were written.
#[napi(catch_unwind)]
pub(crate) fn convert(input: String, output: String) -> AsyncTask<Work> {
    Work::task(move || {
        let files = convert_run::convert(input.as_ref(), output.as_ref())
            .map_err(|error| error.to_string())?;
        json(&files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>())
    })
}

/// Returns the ids of the living processes that still record into these trace files, each once.
#[napi(catch_unwind)]
pub(crate) fn living_recorders(files: Vec<String>) -> Vec<u32> {
    living::living_recorders(&paths(files))
}

/// Removes the files that are being written, for a process that is about to end.
#[napi(catch_unwind)]
pub(crate) fn abandon_files() {
    remove_partial();
}

fn paths(texts: Vec<String>) -> Vec<PathBuf> {
    texts.into_iter().map(PathBuf::from).collect()
}

fn json(value: &impl serde::Serialize) -> std::result::Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
