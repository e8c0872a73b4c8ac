//! The exports that arm a thread.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::calling_thread::{CallingThread, StartInspector, call_start_inspector, program};
use crate::record::process::armed::ArmedProcess;
use crate::record::thread::armed::{self, ArmRequest};
use crate::record::thread::start::InspectorPlan;
use crate::record::window::profiler_frames;
use crate::record::window::worker_name::WorkerName;
use crate::sampler::v8::KeptFunction;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::environment::GivenSettings;

/// Follows a start or a stop of an armed thread.
pub(super) type Follow<'a> = Function<'a, (), ()>;

/// What arming a thread needs beside the thread.
pub(super) struct Armament<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Options in code.
    pub options: HashMap<String, String>,
    /// Called where the thread has been started or stopped.
    pub follow: Follow<'a>,
}

/// Arms the calling thread, unless it is armed. The thread joins a recording of all threads that runs already.
pub(super) fn arm_thread(
    env: &Env,
    armament: Armament<'_>,
    thread: CallingThread,
    argv: &Object<'_>,
    start_inspector: impl FnOnce(InspectorPlan) -> std::result::Result<(), Error>,
) -> std::result::Result<(), Error> {
    let Armament { config, options, follow } = armament;
    if armed::is_armed() {
        return Ok(());
    }
    let follow = KeptFunction::keep(env, follow.raw())
        .ok_or_else(|| Error::Unavailable("Node did not keep a function".into()))?;
    profiler_frames::learn(&thread.lib);
    let request = ArmRequest {
        env,
        thread_id: thread.thread_id,
        name: WorkerName::from_option(&thread.name),
        socket: &config.socket,
        follow,
    };
    armed::arm(request, || ArmedProcess {
        given: GivenSettings::now(options, &thread.exec_argv),
        config: config.clone(),
        program: program(thread, Some(argv)),
    })?;
    armed::join(start_inspector);
    Ok(())
}

/// Starts the calling thread's part of a recording of all armed threads, where only JavaScript can. Returns
/// whether the thread's recording is a part of one that has ended, and should be stopped.
#[napi(js_name = "cpuProfFollow", catch_unwind)]
pub(crate) fn follow(env: Env, start_inspector: StartInspector<'_>) -> bool {
    armed::join_in_javascript(|plan| call_start_inspector(&env, start_inspector, plan));
    armed::is_part_of_ended()
}
