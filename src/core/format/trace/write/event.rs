//! The events that this crate writes.

use serde::Serialize;

use super::event_args::{Args, ChunkSamples, Data, ProcessFrame, ProfileChunk, TraceEnd};
use crate::base::system::cpu_times::CpuTimes;
use crate::format::trace::ours::PROFILER;

/// The category of the events that DevTools' timeline reads.
const TIMELINE: &str = "disabled-by-default-devtools.timeline";
/// The category of names.
const METADATA: &str = "__metadata";

/// The most samples of a chunk. DevTools fails at 125,000; small chunks also keep the loss small
/// when a file is torn.
pub const SAMPLES_PER_CHUNK: usize = 1000;

/// The thread and the time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Process id.
    pub pid: u32,
    /// Node's thread id, 0 for the main thread.
    pub tid: u32,
    /// Time by the clock of V8 and Node (CLOCK_MONOTONIC), microseconds.
    pub ts: i64,
}

/// One event.
#[derive(Debug, Serialize)]
pub struct Event<'a> {
    /// Categories, with commas between them. DevTools chooses events by category.
    cat: &'a str,
    name: &'a str,
    /// Phase: `I` a moment (DevTools does not count the small `i` of newer writers), `P` a profile
    /// of V8, `M` a name, `X` a time with a start and a length, `b` and `e` the start and the end of
    /// a time that is on no thread, `C` values over time, which Perfetto draws.
    ph: &'static str,
    /// The scope of a moment: a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    /// Id of a profile: unique in the whole trace, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    /// Id of a time that is on no thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    id2: Option<LocalId<'a>>,
    pid: u32,
    tid: u32,
    ts: i64,
    /// Duration, microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<i64>,
    args: Args<'a>,
}

/// An id that is unique in the whole trace, hexadecimal.
#[derive(Debug, Serialize)]
struct LocalId<'a> {
    local: &'a str,
}

impl<'a> Event<'a> {
    /// Returns `TracingStartedInBrowser`, which announces the first process.
    pub fn tracing_started(tid: u32, ts: i64, frame: ProcessFrame<'a>) -> Self {
        let data =
            Data::TracingStarted { frame_tree_node_id: 1, persistent_ids: true, frames: [frame] };
        let args = Args::Data { data };
        Self::instant("TracingStartedInBrowser", At { pid: frame.process_id, tid, ts }, args)
    }

    /// Returns `FrameCommittedInBrowser`, which announces one more process.
    pub fn frame_committed(ts: i64, frame: ProcessFrame<'a>) -> Self {
        let args = Args::Data { data: Data::FrameCommitted(frame) };
        Self::instant("FrameCommittedInBrowser", At { pid: frame.process_id, tid: 0, ts }, args)
    }

    /// Returns the name of a process.
    pub fn process_name(pid: u32, name: &'a str) -> Self {
        Self::metadata("process_name", At { pid, tid: 0, ts: 0 }, Args::Name { name })
    }

    /// Returns the labels of a process, which Perfetto shows.
    pub fn process_labels(pid: u32, labels: &'a str) -> Self {
        Self::metadata("process_labels", At { pid, tid: 0, ts: 0 }, Args::Labels { labels })
    }

    /// Returns the place of a process, for Perfetto.
    pub fn process_sort_index(pid: u32, sort_index: usize) -> Self {
        Self::metadata(
            "process_sort_index",
            At { pid, tid: 0, ts: 0 },
            Args::SortIndex { sort_index },
        )
    }

    /// Returns the place of a thread in its process, for Perfetto.
    pub fn thread_sort_index(pid: u32, tid: u32, sort_index: usize) -> Self {
        Self::metadata("thread_sort_index", At { pid, tid, ts: 0 }, Args::SortIndex { sort_index })
    }

    /// Returns a name of a thread. The time orders the names of one thread.
    pub fn thread_name(at: At, name: &'a str) -> Self {
        Self::metadata("thread_name", at, Args::Name { name })
    }

    /// Returns the marker of a thread's start.
    pub fn thread_start(at: At, cpu: Option<CpuTimes>) -> Self {
        let args = cpu.map_or(Args::Empty {}, |cpu| Args::Data { data: Data::CpuTimes(cpu) });
        Self::instant("thread.start", at, args)
    }

    /// Returns the marker of a recording's end.
    pub fn trace_end(at: At, end: Option<TraceEnd>) -> Self {
        let args = end.map_or(Args::Empty {}, |end| Args::Data { data: Data::End(end) });
        Self::instant("trace.end", at, args)
    }

    /// Returns the start of a profile.
    pub fn profile(id: &'a str, at: At) -> Self {
        Self::sample("Profile", id, at, Data::Profile { start_time: at.ts })
    }

    /// Returns a part of a profile, at the time of its last sample.
    pub fn profile_chunk(
        id: &'a str,
        at: At,
        cpu_profile: ProfileChunk<'a>,
        samples: &'a ChunkSamples,
    ) -> Self {
        let data = Data::ProfileChunk { cpu_profile, samples };
        Self::sample("ProfileChunk", id, at, data)
    }

    /// Returns a moment.
    pub(super) fn instant(name: &'a str, at: At, args: Args<'a>) -> Self {
        Self::new("I", TIMELINE, name, at, args)
    }

    fn sample(name: &'a str, id: &'a str, at: At, data: Data<'a>) -> Self {
        let event = Self::new("P", PROFILER, name, at, Args::Data { data });
        Self { id: Some(id), ..event }
    }

    fn metadata(event: &'a str, at: At, args: Args<'a>) -> Self {
        Self::new("M", METADATA, event, at, args)
    }

    /// Returns a moment that is drawn by another category.
    pub(super) fn moment(cat: &'a str, name: &'a str, at: At, args: Args<'a>) -> Self {
        Self::new("I", cat, name, at, args)
    }

    /// Returns a time with a length, microseconds.
    pub(super) fn complete(cat: &'a str, name: &'a str, at: At, dur: i64, args: Args<'a>) -> Self {
        Self { dur: Some(dur), ..Self::new("X", cat, name, at, args) }
    }

    /// Returns values over time.
    pub(super) fn counter(cat: &'a str, name: &'a str, at: At, args: Args<'a>) -> Self {
        Self::new("C", cat, name, at, args)
    }

    /// Returns the start of a time that is on no thread, by its id.
    pub(super) fn begin(cat: &'a str, name: &'a str, at: At, id: &'a str, args: Args<'a>) -> Self {
        Self { id2: Some(LocalId { local: id }), ..Self::new("b", cat, name, at, args) }
    }

    /// Returns the end of a time that is on no thread, by its id.
    pub(super) fn end(cat: &'a str, name: &'a str, at: At, id: &'a str) -> Self {
        let event = Self::new("e", cat, name, at, Args::Empty {});
        Self { id2: Some(LocalId { local: id }), ..event }
    }

    fn new(
        ph: &'static str,
        cat: &'a str,
        name: &'a str,
        At { pid, tid, ts }: At,
        args: Args<'a>,
    ) -> Self {
        let s = (ph == "I").then_some("t");
        Self { cat, name, ph, s, id: None, id2: None, pid, tid, ts, dur: None, args }
    }
}
