//! A pprof file as a trace: what reads traces event by event reads it so.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::read::replay::windows;
use cpu_prof_core::format::trace::ours::{MERGED_HEAD, METADATA_KEY};
use cpu_prof_core::format::trace::write::event_args::Flush;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread::{ThreadInfo, ThreadTrace};
use cpu_prof_core::profile::program::{NodeModules, Program};
use cpu_prof_core::profile::wall_time;
use cpu_prof_session::formats::pprof::contents::PprofContents;
use cpu_prof_session::model::{Process, Thread};

/// Returns the text of a merged trace. The threads need samples.
pub(super) fn as_trace(contents: PprofContents) -> Vec<u8> {
    let PprofContents { processes, frames, labels, .. } = contents;
    let mut events = Events::default();
    let mut pids = BTreeSet::new();
    let mut facts = Vec::new();
    for process in &processes {
        let program = program(process, free_pid(process, &mut pids));
        for thread in &process.threads {
            let mut trace = ThreadTrace::new(info(&program, process, thread), thread.start_us());
            push_head(&mut events, &trace);
            if let Some(name) = worker_name(thread) {
                trace.rename_worker(&mut events, name);
            }
            for (window, placed) in windows(thread, &frames, &labels) {
                trace.window(&mut events, &window, &placed, Flush::default());
            }
            trace.close(&mut events, thread.end_us(), None);
        }
        facts.push(facts_of(process, &program));
    }
    let mut text = MERGED_HEAD.to_vec();
    text.extend_from_slice(events.as_bytes());
    let version = env!("CARGO_PKG_VERSION");
    let metadata = json!({ METADATA_KEY: { "processes": facts, "version": version } });
    text.extend_from_slice(b"\n],\n\"metadata\":");
    text.extend_from_slice(metadata.to_string().as_bytes());
    text.push(b'}');
    text
}

/// Returns the pid of a process, or a free one: a file can be about processes of several machines.
fn free_pid(process: &Process, taken: &mut BTreeSet<u32>) -> u32 {
    let known = u32::try_from(process.pid).unwrap_or(Program::UNKNOWN_PID);
    let pid = (known..u32::MAX).find(|pid| !taken.contains(pid)).unwrap_or(known);
    taken.insert(pid);
    pid
}

fn program(process: &Process, pid: u32) -> Program {
    let arguments = process.command.strip_prefix(&*process.name).unwrap_or_default();
    let script = [String::new(), process.name.clone()];
    let arguments = arguments.split_whitespace().map(str::to_owned);
    Program {
        pid,
        argv: script.into_iter().chain(arguments).collect(),
        cwd: process.cwd.clone().unwrap_or_default(),
        node: process.node.clone().unwrap_or_default(),
        ..Program::default()
    }
}

fn info(program: &Program, process: &Process, thread: &Thread) -> ThreadInfo {
    ThreadInfo {
        program: program.clone(),
        thread_id: thread_id(thread),
        os_thread_id: None,
        node_modules: NodeModules::Foldable,
        shows_bare: true,
        finds_leaves: false,
        interval_us: process.interval_us.and_then(|us| u32::try_from(us).ok()).unwrap_or_default(),
        started: String::new(),
        cpu: None,
        segment: None,
        recording_label: None,
        start: None,
    }
}

fn thread_id(thread: &Thread) -> u32 {
    u32::try_from(thread.id).unwrap_or_default()
}

/// Returns the name of a worker without its number; none for a main thread.
fn worker_name(thread: &Thread) -> Option<&str> {
    let number = format!("worker {}: ", thread_id(thread));
    (thread_id(thread) != 0).then(|| thread.name.strip_prefix(&number).unwrap_or(&thread.name))
}

/// Adds the events at the start of a thread.
fn push_head(events: &mut Events, trace: &ThreadTrace) {
    const LIST: &[u8] = b"\"traceEvents\":[\n";
    let head = trace.head();
    let at = head.windows(LIST.len()).position(|part| part == LIST);
    events.push_encoded(at.map_or(&[], |at| &head[at + LIST.len()..]));
}

/// Returns what the metadata tells about a process.
fn facts_of(process: &Process, program: &Program) -> Value {
    let start_us = process.start_us();
    let wall_us = process.wall_zero_us.map(|zero| zero.saturating_add(start_us));
    let identity = process.identity.as_ref();
    let known = [
        ("pid", Some(program.pid.into())),
        ("ownPid", (i64::from(program.pid) != process.pid).then(|| process.pid.into())),
        ("label", Some(program.url_label().into())),
        ("startUs", Some(start_us.into())),
        ("startTime", wall_us.and_then(wall_time::to_iso).map(Value::from)),
        ("intervalUs", process.interval_us.map(Value::from)),
        ("cwd", process.cwd.clone().map(Value::from)),
        ("node", process.node.clone().map(Value::from)),
        ("boot", identity.map(|identity| identity.boot.clone().into())),
        ("processStartMs", identity.map(|identity| identity.process_start_ms.into())),
        ("threads", Some(process.threads.iter().map(thread_id).collect())),
    ];
    let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    known.collect::<Map<String, Value>>().into()
}
