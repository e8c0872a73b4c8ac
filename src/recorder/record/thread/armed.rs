//! An armed thread: starts and stops its part of the recording of all threads when it is asked to.
//!
//! The requests come in V8's interrupts, where no JavaScript may run. What JavaScript does beside a
//! recording follows in a microtask; with the inspector, so does the recording itself.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::Env;
use napi::bindgen_prelude::retain_current_module_for_unload_safety;

use super::exit_hooks;
use super::recording::{RECORDING, is_recording, name_worker};
use super::start::{InspectorPlan, StartRequest, on_survival, start};
use super::stop::stop_and_forget;
use crate::record::process::armed::{self, ArmedProcess, ArmedThread};
use crate::record::process::control;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::v8::{FrameFinder, KeptFunction, Waker, run_soon};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::start::SocketFolder;
use cpu_prof_core::base::settings::values::Source;
use cpu_prof_core::base::system;

thread_local! {
    /// The calling thread, if it is armed.
    static HERE: RefCell<Option<ArmedHere>> = const { RefCell::new(None) };
}

/// The calling thread. Its environment is alive: the value is given up in the environment's cleanup hook.
struct ArmedHere {
    env: Env,
    /// Number among the armed threads.
    number: u32,
    thread_id: u32,
    waker: Waker,
    /// Names that the worker has so far.
    names: Vec<WorkerName>,
    /// Follows a start or a stop, in JavaScript.
    follow: KeptFunction,
}

/// A request to arm the calling thread.
pub(crate) struct ArmRequest<'a> {
    /// Environment of the thread.
    pub env: &'a Env,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Name that the program gave the worker.
    pub name: Option<WorkerName>,
    /// Folder of the control socket.
    pub socket: &'a SocketFolder,
    /// Function that JavaScript follows a start or a stop with.
    pub follow: KeptFunction,
}

/// Returns whether the calling thread is armed.
pub(crate) fn is_armed() -> bool {
    HERE.with_borrow(Option::is_some)
}

/// Arms the calling thread, which is not armed. The first thread of a process also opens the control
/// socket. `process` is called for that thread.
pub(crate) fn arm(
    request: ArmRequest<'_>,
    process: impl FnOnce() -> ArmedProcess,
) -> Result<(), Error> {
    let ArmRequest { env, thread_id, name, socket, follow } = request;
    // The threads that serve the process run the addon's code.
    retain_current_module_for_unload_safety();
    system::note_recording_process();
    FrameFinder::prove();
    let waker = Waker::new(None)?;
    exit_hooks::watch(env, Some(&waker), thread_id, on_survival)?;
    env.add_env_cleanup_hook((), |()| drop(catch_unwind(disarm))).map_err(|_| {
        Error::Unavailable("Node did not add a hook for the end of the thread".into())
    })?;
    let thread = ArmedThread { waker: waker.again(None)?, start: on_start, stop: on_stop };
    // Without a lock: what is asked of JavaScript can call this again.
    let process = (!armed::is_armed()).then(process);
    if is_armed() {
        return Ok(());
    }
    let number = armed::add(thread, process).ok_or(Error::Terminated)?;
    let names = name.into_iter().collect();
    HERE.set(Some(ArmedHere { env: *env, number, thread_id, waker, names, follow }));
    control::open(socket);
    Ok(())
}

/// Starts the calling thread's part of the recording of all threads, if one runs. `start_inspector` is
/// called if the inspector is the source. Runs in V8's interrupts: so it touches no JavaScript object.
pub(crate) fn join(start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>) {
    let Some((env, number, thread_id, waker, names)) = HERE.with_borrow(|here| {
        let here = here.as_ref()?;
        let waker = here.waker.again(None).ok()?;
        Some((here.env, here.number, here.thread_id, waker, here.names.clone()))
    }) else {
        return;
    };
    let Some(join) = armed::begin_start(number) else { return };
    // What the program records itself goes on.
    if is_recording() {
        return armed::end_start(join.id, None);
    }
    let request = StartRequest {
        has_scripts: true,
        parent: Some(join.id),
        reason: Some(join.request.reason.clone()),
        waker: Some(waker),
        ..StartRequest::of_thread(&env, thread_id, &join.request.config)
    };
    match start(request, armed::program, start_inspector) {
        Ok(()) => names.into_iter().for_each(|name| name_worker(Some(name))),
        Err(error) => armed::end_start(join.id, Some(&error)),
    }
}

/// Does what [`join`] does where the inspector is the source, for which JavaScript must run.
pub(crate) fn join_in_javascript(start_inspector: impl FnOnce(InspectorPlan) -> Result<(), Error>) {
    if armed::requested_source() == Some(Source::Inspector) {
        join(start_inspector);
    }
}

/// Remembers a name of the calling thread, a worker, for its recordings.
pub(crate) fn remember_name(name: &WorkerName) {
    HERE.with_borrow_mut(|here| {
        if let Some(here) = here {
            here.names.push(name.clone());
        }
    });
}

/// Disarms the calling thread, because its environment ends.
fn disarm() {
    if let Some(here) = HERE.take()
        && !system::is_forked()
    {
        armed::remove(here.number);
    }
}

/// Starts the thread's part of a recording that was requested.
extern "C" fn on_start(_: *mut c_void) {
    on_request(|| {
        if armed::requested_source().is_some_and(|source| source != Source::Inspector) {
            join(|_| Err(Error::Unavailable("the inspector cannot start in an interrupt".into())));
        }
    });
}

/// Stops the thread's part of a recording.
extern "C" fn on_stop(_: *mut c_void) {
    on_request(|| {
        if is_part_of_ended() && is_sampled_here() {
            stop_and_forget();
        }
    });
}

/// Handles a request, and lets JavaScript follow.
fn on_request(handle: impl FnOnce()) {
    // Unwinding into C++ would end the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if !system::is_forked() && is_armed() {
            handle();
            run_soon(on_safe_moment);
        }
    }));
}

/// Runs where JavaScript may run.
extern "C" fn on_safe_moment(_: *mut c_void) {
    let _ = catch_unwind(|| {
        let here = HERE.with_borrow(|here| here.as_ref().map(|here| (here.env, here.follow)));
        if let Some((env, follow)) = here
            && !system::is_forked()
        {
            follow.call(&env);
        }
    });
}

/// Returns whether the calling thread's recording is part of one of all threads that has ended.
pub(crate) fn is_part_of_ended() -> bool {
    let part = RECORDING.with_borrow(|recording| {
        let recording = recording.as_ref()?;
        recording.origin.reason.as_ref().and(recording.thread.link.parent)
    });
    part.is_some_and(|id| !armed::is_running(id))
}

fn is_sampled_here() -> bool {
    RECORDING.with_borrow(|recording| {
        recording.as_ref().is_some_and(|each| each.sampler.borrow().source() != Source::Inspector)
    })
}
