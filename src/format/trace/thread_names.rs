//! The names of a thread and its process, as DevTools and speedscope show them.
//!
//! Of several names of a thread, DevTools takes the last in the file, and speedscope the last by
//! time. DevTools knows a main thread by the name `CrRendererMain`; so a main thread has two names.

use super::event::Event;
use crate::profile::program::shortened;

/// Writes the names of a thread and its process. `label` is the process's label.
pub(crate) fn each_name(pid: u32, tid: u32, label: &str, mut write: impl FnMut(&Event<'_>)) {
    write(&Event::process_name(pid, label));
    if tid == 0 {
        write(&Event::thread_name(pid, tid, 1, &format!("{label} - main")));
        write(&Event::thread_name(pid, tid, 0, "CrRendererMain"));
    } else {
        write(&Event::thread_name(pid, tid, 1, &format!("{label} - worker {tid}")));
    }
}

/// Returns the name of a thread without the process's label.
pub(crate) fn without_label<'a>(name: &'a str, label: &str) -> &'a str {
    name.strip_prefix(label).and_then(|rest| rest.strip_prefix(" - ")).unwrap_or(name)
}

/// Writes a worker's name, which replaces its earlier names.
pub(crate) fn worker_name(
    pid: u32,
    tid: u32,
    label: &str,
    name: &str,
    mut write: impl FnMut(&Event<'_>),
) {
    let name = shortened(name);
    write(&Event::thread_name(pid, tid, 2, &format!("{label} - worker {tid}: {name}")));
}
