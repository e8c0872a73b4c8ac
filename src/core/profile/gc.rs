//! Garbage collections of an isolate, and the memory that its thread uses.

use serde::{Deserialize, Serialize};

/// One collection. Collections nest: a callback of an addon can allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
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
    /// Whether the collection is a part of another.
    pub is_nested: bool,
}

/// What the collections of a time were in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionTotals {
    /// Count of minor collections.
    pub minor: u64,
    /// Count of major collections.
    pub major: u64,
    /// Duration of all collections, microseconds.
    pub us: u64,
    /// Duration of the longest, microseconds.
    pub longest_us: u64,
}

impl CollectionTotals {
    /// Adds a collection.
    pub fn add(&mut self, collection: &Collection) {
        match collection.kind {
            CollectionKind::Minor => self.minor += 1,
            CollectionKind::Major => self.major += 1,
            CollectionKind::Incremental | CollectionKind::WeakCallbacks => {}
        }
        let us = u64::try_from(collection.duration_us).unwrap_or_default();
        self.longest_us = self.longest_us.max(us);
        if !collection.is_nested {
            self.us += us;
        }
    }

    /// Adds the collections of another time.
    pub fn add_totals(&mut self, other: Self) {
        self.minor += other.minor;
        self.major += other.major;
        self.us += other.us;
        self.longest_us = self.longest_us.max(other.longest_us);
    }
}

/// The kinds of collections, as V8's `GCType` tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionKind {
    /// Young objects only.
    Minor,
    /// The whole heap.
    Major,
    /// A step of marking between two pieces of JavaScript.
    Incremental,
    /// The callbacks of dead weak references.
    WeakCallbacks,
}

/// The memory of a thread and its process over a time, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRange {
    /// The first values.
    pub first: MemoryUse,
    /// The last values.
    pub last: MemoryUse,
    /// The highest of each value.
    pub peak: MemoryUse,
}

impl MemoryRange {
    /// Adds later values to a range that may have none yet.
    pub fn add(range: &mut Option<Self>, memory: MemoryUse) {
        let Self { last, peak, .. } =
            range.get_or_insert(Self { first: memory, last: memory, peak: memory });
        *last = memory;
        peak.heap_used = peak.heap_used.max(memory.heap_used);
        peak.heap_total = peak.heap_total.max(memory.heap_total);
        peak.external = peak.external.max(memory.external);
        peak.rss = peak.rss.max(memory.rss);
    }
}

/// The memory of a thread and its process at one moment, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUse {
    /// Objects on the thread's heap.
    pub heap_used: u64,
    /// Heap that the thread has reserved.
    pub heap_total: u64,
    /// Memory outside of the heap that the thread's objects keep alive.
    pub external: u64,
    /// Resident memory of the process. Only a main thread has this value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rss: Option<u64>,
}
