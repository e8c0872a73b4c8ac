//! Garbage collections of an isolate, and the memory that its thread uses.

use serde::{Deserialize, Serialize};

/// One collection. Collections nest: a callback of an addon can allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collection {
    /// Kind of collection.
    pub kind: CollectionKind,
    /// Start: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// Duration, microseconds.
    pub duration_us: i64,
    /// Used heap at the start, bytes.
    pub heap_before: u64,
    /// Used heap at the end, bytes.
    pub heap_after: u64,
}

/// The kinds of collections, as V8's `GCType` tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CollectionKind {
    /// Young objects only.
    Minor,
    /// The whole heap.
    Major,
    /// A step of marking between two pieces of JavaScript.
    Incremental,
    /// The callbacks of dead weak references.
    WeakCallbacks,
}

/// The memory of a thread and its process at one moment, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MemoryUse {
    /// Objects on the thread's heap.
    pub heap_used: u64,
    /// Heap that the thread has reserved.
    pub heap_total: u64,
    /// Memory outside of the heap that the thread's objects keep alive.
    pub external: u64,
    /// Resident memory of the process. Only a main thread has this value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss: Option<u64>,
}
