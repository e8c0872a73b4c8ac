//! Reads the events beside a profile: collections and memory.

use serde::Deserialize;

use crate::format::trace::event_json::EventJson;
use crate::profile::collection::{CollectionTotals, MemoryUse};

/// The start of the names of a process's memory counters.
pub(super) const MEMORY: &str = "memory";

/// Returns the collections that a heartbeat or the end of a recording tells.
pub(super) fn collections_of_flush(event: &EventJson<'_>) -> Option<CollectionTotals> {
    #[derive(Deserialize)]
    struct FlushArgs {
        data: FlushData,
    }
    #[derive(Deserialize)]
    struct FlushData {
        gc: CollectionTotals,
    }
    let FlushArgs { data } = serde_json::from_str(event.args?).ok()?;
    Some(data.gc)
}

/// Returns the totals of one collection of any writer.
pub(super) fn collection(event: &EventJson<'_>) -> CollectionTotals {
    let us = event.dur.and_then(|dur| u64::try_from(dur).ok()).unwrap_or_default();
    let major = u64::from(event.name == "MajorGC");
    CollectionTotals { minor: 1 - major, major, us, longest_us: us }
}

/// Returns the memory that an own counter tells; none for a counter of the program.
pub(super) fn memory(event: &EventJson<'_>) -> Option<MemoryUse> {
    let args = event.args.filter(|_| event.phase == "C")?;
    serde_json::from_str(args).ok()
}
