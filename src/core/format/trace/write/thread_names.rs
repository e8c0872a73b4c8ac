//! The names of a thread and its process, as DevTools and speedscope show them.
//!
//! Of several names of a thread, DevTools takes the last in the file, and speedscope the last by
//! time. DevTools knows a main thread by the name `CrRendererMain`; so a main thread has two names.

use super::event::{At, Event};
use crate::base::native_thread::{UNNAMED, os_id};
use crate::profile::label::{labelled, shortened};

/// The name by which DevTools knows a main thread.
const PAGE_THREAD: &str = "CrRendererMain";

/// The time of a thread's name with the label of its recording, which comes after the same name
/// without the label.
const LABELLED_TS: i64 = 3;

/// Writes the names of a thread and its process. `label` is the process's label.
pub fn each_name(
    pid: u32,
    tid: u32,
    label: &str,
    recording_label: Option<&str>,
    mut write: impl FnMut(&Event<'_>),
) {
    write(&Event::process_name(pid, label));
    let name = full_name(label, &thread_name(tid, None));
    write_name(At { pid, tid, ts: 1 }, &name, recording_label, &mut write);
    if tid == 0 {
        write(&Event::thread_name(At { pid, tid, ts: 0 }, PAGE_THREAD));
    }
}

/// Writes one more name of a main thread, for DevTools alone, which then shows the thread as a worker.
pub fn main_thread_as_worker(pid: u32, label: &str, mut write: impl FnMut(&Event<'_>)) {
    write(&Event::thread_name(At { pid, tid: 0, ts: 0 }, label));
}

/// Returns whether an event of ours, with this name and time, shows a main thread as a worker.
pub fn is_as_worker(event: &[u8], name: &[u8], ts: Option<i64>) -> bool {
    name == b"thread_name"
        && ts == Some(0)
        && !event.windows(PAGE_THREAD.len()).any(|part| part == PAGE_THREAD.as_bytes())
}

fn write_name(
    at: At,
    name: &str,
    recording_label: Option<&str>,
    write: &mut impl FnMut(&Event<'_>),
) {
    write(&Event::thread_name(at, name));
    if let Some(label) = recording_label {
        write(&Event::thread_name(At { ts: LABELLED_TS, ..at }, &labelled(name, label)));
    }
}

/// Returns whether an event of ours with this name and time names a thread by the label of its recording.
pub fn is_labelled(name: &[u8], ts: Option<i64>) -> bool {
    name == b"thread_name" && ts == Some(LABELLED_TS)
}

/// Returns the label of a recording from a name of its thread at a time, if it is `name` with a label.
pub fn label_after<'a>(name: &str, ts: i64, full_name: &'a str) -> Option<&'a str> {
    let is_ours = ts == LABELLED_TS && !name.is_empty();
    is_ours.then(|| full_name.strip_prefix(name)?.strip_prefix(": ")).flatten()
}

/// Returns the name of a thread without the process's label.
pub fn without_label<'a>(name: &'a str, label: &str) -> &'a str {
    name.strip_prefix(label).and_then(|rest| rest.strip_prefix(" - ")).unwrap_or(name)
}

/// Writes a worker's name within its process, which replaces its earlier names.
pub fn worker_name(
    pid: u32,
    tid: u32,
    label: &str,
    name: &str,
    recording_label: Option<&str>,
    mut write: impl FnMut(&Event<'_>),
) {
    write_name(At { pid, tid, ts: 2 }, &full_name(label, name), recording_label, &mut write);
}

/// Returns the name of a thread within its process: `main`, `worker 3: crunch.js`, `libuv-worker (1234)`. `name` is
/// that of a worker or a native thread, if it has one.
pub fn thread_name(tid: u32, name: Option<&str>) -> String {
    if let Some(os_id) = os_id(tid.into()) {
        let name = name.filter(|name| !name.is_empty()).unwrap_or(UNNAMED);
        return format!("{} ({os_id})", shortened(name));
    }
    match name {
        _ if tid == 0 => "main".to_owned(),
        None => format!("worker {tid}"),
        Some(name) => format!("worker {tid}: {}", shortened(name)),
    }
}

/// Returns the name of a thread with the label of its process.
pub(super) fn full_name(label: &str, name: &str) -> String {
    format!("{label} - {name}")
}
