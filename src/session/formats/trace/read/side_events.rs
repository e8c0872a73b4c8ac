//! Reads the events beside a profile: collections, memory, and gaps.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::formats::trace::event::event_json::EventJson;
use crate::model::compilation::CompilerSpan;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::cpu_use::{NativeSpan, NativeUse};
use cpu_prof_core::profile::gap::LostTime;
use cpu_prof_core::profile::gc::{CollectionTotals, MemoryUse};
use cpu_prof_core::profile::met_condition::MetCondition;

/// The start of the names of a process's memory counters.
pub(super) const MEMORY: &str = "memory";

/// Returns the counters of an event, if it has any.
pub(super) fn cpu_times(event: &EventJson<'_>) -> Option<CpuTimes> {
    data_of(event).filter(|times| *times != CpuTimes::default())
}

/// Returns the collections that a heartbeat or the end of a recording tells.
pub(super) fn collections_of_flush(event: &EventJson<'_>) -> Option<CollectionTotals> {
    #[derive(Deserialize)]
    struct FlushData {
        gc: CollectionTotals,
    }
    data_of::<FlushData>(event).map(|data| data.gc)
}

/// Returns the gap that a heartbeat ends.
pub(super) fn lost_time(event: &EventJson<'_>) -> Option<LostTime> {
    if event.args?.contains("lostUs") { data_of(event) } else { None }
}

/// Returns what TypeScript's compiler worked on, if a span of the program tells that.
pub(super) fn compiler_span(event: &EventJson<'_>) -> Option<CompilerSpan> {
    #[derive(Deserialize)]
    struct SpanData {
        typescript: CompilerSpan,
    }
    if !event.args?.contains("\"typescript\":") {
        return None;
    }
    data_of::<SpanData>(event).map(|data| data.typescript)
}

/// Returns the condition that a mark tells; none for texts that no condition of ours has.
pub(super) fn met_condition(event: &EventJson<'_>) -> Option<MetCondition> {
    #[derive(Deserialize)]
    struct MarkData {
        condition: MetCondition,
    }
    let MarkData { condition } = data_of(event)?;
    condition.is_short().then_some(condition)
}

/// Returns `args.data`, if it has the members of `T`.
pub(super) fn data_of<T: DeserializeOwned>(event: &EventJson<'_>) -> Option<T> {
    #[derive(Deserialize)]
    struct DataArgs<T> {
        data: T,
    }
    let DataArgs { data } = serde_json::from_str(event.args?).ok()?;
    Some(data)
}

/// Returns the totals of one collection of any writer.
pub(super) fn collection(event: &EventJson<'_>) -> CollectionTotals {
    let us = event.dur.and_then(|dur| u64::try_from(dur).ok()).unwrap_or_default();
    let major = u64::from(event.name == "MajorGC");
    CollectionTotals { minor: 1 - major, major, us, longest_us: us }
}

/// Returns what native threads used; none for a time that does not run forward.
pub(super) fn native_threads(event: &EventJson<'_>) -> Option<NativeSpan> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NativeData {
        span_us: i64,
        threads: Vec<NativeUse>,
    }
    let NativeData { span_us, mut threads } = data_of(event)?;
    let to_us = event.ts.0;
    threads.retain(|NativeUse(_, count, us)| *count > 0 && *us > 0);
    let from_us = to_us.checked_sub(span_us)?;
    (span_us > 0 && !threads.is_empty()).then_some(NativeSpan { from_us, to_us, threads })
}

/// Returns the memory that a counter of ours tells; none for a counter of the program.
pub(super) fn memory(event: &EventJson<'_>) -> Option<MemoryUse> {
    let args = event.args.filter(|_| event.phase == b'C')?;
    serde_json::from_str(args).ok()
}
