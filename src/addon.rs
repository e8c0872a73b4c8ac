//! What JavaScript sees.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::program::Program;
use crate::{recording, system, writer};

/// What only JavaScript knows of a thread.
#[napi(object)]
pub struct Thread {
    /// `worker_threads.threadId`
    pub thread_id: u32,
    /// `process.execArgv`
    pub exec_argv: Vec<String>,
    /// `process.version`
    pub version: String,
}

/// Starts recording the calling thread with the settings of the environment.
///
/// `argv` is `process.argv`. False if the settings are wrong, and the program has to be stopped;
/// what is wrong is on stderr by then. All other trouble is said there too, and leaves the program
/// to run unprofiled.
#[napi(catch_unwind)]
pub fn record(env: Env, thread: Thread, argv: Object<'_>) -> bool {
    let program = || Program {
        pid: std::process::id(),
        ppid: parent_id(),
        argv: strings(&argv),
        exec_argv: thread.exec_argv,
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        node: thread.version,
    };
    match recording::start(&env, thread.thread_id, argv, program) {
        Ok(()) => true,
        Err(error) => {
            writer::complain(&error);
            !error.stops_the_program()
        }
    }
}

/// Tells the script that the calling worker runs.
#[napi(catch_unwind)]
pub fn name_worker(file: String) {
    recording::name_worker(file);
}

/// Whether the calling thread is being recorded.
#[napi(catch_unwind)]
pub fn is_recording() -> bool {
    recording::is_recording()
}

/// Whether this is the process's first thread, which is Node's main thread.
#[napi(catch_unwind)]
pub fn is_first_thread() -> bool {
    system::is_first_thread()
}

#[cfg(unix)]
fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

/// What strings there are in an array.
fn strings(array: &Object<'_>) -> Vec<String> {
    let length = array.get_array_length().unwrap_or(0);
    (0..length).filter_map(|index| array.get_element(index).ok()).collect()
}
