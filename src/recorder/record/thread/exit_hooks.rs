//! Ends the recording of a thread that ends, or whose process ends.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::catch_unwind;

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, Unknown};

use super::recording::{
    ENDED_EARLY, IDLE_PROFILER, RECORDING, StoppedRecording, ThreadRecording, is_recording,
    take_recording,
};
use super::stop::{end_early, finish};
use crate::record::link::pending_exit;
use crate::record::process::exit_code;
use crate::record::process::signals;
use crate::sampler::v8::{Callback, Waker, forget_environment};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::ending::ProcessEnding;

thread_local! {
    /// Whether a cleanup hook ends the recordings of this thread.
    static HAS_CLEANUP_HOOK: Cell<bool> = const { Cell::new(false) };
    /// Whether an exit callback ends the recordings of this thread.
    static HAS_EXIT_CALLBACK: Cell<bool> = const { Cell::new(false) };
    /// The environment of the last recording, and the callback that resumes it.
    static RESUMPTION: Cell<Option<(Env, Callback)>> = const { Cell::new(None) };
    /// The recording to resume if the process survives.
    static INTERRUPTED: RefCell<Option<InterruptedRecording>> = const { RefCell::new(None) };
}

/// A recording of the main thread that ended because the process seemed to end.
pub(super) struct InterruptedRecording {
    /// Environment of the thread.
    pub env: Env,
    /// Settings of the recording.
    pub config: Config,
    /// The recording of all threads that it is a part of: its id, and why it started.
    pub part_of: Option<(u32, StartReason)>,
    /// The recording so far.
    pub stopped: Option<StoppedRecording>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The whole process ends, and frees V8's memory with it.
    Process,
    /// Only the thread ends, so V8's memory must be freed.
    Thread,
}

/// Makes sure that the end of this thread or of the process ends the thread's recordings. `resume`
/// runs if the process survives.
pub(super) fn watch(
    env: &Env,
    waker: Option<&Waker>,
    thread_id: u32,
    resume: Callback,
) -> Result<(), Error> {
    // The isolate of the main thread ends with the process, which frees its memory faster than V8
    // can.
    let scope = if thread_id == 0 { Scope::Process } else { Scope::Thread };
    if !HAS_CLEANUP_HOOK.get() {
        env.add_env_cleanup_hook((), move |()| drop(catch_unwind(|| end_environment(scope))))
            .map_err(|_| {
                Error::Unavailable("Node did not add a hook for the end of the thread".into())
            })?;
        HAS_CLEANUP_HOOK.set(true);
    }
    RESUMPTION.set(Some((*env, resume)));
    if let (Scope::Process, Some(waker)) = (scope, waker)
        && !HAS_EXIT_CALLBACK.replace(true)
    {
        waker.at_exit(on_exit);
    }
    Ok(())
}

/// Ends the recording. Node calls this after the `exit` listeners, and when the program is about to
/// send itself a signal, which most likely ends the process.
extern "C" fn on_exit(_: *mut c_void) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(end_for_now);
}

/// Ends the recording of a process that most likely ends now. A process that survives goes on in a
/// second recording.
pub(crate) fn end_for_now() {
    if !HAS_EXIT_CALLBACK.get() {
        return;
    }
    if !is_recording() {
        // Node calls an exit callback once, so the next recording must add it again.
        return HAS_EXIT_CALLBACK.set(false);
    }
    let settings = RECORDING.with_borrow(|recording| {
        let recording = recording.as_ref()?;
        let part_of = recording.thread.link.parent.zip(recording.origin.reason.clone());
        Some((recording.config.clone(), part_of))
    });
    let resumption = RESUMPTION.get();
    let exit_code = resumption.and_then(|(env, _)| exit_code(&env));
    if let Some(exit_code) = exit_code {
        pending_exit::note(Some(ProcessEnding::of_exit(exit_code)));
    }
    let stopped = end(Scope::Process);
    if let Some((config, part_of)) = settings
        && let Some((env, resume)) = resumption
        && exit_code.is_none()
        && let Ok(waker) = Waker::new(None)
    {
        INTERRUPTED.set(Some(InterruptedRecording { env, config, part_of, stopped }));
        waker.wake(resume);
    }
}

/// Returns the exit code with which Node is ending the program; none if the program goes on,
/// according to `process._exiting`.
fn exit_code(env: &Env) -> Option<i64> {
    /// `process.exitCode` is not set, or is no number.
    const SUCCESS: i64 = 0;
    let read = env.run_in_scope(|| {
        let process: Object<'_> = env.get_global()?.get_named_property("process")?;
        let is_exiting: Unknown<'_> = process.get_named_property("_exiting")?;
        if !is_exiting.coerce_to_bool()? {
            return Ok(None);
        }
        let code = process.get_named_property::<Option<f64>>("exitCode");
        Ok(Some(code.ok().flatten().map_or(SUCCESS, system::shown_exit_code)))
    });
    read.unwrap_or(Some(SUCCESS))
}

/// Returns the recording to resume, now that the process has survived.
pub(super) fn take_interrupted() -> Option<InterruptedRecording> {
    let interrupted = INTERRUPTED.take()?;
    if is_recording() || signals::is_pending() {
        return None;
    }
    // Node calls an exit callback once, so the next recording must add it again.
    HAS_EXIT_CALLBACK.set(false);
    Some(interrupted)
}

/// Ends the recording because the environment ends.
fn end_environment(scope: Scope) {
    let is_last = scope == Scope::Process && is_recording();
    if is_last {
        pending_exit::note(Some(ProcessEnding::of_nothing_left()));
    }
    let stopped = end(scope);
    if is_last {
        add_exit_code(stopped.as_ref());
    }
    forget_environment();
}

/// Ends the recording in the thread's `exit` listener. The exit code may still change.
pub(crate) fn end_in_exit_listener() {
    let is_main = |recording: &Option<ThreadRecording>| {
        recording.as_ref().is_some_and(|recording| recording.thread.tid == 0)
    };
    let is_last = is_recording() && RECORDING.with_borrow(is_main);
    if is_last {
        pending_exit::note(Some(ProcessEnding::of_nothing_left()));
    }
    end_early();
    if is_last {
        ENDED_EARLY.with_borrow(|stopped| add_exit_code(stopped.as_ref()));
    }
}

/// Lets the exit code be added to the trace of a recording that has ended.
fn add_exit_code(stopped: Option<&StoppedRecording>) {
    if let Some(trace) = stopped.and_then(|stopped| stopped.totals.last_trace()) {
        exit_code::add_to(&trace);
    }
}

fn end(scope: Scope) -> Option<StoppedRecording> {
    let (stopped, profiler) = take_recording().map(finish).unzip();
    let profiler = profiler.flatten().map(|(profiler, _)| profiler);
    match scope {
        Scope::Thread => {
            if let Some(profiler) = profiler.or_else(|| IDLE_PROFILER.take()) {
                profiler.dispose();
            }
        }
        Scope::Process => {
            if let Some(profiler) = profiler {
                IDLE_PROFILER.set(Some(profiler));
            }
        }
    }
    stopped
}
