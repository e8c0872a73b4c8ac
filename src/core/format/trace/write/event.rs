//! The events that this crate writes.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::event_args::{Args, ChunkSamples, Data, Flush, ProcessFrame, ProfileChunk, TraceEnd};
use crate::base::system::cpu_times::CpuTimes;
use crate::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use crate::format::trace::ours::PROFILER;

/// The category of the events that DevTools' timeline reads.
const TIMELINE: &str = "disabled-by-default-devtools.timeline";
/// The category of names.
const METADATA: &str = "__metadata";

/// The most samples of a chunk. DevTools fails at 125,000; small chunks also keep the loss small
/// when a file is torn.
pub const SAMPLES_PER_CHUNK: usize = 1000;

/// One event.
#[derive(Debug)]
pub struct Event<'a> {
    /// Categories, with commas between them. DevTools chooses events by category.
    pub cat: &'a str,
    /// Name.
    pub name: &'a str,
    /// Kind of event, with the fields that only this kind has.
    pub phase: Phase<'a>,
    /// Process id.
    pub pid: u32,
    /// Node's thread id, 0 for the main thread.
    pub tid: u32,
    /// Time by the clock of V8 and Node (CLOCK_MONOTONIC), microseconds.
    pub ts: i64,
    /// `args`
    pub args: Args<'a>,
}

/// The phases (`ph`) of the events that this crate writes, each with its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase<'a> {
    /// `I` with the scope of a thread. DevTools does not count the small `i` of newer writers.
    Instant,
    /// `P`: the Profile and ProfileChunk events of V8.
    Sample {
        /// Id of the profile: unique in the whole trace, hexadecimal.
        id: &'a str,
    },
    /// `M`: names of processes and threads.
    Metadata,
    /// `X`: a time with a start and a length.
    Complete {
        /// Duration, microseconds.
        dur: i64,
    },
    /// `b`: the start of a time that is on no thread.
    AsyncBegin {
        /// Id of the time: unique in the whole trace, hexadecimal.
        id: &'a str,
    },
    /// `e`: its end.
    AsyncEnd {
        /// Id of the time.
        id: &'a str,
    },
    /// `C`: values over time, which Perfetto draws.
    Counter,
}

impl<'a> Event<'a> {
    /// Returns `TracingStartedInBrowser`, which announces the first process.
    pub fn tracing_started(tid: u32, ts: i64, frame: ProcessFrame<'a>) -> Self {
        let data =
            Data::TracingStarted { frame_tree_node_id: 1, persistent_ids: true, frames: [frame] };
        let args = Args::Data { data };
        Self::instant("TracingStartedInBrowser", frame.process_id, tid, ts, args)
    }

    /// Returns `FrameCommittedInBrowser`, which announces one more process.
    pub fn frame_committed(ts: i64, frame: ProcessFrame<'a>) -> Self {
        let args = Args::Data { data: Data::FrameCommitted(frame) };
        Self::instant("FrameCommittedInBrowser", frame.process_id, 0, ts, args)
    }

    /// Returns the name of a process.
    pub fn process_name(pid: u32, name: &'a str) -> Self {
        Self::metadata("process_name", pid, 0, 0, name)
    }

    /// Returns the labels of a process, which Perfetto shows.
    pub fn process_labels(pid: u32, labels: &'a str) -> Self {
        Self::metadata_of("process_labels", pid, 0, 0, Args::Labels { labels })
    }

    /// Returns the place of a process, for Perfetto.
    pub fn process_sort_index(pid: u32, sort_index: usize) -> Self {
        Self::metadata_of("process_sort_index", pid, 0, 0, Args::SortIndex { sort_index })
    }

    /// Returns the place of a thread in its process, for Perfetto.
    pub fn thread_sort_index(pid: u32, tid: u32, sort_index: usize) -> Self {
        Self::metadata_of("thread_sort_index", pid, tid, 0, Args::SortIndex { sort_index })
    }

    /// Returns a name of a thread. `ts` orders the names of one thread.
    pub fn thread_name(pid: u32, tid: u32, ts: i64, name: &'a str) -> Self {
        Self::metadata("thread_name", pid, tid, ts, name)
    }

    /// Returns the marker of a thread's start.
    pub fn thread_start(pid: u32, tid: u32, ts: i64, cpu: Option<CpuTimes>) -> Self {
        Self::instant("thread.start", pid, tid, ts, Args::cpu_times(cpu))
    }

    /// Returns the heartbeat of a thread, which extends the visible range.
    pub(crate) fn thread_flush(pid: u32, tid: u32, ts: i64, flush: Flush) -> Self {
        Self::instant("thread.flush", pid, tid, ts, Args::Data { data: Data::Flush(flush) })
    }

    /// Returns the marker of a recording's end.
    pub fn trace_end(pid: u32, tid: u32, ts: i64, end: Option<TraceEnd>) -> Self {
        let args = end.map_or(Args::Empty {}, |end| Args::Data { data: Data::End(end) });
        Self::instant("trace.end", pid, tid, ts, args)
    }

    /// Returns the source map of a script.
    pub(crate) fn script_source_map(
        pid: u32,
        tid: u32,
        ts: i64,
        (script_id, url): (u64, &'a str),
        source_map: &'a RawValue,
    ) -> Self {
        let data = Data::ScriptSourceMap { script_id, url, source_map };
        Self::instant(SCRIPT_SOURCE_MAP, pid, tid, ts, Args::Data { data })
    }

    /// Returns the start of a profile.
    pub fn profile(id: &'a str, pid: u32, tid: u32, start_us: i64) -> Self {
        Self::sample("Profile", id, pid, tid, start_us, Data::Profile { start_time: start_us })
    }

    /// Returns a part of a profile. `ts` is the time of the last sample.
    pub fn profile_chunk(
        id: &'a str,
        pid: u32,
        tid: u32,
        ts: i64,
        cpu_profile: ProfileChunk<'a>,
        samples: &'a ChunkSamples,
    ) -> Self {
        let ChunkSamples { deltas, lines, columns, has_lines } = samples;
        let positions = |list: &'a [u32]| if *has_lines { list } else { &[] };
        let (lines, columns) = (positions(lines), positions(columns));
        let data = Data::ProfileChunk { cpu_profile, time_deltas: deltas, lines, columns };
        Self::sample("ProfileChunk", id, pid, tid, ts, data)
    }

    fn instant(name: &'a str, pid: u32, tid: u32, ts: i64, args: Args<'a>) -> Self {
        Self { cat: TIMELINE, name, phase: Phase::Instant, pid, tid, ts, args }
    }

    fn sample(name: &'a str, id: &'a str, pid: u32, tid: u32, ts: i64, data: Data<'a>) -> Self {
        let (phase, args) = (Phase::Sample { id }, Args::Data { data });
        Self { cat: PROFILER, name, phase, pid, tid, ts, args }
    }

    fn metadata(event: &'a str, pid: u32, tid: u32, ts: i64, name: &'a str) -> Self {
        Self::metadata_of(event, pid, tid, ts, Args::Name { name })
    }

    fn metadata_of(event: &'a str, pid: u32, tid: u32, ts: i64, args: Args<'a>) -> Self {
        Self { cat: METADATA, name: event, phase: Phase::Metadata, pid, tid, ts, args }
    }
}

/// `id2`
#[derive(serde::Serialize)]
struct LocalId<'a> {
    local: &'a str,
}

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cat", self.cat)?;
        map.serialize_entry("name", self.name)?;
        match self.phase {
            Phase::Instant => {
                map.serialize_entry("ph", "I")?;
                map.serialize_entry("s", "t")?;
            }
            Phase::Sample { id } => {
                map.serialize_entry("ph", "P")?;
                map.serialize_entry("id", id)?;
            }
            Phase::Metadata => map.serialize_entry("ph", "M")?,
            Phase::Complete { .. } => map.serialize_entry("ph", "X")?,
            Phase::Counter => map.serialize_entry("ph", "C")?,
            Phase::AsyncBegin { id } => {
                map.serialize_entry("ph", "b")?;
                map.serialize_entry("id2", &LocalId { local: id })?;
            }
            Phase::AsyncEnd { id } => {
                map.serialize_entry("ph", "e")?;
                map.serialize_entry("id2", &LocalId { local: id })?;
            }
        }
        map.serialize_entry("pid", &self.pid)?;
        map.serialize_entry("tid", &self.tid)?;
        map.serialize_entry("ts", &self.ts)?;
        if let Phase::Complete { dur } = self.phase {
            map.serialize_entry("dur", &dur)?;
        }
        map.serialize_entry("args", &self.args)?;
        map.end()
    }
}
