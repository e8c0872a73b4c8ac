//! What JavaScript sees.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::stderr::warn_once;
use crate::base::system;
use crate::profile::program::Program;
use crate::record::process::{preload_config, read_config};
use crate::record::thread as recording;
use crate::record::thread::{InspectorPlan, NextStep, StoppedRecording};
use crate::record::worker_script::PendingScript;
use crate::sampler::native_names;

/// What only JavaScript knows of a thread.
#[napi(object)]
pub(crate) struct CallingThread {
    /// `worker_threads.threadId`
    pub thread_id: u32,
    /// `process.execArgv`
    pub exec_argv: Vec<String>,
    /// `process.version`
    pub version: String,
}

/// Why a recording did not start.
#[napi(object)]
pub(crate) struct StartFailure {
    /// Whether a setting is wrong.
    pub is_setting: bool,
    /// One line.
    pub message: String,
}

/// A recording that was stopped.
#[napi(object)]
pub(crate) struct JsRecording {
    /// Its files, absolute.
    pub files: Vec<String>,
    /// Samples in them.
    pub samples: f64,
    /// Call-tree nodes in them.
    pub nodes: f64,
    /// From start to stop.
    pub duration_ms: f64,
    /// Samples that could not be written.
    pub dropped_samples: f64,
    /// Node's thread id.
    pub thread_id: u32,
    /// The process's id.
    pub pid: u32,
    /// Where the samples came from.
    pub source: String,
}

/// Starts the inspector: between two samples, microseconds; between two windows, milliseconds;
/// whether that is the user's wish; Node's global object. Gives what went wrong, empty if there is
/// no inspector.
type StartInspector<'a> = Function<'a, FnArgs<(u32, u32, bool, Unknown<'a>)>, Option<String>>;

fn call(
    env: &Env,
    start: StartInspector<'_>,
    plan: InspectorPlan,
) -> std::result::Result<(), Error> {
    let failure = env
        .get_global()
        .and_then(|global| {
            let global = global.to_unknown();
            start.call((plan.interval_us, plan.flush_ms, plan.is_fixed, global).into())
        })
        // It throws nothing.
        .map_err(|_| Error::Terminated)?;
    match failure {
        None => Ok(()),
        Some(reason) if reason.is_empty() => Err(Error::NoInspector),
        Some(reason) => Err(Error::Unavailable(reason)),
    }
}

/// Starts recording the calling thread with the settings of the environment, unless it is recorded.
///
/// `argv` is `process.argv`. False if the settings are wrong, and the program has to be stopped;
/// what is wrong is on stderr by then. All other trouble is said there too, and leaves the program
/// to run unprofiled.
#[napi(catch_unwind)]
pub(crate) fn record(
    env: Env,
    thread: CallingThread,
    argv: Object<'_>,
    start_inspector: StartInspector<'_>,
) -> bool {
    if recording::is_recording() {
        return true;
    }
    let is_worker = thread.thread_id != 0;
    let script = is_worker.then(|| PendingScript::new(&env, argv)).flatten();
    let started = preload_config().and_then(|config| {
        let start_inspector = |plan| call(&env, start_inspector, plan);
        begin(&env, thread, Some(&argv), config, script, None, start_inspector)
    });
    match started {
        Ok(()) => true,
        // A thread of Node's own; had the program none, its main thread would say so.
        Err(Error::NoInspector) if is_worker => true,
        Err(error) => {
            warn_once(&error);
            !error.is_wrong_setting()
        }
    }
}

/// Starts recording the calling thread, which is not recorded. `options` go before the environment;
/// their values are written as text. Gives what went wrong.
#[napi(catch_unwind)]
pub(crate) fn start(
    env: Env,
    thread: CallingThread,
    argv: Object<'_>,
    options: HashMap<String, String>,
    start_inspector: StartInspector<'_>,
) -> Option<StartFailure> {
    let started = read_config(|name| options.get(name).cloned()).and_then(|config| {
        let start_inspector = |plan| call(&env, start_inspector, plan);
        begin(&env, thread, Some(&argv), &config, None, None, start_inspector)
    });
    started.err().map(|error| StartFailure {
        is_setting: error.is_wrong_setting(),
        message: error.to_string(),
    })
}

/// Has the calling thread's recording cover its workers: gives the number that they come with.
#[napi(catch_unwind)]
pub(crate) fn cover_workers() -> Option<u32> {
    recording::cover_workers()
}

/// A worker to be recorded for the sake of a recording that covers it.
#[napi(object)]
pub(crate) struct CoveredWorker {
    /// The worker.
    pub thread: CallingThread,
    /// The number of the recording that covers it. It may be over by now.
    pub recording: u32,
    /// What the worker runs.
    pub script: String,
}

/// The addon was loaded. Starts recording a worker that loads it with `{ coveredWorker }` as its
/// exports.
///
/// The parent has it do so by way of the inspector, at any moment, also in the midst of Node's own
/// start of the thread. Up to Node 20, if `terminate()` comes while JavaScript runs there, Node
/// aborts; so it is a single call.
#[napi(module_exports)]
pub(crate) fn on_load(exports: Object<'_>, env: Env) -> Result<()> {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        native_names::learn(|| Object::keys(&exports).unwrap_or_default());
        if let Ok(Some(worker)) = exports.get::<CoveredWorker>("coveredWorker") {
            let unavailable = |_| Err(Error::Unavailable("it is loaded by the inspector".into()));
            cover(&env, worker, unavailable);
        }
    }));
    Ok(())
}

/// As the above, in a worker that can run JavaScript.
#[napi(catch_unwind)]
pub(crate) fn record_worker(env: Env, worker: CoveredWorker, start_inspector: StartInspector<'_>) {
    cover(&env, worker, |plan| call(&env, start_inspector, plan));
}

fn cover(
    env: &Env,
    CoveredWorker { thread, recording, script }: CoveredWorker,
    start_inspector: impl FnOnce(InspectorPlan) -> std::result::Result<(), Error>,
) {
    let Some(config) = recording::covering(recording).filter(|_| !recording::is_recording()) else {
        return;
    };
    match begin(env, thread, None, &config, None, Some(recording), start_inspector) {
        Ok(()) => recording::name_worker(script),
        Err(error) => warn_once(&error),
    }
}

/// Stops recording the calling thread: its files are complete when this returns. Nothing if it is
/// not recorded.
#[napi(catch_unwind)]
pub(crate) fn stop() -> Option<JsRecording> {
    recording::stop().map(|StoppedRecording { written, duration_us, thread_id, source }| {
        JsRecording {
            files: written.files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
            samples: written.samples as f64,
            nodes: written.nodes as f64,
            duration_ms: duration_us as f64 / 1000.0,
            dropped_samples: written.dropped_samples as f64,
            thread_id,
            pid: std::process::id(),
            source: source.name().into(),
        }
    })
}

/// Takes a window of the inspector's over: its profile as JSON, and when taking it began, in
/// microseconds of `process.hrtime`. Gives 0 to sample on, 1 to give up, 2 to stop before the next
/// start.
#[napi(catch_unwind)]
pub(crate) fn window(json: String, since_us: i64) -> u32 {
    match recording::window(json, since_us) {
        NextStep::On => 0,
        NextStep::GiveUp => 1,
        NextStep::Restart => 2,
    }
}

/// Ends the calling thread's recording, of which `stop` may still tell.
#[napi(catch_unwind)]
pub(crate) fn end() {
    recording::end_early();
}

/// Tells the script that the calling worker runs.
#[napi(catch_unwind)]
pub(crate) fn name_worker(file: String) {
    recording::name_worker(file);
}

/// Whether the calling thread is being recorded.
#[napi(catch_unwind)]
pub(crate) fn is_recording() -> bool {
    recording::is_recording()
}

/// Whether the calling thread is a worker that is recorded only for its parent's sake.
#[napi(catch_unwind)]
pub(crate) fn is_covered() -> bool {
    recording::is_covered()
}

/// Whether this is the process's first thread, which is Node's main thread.
#[napi(catch_unwind)]
pub(crate) fn is_first_thread() -> bool {
    system::is_first_thread()
}

fn begin(
    env: &Env,
    thread: CallingThread,
    argv: Option<&Object<'_>>,
    config: &Config,
    script: Option<PendingScript>,
    parent: Option<u32>,
    start_inspector: impl FnOnce(InspectorPlan) -> std::result::Result<(), Error>,
) -> std::result::Result<(), Error> {
    let program = || Program {
        pid: std::process::id(),
        ppid: std::os::unix::process::parent_id(),
        argv: argv.map(strings).unwrap_or_default(),
        exec_argv: thread.exec_argv,
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        node: thread.version,
        process_start_ms: system::process_start_ms(),
        boot: system::boot_id(),
    };
    recording::start(env, thread.thread_id, config, program, script, parent, start_inspector)
}

/// What strings there are in an array.
fn strings(array: &Object<'_>) -> Vec<String> {
    let length = array.get_array_length().unwrap_or(0);
    (0..length).filter_map(|index| array.get_element(index).ok()).collect()
}
