//! The events beside the profile: collections, memory and long tasks.

use std::borrow::Cow;

use super::event::Event;
use super::event_args::{Args, Data};
use crate::profile::gc::{Collection, CollectionKind, MemoryUse};
use crate::profile::window::task::Task;

/// The category of the events that stand often in a file. DevTools takes this one too.
const SHORT_TIMELINE: &str = "devtools.timeline";

/// Returns the name of a thread's counters. Perfetto draws one track for each name of a process.
pub(crate) fn memory_name(tid: u32) -> Cow<'static, str> {
    match tid {
        0 => "memory".into(),
        worker => format!("memory of worker {worker}").into(),
    }
}

/// Returns the name of a collection. DevTools draws these two names only.
fn collection_name(kind: CollectionKind) -> &'static str {
    if kind == CollectionKind::Minor { "MinorGC" } else { "MajorGC" }
}

/// Returns the kind of a collection that its name does not tell.
fn collection_type(kind: CollectionKind) -> Option<&'static str> {
    match kind {
        CollectionKind::Minor | CollectionKind::Major => None,
        CollectionKind::Incremental => Some("incremental"),
        CollectionKind::WeakCallbacks => Some("weak callbacks"),
    }
}

impl<'a> Event<'a> {
    /// Returns a collection.
    pub fn collection(pid: u32, tid: u32, collection: &Collection) -> Self {
        let Collection { kind, start_us, duration_us, heap_before, heap_after, .. } = *collection;
        let args = Args::Collection {
            kind: collection_type(kind),
            used_heap_size_before: heap_before,
            used_heap_size_after: heap_after,
        };
        let (cat, name) = ("devtools.timeline,v8", collection_name(kind));
        Self::new("X", cat, name, pid, tid, start_us, args).lasting(duration_us)
    }

    /// Returns a task, which DevTools marks if it is long. DevTools forgets the stack of functions
    /// at its start.
    pub fn task(pid: u32, tid: u32, task: &Task) -> Self {
        Self::of_task("RunTask", SHORT_TIMELINE, pid, tid, task)
    }

    /// Returns the call of a task, which is not drawn. Without a call, DevTools cuts the functions
    /// wherever a collection begins or ends.
    pub fn call(pid: u32, tid: u32, task: &Task) -> Self {
        Self::of_task("v8.callFunction", "v8", pid, tid, task)
    }

    fn of_task(name: &'a str, cat: &'a str, pid: u32, tid: u32, task: &Task) -> Self {
        let event = Self::new("X", cat, name, pid, tid, task.start_us, Args::Empty {});
        event.lasting(task.end_us - task.start_us)
    }

    /// Returns the counters of DevTools' memory graph, which it shows for the selected thread.
    pub(crate) fn heap_counters(pid: u32, tid: u32, ts: i64, memory: MemoryUse) -> Self {
        let data = Data::Counters { js_heap_size_used: memory.heap_used };
        Self::new("I", SHORT_TIMELINE, "UpdateCounters", pid, tid, ts, Args::Data { data })
    }

    /// Returns all values of the memory. `name` is that of `memory_name`.
    pub fn memory(pid: u32, tid: u32, ts: i64, name: &'a str, memory: MemoryUse) -> Self {
        Self::new("C", "cpu-prof", name, pid, tid, ts, Args::Memory(memory))
    }
}
