//! Starts, rotates and stops the recording of the calling thread.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use napi::Env;

use super::finish::{StoppedProfiler, finish};
use super::lifecycle::{self, InterruptedRecording};
use super::link::RecordingLink;
use super::output::OutputFiles;
use super::process::HostProcess;
use super::signals;
use super::sink::RecordingSink;
use super::state::{
    self, ENDED_EARLY, IDLE_PROFILER, RECORDING, StoppedRecording, ThreadRecording, ThreadSampler,
};
use crate::base::config::{Config, Source};
use crate::base::error::Error;
use crate::base::stderr::warn_once;
use crate::base::system;
use crate::format::trace::thread::ThreadInfo;
use crate::profile::program::Program;
use crate::sampler::inspector::InspectorProfile;
use crate::sampler::source::{RawWindow, best_source};
use crate::sampler::v8::{Profiler, Waker};

/// A request to record the calling thread.
pub(crate) struct StartRequest<'a> {
    /// Environment of the thread.
    pub env: &'a Env,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Settings.
    pub config: &'a Config,
    /// Id of the recording that covers this worker.
    pub parent: Option<u32>,
}

/// The inspector's task.
pub(crate) struct InspectorPlan {
    /// Time between two samples, microseconds.
    pub interval_us: u32,
    /// Time between two windows, milliseconds.
    pub flush_ms: u32,
    /// Whether the user set the time between two windows.
    pub is_fixed: bool,
}

/// The inspector's next step after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Continue to sample.
    Continue,
    /// Stop for good: the recording has ended.
    GiveUp,
    /// Stop before the next profile starts, so that V8 starts another sampling thread.
    Restart,
}

/// Starts recording this thread, which must not be recorded already. `program` is called for the
/// first recording of a process, `start_inspector` if the inspector is the source.
pub(crate) fn start(
    request: StartRequest<'_>,
    program: impl FnOnce() -> Program,
    start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>,
) -> Result<(), Error> {
    let StartRequest { env, thread_id, config, parent } = request;
    let source = config.source.unwrap_or_else(best_source);
    let process = HostProcess::get_or_start(program, on_window_request)?;
    let waker = match source {
        Source::V8 => Some(Waker::new()?),
        Source::Inspector => None,
    };
    lifecycle::watch(env, waker.as_ref(), thread_id, on_survival)?;
    // The file comes before the sampling: a profile that cannot be written is not worth its cost.
    let start_us = system::now_us();
    let files = create_files(process, config, thread_id, start_us)?;
    let sampler = match start_sampler(env, config, source, start_inspector) {
        Ok(sampler) => sampler,
        Err(error) => {
            files.discard();
            return Err(error);
        }
    };
    let link = Arc::new(RecordingLink::new(parent, waker));
    let sink = RecordingSink::new(Arc::clone(&link), config, source, files);
    ENDED_EARLY.take();
    RECORDING.set(Some(ThreadRecording {
        process,
        sampler,
        link,
        config: config.clone(),
        thread_id,
        start_us,
        earlier: None,
    }));
    process.writer.open(sink);
    if thread_id == 0 {
        signals::arm();
    }
    Ok(())
}

fn create_files(
    process: &HostProcess,
    config: &Config,
    thread_id: u32,
    start_us: i64,
) -> Result<OutputFiles, Error> {
    let info = ThreadInfo {
        program: process.program.clone(),
        thread_id,
        node_modules: process.program.node_modules(config.ignore_list),
        interval_us: config.interval_us,
        started: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
    };
    OutputFiles::create(config, process.file_names(config, thread_id), info, start_us)
}

fn start_sampler(
    env: &Env,
    config: &Config,
    source: Source,
    start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>,
) -> Result<ThreadSampler, Error> {
    match source {
        Source::V8 => start_profiler(env, config.interval_us).map(ThreadSampler::V8),
        Source::Inspector => {
            let plan = InspectorPlan {
                interval_us: config.interval_us,
                flush_ms: config.flush_interval(source).as_millis() as u32,
                is_fixed: config.flush_interval.is_some(),
            };
            start_inspector(plan).map(|()| ThreadSampler::Inspector)
        }
    }
}

fn start_profiler(env: &Env, interval_us: u32) -> Result<Profiler, Error> {
    let profiler = match IDLE_PROFILER.take() {
        Some(profiler) => profiler,
        None => Profiler::new(env)?,
    };
    match profiler.start(interval_us) {
        Ok(()) => Ok(profiler),
        Err(error) => {
            IDLE_PROFILER.set(Some(profiler));
            Err(error)
        }
    }
}

/// Stops recording this thread, and returns when its files are complete. Returns None if the thread
/// was not recorded.
pub(crate) fn stop() -> Option<StoppedRecording> {
    let Some(recording) = state::take_recording() else { return ENDED_EARLY.take() };
    let (stopped, profiler) = finish(recording);
    if let Some(StoppedProfiler { profiler, undeleted }) = profiler {
        profiler.delete(undeleted);
        IDLE_PROFILER.set(Some(profiler));
    }
    Some(stopped)
}

/// Stops recording this thread. A later [`stop`] returns the result.
pub(crate) fn end_early() {
    if let Some(stopped) = stop() {
        ENDED_EARLY.set(Some(stopped));
    }
}

/// Takes the window that the writer thread requested.
extern "C" fn on_window_request(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let is_over = RECORDING.with_borrow(|recording| {
            recording
                .as_ref()
                .is_some_and(|recording| recording.link.is_stop_requested() || !rotate(recording))
        });
        if is_over {
            end_early();
        }
    }));
}

/// Hands over the samples so far, and continues to sample. Returns false if the recording should
/// end. Runs in V8's interrupts, where no JavaScript may run: so it touches no JavaScript object.
fn rotate(recording: &ThreadRecording) -> bool {
    if recording.link.has_failed() {
        return false;
    }
    let ThreadSampler::V8(profiler) = &recording.sampler else { return true };
    let before = Instant::now();
    let must_restart = recording.link.take_restart_request();
    let profile = if must_restart { profiler.restart() } else { profiler.rotate() };
    match profile {
        Ok(profile) => recording.hand_over(RawWindow::V8(profile), before.elapsed()),
        Err(error) => {
            warn_once(&error);
            return false;
        }
    }
    true
}

/// Hands over a window of the inspector: its profile as JSON, and the time when JavaScript began to
/// take it (CLOCK_MONOTONIC, microseconds).
pub(crate) fn hand_over_inspector_window(json: String, since_us: i64) -> NextStep {
    let next_step = RECORDING.with_borrow(|recording| match recording {
        Some(recording) => rotate_inspector(recording, json, since_us),
        None => NextStep::GiveUp,
    });
    if next_step == NextStep::GiveUp {
        end_early();
    }
    next_step
}

fn rotate_inspector(recording: &ThreadRecording, json: String, since_us: i64) -> NextStep {
    if recording.link.has_failed() {
        return NextStep::GiveUp;
    }
    let pause_us = u64::try_from(system::now_us() - since_us).unwrap_or(0);
    let window = RawWindow::Inspector(InspectorProfile::new(json));
    recording.hand_over(window, Duration::from_micros(pause_us));
    match (recording.link.is_stop_requested(), recording.link.take_restart_request()) {
        (true, _) => NextStep::GiveUp,
        (false, true) => NextStep::Restart,
        (false, false) => NextStep::Continue,
    }
}

/// Starts a second recording that continues the first one, because the process has survived.
extern "C" fn on_survival(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(interrupted) = lifecycle::take_interrupted() else { return };
        let InterruptedRecording { env, config, stopped } = interrupted;
        let request = StartRequest { env: &env, thread_id: 0, config: &config, parent: None };
        let no_inspector =
            |_| Err(Error::Unavailable("the inspector cannot resume a recording".into()));
        if let Err(error) = start(request, Program::default, no_inspector) {
            return warn_once(&error);
        }
        RECORDING.with_borrow_mut(|recording| {
            if let Some(recording) = recording {
                recording.earlier = stopped;
            }
        });
    }));
}
