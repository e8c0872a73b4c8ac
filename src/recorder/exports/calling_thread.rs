//! What JavaScript tells of the calling thread.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::record::thread::start::InspectorPlan;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::environment::run;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::program::Program;

/// The properties of a thread that only JavaScript knows.
#[napi(object)]
pub(crate) struct CallingThread {
    /// `worker_threads.threadId`
    pub thread_id: u32,
    /// The worker's name, as Node reports it; empty if Node does not.
    pub name: String,
    /// `process.execArgv`
    pub exec_argv: Vec<String>,
    /// `process.version`
    pub version: String,
    /// Folder `lib` of the package.
    pub lib: String,
    /// `cluster.worker.id`, in a process that `node:cluster` has started.
    pub cluster_worker: Option<u32>,
}

/// Starts the inspector. Takes the time between two samples (microseconds), the time between two
/// windows (milliseconds), whether the user set the latter, and Node's global object. Returns the
/// reason of a failure, which is empty if there is no inspector.
pub(super) type StartInspector<'a> =
    Function<'a, FnArgs<(u32, u32, bool, Unknown<'a>)>, Option<String>>;

/// Calls JavaScript's function that starts the inspector.
pub(super) fn call_start_inspector(
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
        // The function itself throws nothing, so the thread is being terminated.
        .map_err(|_| Error::Terminated)?;
    match failure {
        None => Ok(()),
        Some(reason) if reason.is_empty() => Err(Error::NoInspector),
        Some(reason) => Err(Error::Unavailable(reason)),
    }
}

/// Returns the program of the thread. `argv` is `process.argv`.
pub(super) fn program(thread: CallingThread, argv: Option<&Object<'_>>) -> Program {
    let program = Program {
        pid: std::process::id(),
        ppid: system::parent_id(),
        ancestors: if thread.thread_id == 0 { system::ancestors() } else { Vec::new() },
        argv: argv.map(strings).unwrap_or_default(),
        exec_argv: thread.exec_argv,
        cluster_worker: thread.cluster_worker,
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        node: thread.version,
        process_start_ms: system::process_start_ms(),
        boot: system::boot_id(),
        process_key: system::process_key(),
        pid_namespace: system::pid_namespace(),
        run: run().id().map(str::to_owned),
    };
    program.without_secrets()
}

/// Returns the strings of an array.
fn strings(array: &Object<'_>) -> Vec<String> {
    let length = array.get_array_length().unwrap_or(0);
    (0..length).filter_map(|index| array.get_element(index).ok()).collect()
}
