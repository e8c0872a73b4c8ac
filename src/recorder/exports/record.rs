//! The exports that record a thread.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::armed::{Armament, Follow, arm_thread};
use super::calling_thread::{CallingThread, StartInspector, call_start_inspector, program};
use crate::record::thread::armed;
use crate::record::thread::conditions::watch_conditions;
use crate::record::thread::exit_hooks;
use crate::record::thread::inspector::{self, NextStep};
use crate::record::thread::recording;
use crate::record::thread::rotation;
use crate::record::thread::start::{self, InspectorPlan, StartRequest};
use crate::record::thread::stop;
use crate::record::thread::worker_coverage;
use crate::record::window::profiler_frames;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::{v8, walk};
use cpu_prof_core::base::build_kind::BUILD;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::{self, Config};
use cpu_prof_core::base::settings::environment::{preload_config, read_config};
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::stderr::warn_once;

/// The reason why a recording did not start.
#[napi(object)]
pub(crate) struct StartFailure {
    /// Whether a setting is wrong.
    pub is_setting: bool,
    /// The reason, one line.
    pub message: String,
}

/// A recording that was stopped.
#[napi(object)]
pub(crate) struct JsRecording {
    /// Absolute paths of its files.
    pub files: Vec<String>,
    /// Number of samples in the files.
    pub samples: f64,
    /// Number of call-tree nodes in the files.
    pub nodes: f64,
    /// Time from start to stop, milliseconds.
    pub duration_ms: f64,
    /// Number of samples that could not be written.
    pub dropped_samples: f64,
    /// Number of the program's events that could not be written.
    pub dropped_events: f64,
    /// Node's thread id.
    pub thread_id: u32,
    /// Id of the process.
    pub pid: u32,
    /// Source of the samples.
    #[napi(ts_type = "'v8' | 'walk' | 'inspector'")]
    pub source: String,
}

/// How the workers of a recording are reached.
#[napi(object, object_from_js = false)]
pub(crate) struct WorkerCoverage {
    /// Id of the recording.
    pub recording: u32,
    /// Name of the linked binding with the function that records a worker; none where JavaScript
    /// does.
    pub binding: Option<&'static str>,
}

/// A worker that is recorded because a recording covers it.
#[napi(object)]
pub(crate) struct CoveredWorker {
    /// The worker.
    pub thread: CallingThread,
    /// Id of the recording that covers the worker. The recording may have ended.
    pub recording: u32,
    /// Script of the worker; empty for text that the worker evaluates.
    pub script: String,
}

/// Returns the version of the package that this addon belongs to.
#[napi(js_name = "cpuProfVersion", catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns how this addon was built.
#[napi(js_name = "cpuProfBuild", catch_unwind)]
pub(crate) fn build() -> &'static str {
    BUILD
}

/// Starts recording the calling thread with the settings of the environment, unless it is being
/// recorded, or arms the thread.
///
/// `argv` is `process.argv`; `follow` is called without arguments where an armed thread has been started or
/// stopped, or should be. `calling` calls its first argument, within `JSON.stringify` if the second is true. Returns false if a setting is wrong, so that the program must be
/// stopped; the reason is on stderr by then. Any other failure is reported there too, and the
/// program runs on unprofiled.
#[napi(js_name = "cpuProfRecord", catch_unwind)]
pub(crate) fn record(
    env: Env,
    thread: CallingThread,
    argv: Object<'_>,
    start_inspector: StartInspector<'_>,
    follow: Follow<'_>,
    calling: CallingFunction<'_>,
) -> bool {
    if recording::is_recording() {
        return true;
    }
    let thread_id = thread.thread_id;
    let started = preload_config(&thread.exec_argv).and_then(|config| {
        let Some(config) = config else { return Ok(()) };
        let start_inspector = |plan| call_start_inspector(&env, start_inspector, plan);
        prepare_walk(&env, config, calling);
        if config.is_armed() {
            let armament = Armament { config, options: HashMap::new(), follow };
            arm_thread(&env, armament, thread, &argv, start_inspector)?;
        } else {
            let request = StartRequest::of_thread(&env, thread_id, config);
            start_thread(request, thread, Some(&argv), start_inspector)?;
        }
        watch_conditions(&env, thread_id, config)
    });
    match started {
        Ok(()) => true,
        // This is a thread that Node itself started. If the whole program had no inspector, its main
        // thread would have reported that.
        Err(Error::NoInspector) if thread_id != 0 => true,
        Err(error) => {
            warn_once(&error);
            !error.is_wrong_setting()
        }
    }
}

/// Starts recording the calling thread, which is not being recorded, or arms the thread; a worker that is
/// covered by a recording gets its own instead. `options` take precedence over the environment; their values are
/// written as text. Returns the reason of a failure.
#[napi(js_name = "cpuProfStart", catch_unwind)]
pub(crate) fn start(
    env: Env,
    thread: CallingThread,
    argv: Object<'_>,
    mut options: HashMap<String, String>,
    start_inspector: StartInspector<'_>,
    follow: Follow<'_>,
    calling: CallingFunction<'_>,
) -> Option<StartFailure> {
    // The parent can have reached the worker since JavaScript asked.
    if recording::is_covered() {
        stop::stop();
    }
    // The variable is about the start of the program.
    options.entry("start".to_owned()).or_insert_with(|| "on".to_owned());
    let config = read_config(|name| options.get(name).cloned(), &thread.exec_argv);
    let started = config.and_then(|config| {
        let start_inspector = |plan| call_start_inspector(&env, start_inspector, plan);
        let thread_id = thread.thread_id;
        prepare_walk(&env, &config, calling);
        if config.is_armed() {
            let armament = Armament { config: &config, options, follow };
            arm_thread(&env, armament, thread, &argv, start_inspector)?;
        } else {
            let request = StartRequest::of_thread(&env, thread_id, &config);
            let request = StartRequest { has_scripts: true, ..request };
            start_thread(request, thread, Some(&argv), start_inspector)?;
        }
        watch_conditions(&env, thread_id, &config)
    });
    started.err().map(|error| StartFailure {
        is_setting: error.is_wrong_setting(),
        message: error.to_string(),
    })
}

/// Calls its first argument.
type CallingFunction<'a> = Function<'a, FnArgs<(Unknown<'a>, bool)>, ()>;

/// Waits for a sample in this call, some milliseconds at most, if the calling thread is recorded. V8 gives the functions
/// of all addons one name, and the sample tells this name.
#[napi(js_name = "cpuProfWaitForSample", catch_unwind)]
pub(crate) fn wait_for_sample() {
    rotation::wait_for_sample();
}

/// Returns the settings of a recording as JSON, a list.
#[napi(js_name = "cpuProfSettings", catch_unwind)]
pub(crate) fn settings() -> String {
    config::settings_json()
}

/// Lets the calling thread's recording cover its workers. Returns nothing if the workers cannot be
/// reached; the reason is on stderr then.
#[napi(js_name = "cpuProfCoverWorkers", catch_unwind)]
pub(crate) fn cover_workers() -> Option<WorkerCoverage> {
    match worker_coverage::cover_workers(record_covered_by_v8) {
        Ok(coverage) => coverage.map(|(recording, binding)| WorkerCoverage { recording, binding }),
        Err(error) => {
            warn_once(&error);
            None
        }
    }
}

/// Starts recording the calling worker with V8's profiler. The worker is in any JavaScript, even in
/// that of a library that is being loaded.
fn record_covered_by_v8(env: &Env, request: Object<'_>) {
    if let Ok(Some(worker)) = request.get::<CoveredWorker>("worker") {
        record_covered(env, worker, |_| {
            Err(Error::Unavailable("the inspector cannot start in an interrupt".into()))
        });
    }
}

/// Starts recording the calling worker for the recording that covers it.
#[napi(js_name = "cpuProfRecordWorker", catch_unwind)]
pub(crate) fn record_worker(env: Env, worker: CoveredWorker, start_inspector: StartInspector<'_>) {
    record_covered(&env, worker, |plan| call_start_inspector(&env, start_inspector, plan));
}

/// Stops recording the calling thread, and returns when its files are complete. Returns nothing if
/// the thread was not recorded.
#[napi(js_name = "cpuProfStop", catch_unwind)]
pub(crate) fn stop() -> Option<JsRecording> {
    let stopped = stop::stop()?;
    let totals = stopped.totals;
    Some(JsRecording {
        files: totals.files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
        samples: totals.samples as f64,
        nodes: totals.nodes as f64,
        duration_ms: stopped.duration_us as f64 / 1000.0,
        dropped_samples: totals.dropped_samples as f64,
        dropped_events: totals.dropped_events as f64,
        thread_id: stopped.thread_id,
        pid: std::process::id(),
        source: stopped.source.name().into(),
    })
}

/// Returns whether the calling thread, which is sampled by the inspector, needs a window. A thread
/// that has only waited for events since its last window needs none.
#[napi(js_name = "cpuProfNeedsWindow", catch_unwind)]
pub(crate) fn needs_window() -> bool {
    inspector::needs_inspector_window()
}

/// Hands over a window of the inspector: its profile as JSON, the time when JavaScript began to hand
/// it over, and the time in which JavaScript started the next profile, both 0 if it has not. Times
/// are microseconds of `process.hrtime`. Returns `continue`, `give up`, or `restart`: stop before
/// the next profile starts.
#[napi(
    js_name = "cpuProfWindow",
    catch_unwind,
    ts_return_type = "'continue' | 'give up' | 'restart'"
)]
pub(crate) fn window(
    json: String,
    since_us: i64,
    profiler_from_us: i64,
    profiler_to_us: i64,
) -> &'static str {
    match inspector::hand_over_inspector_window(json, since_us, (profiler_from_us, profiler_to_us))
    {
        NextStep::Continue => "continue",
        NextStep::GiveUp => "give up",
        NextStep::Restart => "restart",
    }
}

/// Ends the calling thread's recording because the thread ends. A later `stop` returns the result.
#[napi(js_name = "cpuProfEnd", catch_unwind)]
pub(crate) fn end() {
    exit_hooks::end_in_exit_listener();
}

/// Ends the recording of the main thread, because `process.execve()` is about to end the program. If
/// that fails, the program goes on in a second recording.
#[napi(js_name = "cpuProfEndForNow", catch_unwind)]
pub(crate) fn end_for_now() {
    exit_hooks::end_for_now();
}

/// Names the calling worker by its script.
#[napi(js_name = "cpuProfNameWorker", catch_unwind)]
pub(crate) fn name_worker(script: String) {
    if let Some(name) = WorkerName::from_script(&script) {
        armed::remember_name(&name);
        recording::name_worker(Some(name));
    }
}

/// Returns whether the calling thread is being recorded.
#[napi(js_name = "cpuProfIsRecording", catch_unwind)]
pub(crate) fn is_recording() -> bool {
    recording::is_recording()
}

/// Notes that the calling thread has just started a worker.
#[napi(js_name = "cpuProfNoteWorker", catch_unwind)]
pub(crate) fn note_worker() {
    worker_coverage::note_started_worker();
}

/// Returns whether the calling thread is a worker that is recorded only because a recording covers
/// it.
#[napi(js_name = "cpuProfIsCovered", catch_unwind)]
pub(crate) fn is_covered() -> bool {
    recording::is_covered()
}

/// Returns whether this is Node's main thread; false if this Node does not tell.
#[napi(js_name = "cpuProfIsMainThread", catch_unwind)]
pub(crate) fn is_main_thread(env: &Env) -> bool {
    v8::is_main_thread(env)
}

fn record_covered(
    env: &Env,
    worker: CoveredWorker,
    start_inspector: impl FnOnce(InspectorPlan) -> std::result::Result<(), Error>,
) {
    let CoveredWorker { thread, recording, script } = worker;
    let Some(config) =
        worker_coverage::covering_config(recording).filter(|_| !recording::is_recording())
    else {
        return;
    };
    let request = StartRequest {
        has_scripts: true,
        parent: Some(recording),
        ..StartRequest::of_thread(env, thread.thread_id, &config)
    };
    match start_thread(request, thread, None, start_inspector) {
        // The script counts only if the worker has no name.
        Ok(()) => recording::name_worker(WorkerName::from_script(&script)),
        Err(error) => warn_once(&error),
    }
}

/// Finds out what the walk of frames needs, if it is the source: this needs a call from JavaScript.
fn prepare_walk(env: &Env, config: &Config, calling: CallingFunction<'_>) {
    if config.source == Some(Source::Walk) {
        walk::prove(env, calling.raw());
    }
}

fn start_thread(
    request: StartRequest<'_>,
    thread: CallingThread,
    argv: Option<&Object<'_>>,
    start_inspector: impl FnOnce(InspectorPlan) -> std::result::Result<(), Error>,
) -> std::result::Result<(), Error> {
    let name = WorkerName::from_option(&thread.name);
    profiler_frames::learn(&thread.lib);
    start::start(request, || program(thread, argv), start_inspector)?;
    recording::name_worker(name);
    Ok(())
}
