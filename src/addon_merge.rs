//! What JavaScript sees of merging.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::trace::merge::{self, Exit, Merged, Options, Progress};

/// How a process ended.
#[napi(object)]
pub struct MergeExit {
    /// Its id.
    pub pid: u32,
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<String>,
}

/// How to merge.
#[napi(object)]
pub struct MergeOptions {
    /// Milliseconds after the first recording's start.
    pub from: Option<f64>,
    /// Milliseconds after the first recording's start.
    pub to: Option<f64>,
    /// Whether it may become several files.
    pub split: Option<bool>,
    /// How the process ended that the others came from.
    pub exit: Option<MergeExit>,
}

/// A file that could not be read.
#[napi(object)]
pub struct FailedFile {
    /// Its path.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// What became of a merge.
#[napi(object)]
pub struct MergeResult {
    /// The files that were written.
    pub files: Vec<String>,
    /// The size of the largest, uncompressed.
    pub bytes: f64,
    /// The inputs in it.
    pub inputs: u32,
    /// The processes in it.
    pub processes: u32,
    /// The threads in it.
    pub threads: u32,
    /// Inputs that were cut off or torn.
    pub repaired: Vec<String>,
    /// Inputs that could not be read.
    pub failed: Vec<FailedFile>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// How far a merge is, to be asked while it runs.
#[napi(catch_unwind)]
pub fn merge_progress() -> External<Arc<Progress>> {
    External::new(Arc::default())
}

/// Bytes of the inputs that were read, and all of them.
#[napi(catch_unwind)]
pub fn merge_progress_now(progress: &External<Arc<Progress>>) -> Vec<f64> {
    let (done, total) = (&progress.done, &progress.total);
    [done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)].map(|bytes| bytes as f64).to_vec()
}

/// Merges files and folders into one trace, on another thread.
#[napi(catch_unwind)]
pub fn merge(
    inputs: Vec<String>,
    output: String,
    options: MergeOptions,
    progress: &External<Arc<Progress>>,
) -> AsyncTask<Merging> {
    const US_PER_MS: f64 = 1000.0;
    let micros = |ms: Option<f64>| ms.map(|ms| (ms * US_PER_MS).round() as i64);
    AsyncTask::new(Merging {
        inputs: inputs.into_iter().map(PathBuf::from).collect(),
        output: output.into(),
        options: Options {
            from_us: micros(options.from),
            to_us: micros(options.to),
            split: options.split.unwrap_or(false).then_some(merge::MANY_BYTES),
            exit: options.exit.map(|MergeExit { pid, code, signal }| Exit { pid, code, signal }),
        },
        progress: Arc::clone(progress),
    })
}

/// A merge on its way.
pub struct Merging {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    options: Options,
    progress: Arc<Progress>,
}

impl Task for Merging {
    type Output = Merged;
    type JsValue = MergeResult;

    fn compute(&mut self) -> Result<Merged> {
        let Self { inputs, output, options, progress } = self;
        let merged =
            catch_unwind(AssertUnwindSafe(|| merge::merge(inputs, output, options, progress)));
        match merged {
            Ok(merged) => merged.map_err(|error| Error::from_reason(error.to_string())),
            Err(_) => Err(Error::from_reason("the merge failed by a fault of its own")),
        }
    }

    fn resolve(&mut self, _: Env, merged: Merged) -> Result<MergeResult> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        Ok(MergeResult {
            files: merged.files.iter().map(text).collect(),
            bytes: merged.bytes as f64,
            inputs: merged.inputs as u32,
            processes: merged.processes as u32,
            threads: merged.threads as u32,
            repaired: merged.repaired.iter().map(text).collect(),
            failed: merged
                .failed
                .into_iter()
                .map(|failed| FailedFile { file: text(&failed.path), reason: failed.reason })
                .collect(),
            notes: merged.notes,
        })
    }
}
