//! The facts of a thread that was read, as a `.cpuprofile` of this project has them.

use crate::model::{Process, Thread};
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::format::cpuprofile::facts::ProfileFacts;
use cpu_prof_core::profile::label::pid_mark;
use cpu_prof_core::profile::wall_time;

/// Returns the facts of a thread that was read; none if its process is not known.
pub fn facts_of_thread(process: &Process, thread: &Thread) -> Option<ProfileFacts> {
    let pid = process.pid;
    if pid == 0 {
        return None;
    }
    let identity = process.identity.as_ref();
    let label = process.url_label.as_ref();
    let wall_us = process.wall_zero_us.and_then(|zero| zero.checked_add(thread.start_us()));
    Some(ProfileFacts {
        pid,
        thread_id: thread.id,
        ppid: process.parent_pid,
        ancestors: process.ancestors.clone(),
        cwd: process.cwd.clone(),
        node: process.node.clone(),
        start_time: wall_us.and_then(wall_time::to_iso),
        process_start_ms: identity.map(|identity| identity.process_start_ms),
        boot: identity.map(|identity| identity.boot.clone()),
        process_key: identity.and_then(|identity| identity.key.clone()),
        cluster_worker: process.cluster_worker,
        pid_namespace: identity.and_then(|identity| identity.pid_namespace),
        run: None,
        label: label.map(|label| format!("{label} {}", pid_mark(pid))),
        process_name: process.label(),
        thread_name: thread.name.clone(),
        recording_label: thread.recording_label.clone(),
        start: thread.start.clone().or_else(|| met_at_start(process, thread)),
    })
}

/// Returns the condition that started the recording of a main thread, by the mark in its trace: a merged
/// trace has no other place for the reason.
fn met_at_start(process: &Process, thread: &Thread) -> Option<StartReason> {
    let (_, met) = process.met_conditions.iter().find(|(_, met)| !met.is_kept)?;
    let (reason, observed) = (met.reason.clone(), met.observed.clone());
    thread.is_main().then_some(StartReason::Condition { reason, observed })
}
