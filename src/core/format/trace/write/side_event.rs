//! The events beside the profile: collections, memory, native threads and long tasks.

use std::borrow::Cow;

use super::event::Event;
use super::event_args::{Args, Data};
use super::events::Events;
use super::thread::ThreadTrace;
use crate::profile::cpu_use::NativeSpan;
use crate::profile::gc::{Collection, CollectionKind, MemoryUse};
use crate::profile::window::task::Task;

/// The category of the events that stand often in a file. DevTools takes this one too.
const SHORT_TIMELINE: &str = "devtools.timeline";

/// Returns the name of a thread's counters. Perfetto draws one track for each name of a process.
fn memory_name(tid: u32) -> Cow<'static, str> {
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

impl ThreadTrace {
    /// Adds a collection.
    pub fn collection(&self, events: &mut Events, collection: &Collection) {
        let Collection { kind, start_us, duration_us, heap_before, heap_after, .. } = *collection;
        let args = Args::Collection {
            kind: collection_type(kind),
            used_heap_size_before: heap_before,
            used_heap_size_after: heap_after,
        };
        let (cat, name) = ("devtools.timeline,v8", collection_name(kind));
        events.push(&Event::complete(cat, name, self.at(start_us), duration_us, args));
    }

    /// Adds a task, which is marked only if it is long: DevTools forgets the stack of functions at the
    /// start of a task.
    pub fn task(&self, events: &mut Events, task: &Task) {
        let mut add = |cat: &str, name: &str| {
            let (at, dur) = (self.at(task.start_us), task.end_us - task.start_us);
            events.push(&Event::complete(cat, name, at, dur, Args::Empty {}));
        };
        if task.is_long() {
            add(SHORT_TIMELINE, "RunTask");
        }
        // A call is not drawn. Without a call, DevTools cuts the functions wherever a collection
        // begins or ends.
        if task.collected_until_us.is_some() {
            add("v8", "v8.callFunction");
        }
    }

    /// Adds what native threads used. The event tells a length and not a start, so that a trace can be moved
    /// in time.
    pub fn native_threads(
        &self,
        events: &mut Events,
        NativeSpan { from_us, to_us, threads }: &NativeSpan,
    ) {
        let data = Data::NativeThreads { span_us: to_us - from_us, threads };
        events.push(&Event::instant("native.threads", self.at(*to_us), Args::Data { data }));
    }

    /// Adds the memory at a moment: the counters of DevTools' memory graph, which it shows for the
    /// selected thread, and all values.
    pub fn memory(&self, events: &mut Events, time_us: i64, memory: MemoryUse) {
        let at = self.at(time_us);
        let args = Args::Data { data: Data::Counters { js_heap_size_used: memory.heap_used } };
        events.push(&Event::moment(SHORT_TIMELINE, "UpdateCounters", at, args));
        let (name, args) = (memory_name(at.tid), Args::Memory(memory));
        events.push(&Event::counter("cpu-prof", &name, at, args));
    }
}
