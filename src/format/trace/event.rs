//! The events that this crate writes.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::base::cpu_times::CpuTimes;
use crate::format::script_id::as_string;
use crate::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use crate::profile::collection::MemoryUse;
use crate::profile::position::SourcePosition;

/// The category of the events that DevTools' timeline reads.
pub(super) const TIMELINE: &str = "disabled-by-default-devtools.timeline";
/// The category of V8's profiles.
const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";
/// The category of names.
const METADATA: &str = "__metadata";

/// The most samples of a chunk. DevTools fails at 125,000; small chunks also keep the loss small
/// when a file is torn.
pub(crate) const SAMPLES_PER_CHUNK: usize = 1000;

/// One event.
#[derive(Debug)]
pub(crate) struct Event<'a> {
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
pub(crate) enum Phase<'a> {
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
    /// `C`: values over time, which Perfetto draws.
    Counter,
}

/// `args`, in the shapes that DevTools reads.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Args<'a> {
    /// `{}`
    Empty {},
    /// `process_name`, `thread_name`.
    Name {
        /// Name of the process or thread.
        name: &'a str,
    },
    /// `process_labels`: what Perfetto shows beside the name.
    Labels {
        /// Labels, separated by commas.
        labels: &'a str,
    },
    /// `process_sort_index`, `thread_sort_index`: Perfetto's order, the smallest first.
    SortIndex {
        /// Place in the order.
        sort_index: usize,
    },
    /// `MinorGC`, `MajorGC`
    #[serde(rename_all = "camelCase")]
    Collection {
        /// Kind, unless the name tells it.
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<&'a str>,
        /// Used heap at the start, bytes.
        used_heap_size_before: u64,
        /// Used heap at the end, bytes.
        used_heap_size_after: u64,
    },
    /// `memory`
    Memory(MemoryUse),
    /// All other arguments, which DevTools expects under `data`.
    Data {
        /// The arguments.
        data: Data<'a>,
    },
}

impl Args<'_> {
    fn cpu_times(cpu: Option<CpuTimes>) -> Self {
        match cpu {
            Some(cpu) => Self::Data { data: Data::CpuTimes(cpu) },
            None => Self::Empty {},
        }
    }
}

/// `args.data`
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Data<'a> {
    /// `TracingStartedInBrowser`: makes DevTools show the trace with all its tracks.
    #[serde(rename_all = "camelCase")]
    TracingStarted {
        /// Any number.
        frame_tree_node_id: u32,
        /// Always true: `frame` identifies a frame.
        persistent_ids: bool,
        /// The frame of the first process.
        frames: [ProcessFrame<'a>; 1],
    },
    /// `FrameCommittedInBrowser`: announces one more process.
    FrameCommitted(ProcessFrame<'a>),
    /// `Profile`
    #[serde(rename_all = "camelCase")]
    Profile {
        /// Start of the profile, microseconds. The first time delta counts from here.
        start_time: i64,
    },
    /// `ProfileChunk`
    #[serde(rename_all = "camelCase")]
    ProfileChunk {
        /// New nodes and samples.
        cpu_profile: ProfileChunk<'a>,
        /// Time before each sample, microseconds.
        time_deltas: &'a [i64],
        /// Line of each sample, from 1; 0 for none.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        lines: &'a [u32],
        /// Column of each sample, from 1; 0 for none.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        columns: &'a [u32],
    },
    /// `ScriptSourceMap`: the map of a script whose code is in no file.
    #[serde(rename_all = "camelCase")]
    ScriptSourceMap {
        /// The script's id, as in the frames.
        #[serde(serialize_with = "as_string")]
        script_id: u64,
        /// The script's URL, as in the frames.
        url: &'a str,
        /// The map, without the texts of the sources.
        source_map: &'a RawValue,
    },
    /// `UpdateCounters`: DevTools' memory graph.
    #[serde(rename_all = "camelCase")]
    Counters {
        /// Used heap, bytes.
        js_heap_size_used: u64,
    },
    /// `thread.flush`, the heartbeat.
    Flush(Flush),
    /// `thread.start` and `trace.end`: the CPU times at the start and at the end.
    CpuTimes(CpuTimes),
}

/// The facts of a heartbeat.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Flush {
    /// Time that the rotation took on the program's own thread, microseconds; none if the thread
    /// has waited for events since the last rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_us: Option<u64>,
    /// Count of restarts so far, each because V8's sampling got stuck.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// CPU times up to now.
    #[serde(flatten)]
    pub cpu: CpuTimes,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A frame of Chrome's pages, which DevTools shows as a process. The label is the frame's `url`.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessFrame<'a> {
    frame: &'a str,
    is_in_primary_main_frame: bool,
    is_outermost_main_frame: bool,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    process_id: u32,
    url: &'a str,
}

impl<'a> ProcessFrame<'a> {
    /// The id of the frame that all processes share.
    pub(crate) const ROOT: &'static str = "NODE";

    /// Returns the frame of a process. All processes share one frame, [`Self::ROOT`], and DevTools
    /// shows each as 'Main', the one with the most entries first. Beside a trace of Chrome they have
    /// frames below that of the page, `parent`, and DevTools shows them as 'Frame'. `label` has to
    /// parse as a URL.
    pub(crate) fn new(frame: &'a str, parent: Option<&'a str>, pid: u32, label: &'a str) -> Self {
        Self {
            frame,
            is_in_primary_main_frame: true,
            is_outermost_main_frame: parent.is_none(),
            name: "",
            parent,
            process_id: pid,
            url: label,
        }
    }
}

/// The nodes that samples refer to for the first time, and the samples.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ProfileChunk<'a> {
    /// Nodes, parents before children; no id twice in a trace.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nodes: &'a [ChunkNode<'a>],
    /// Node ids.
    pub samples: &'a [u32],
}

/// A new call-tree node.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChunkNode<'a> {
    /// Id in the profile.
    pub id: u32,
    /// Id of the parent; none for the root. Never `children`: DevTools would ignore every later
    /// `parent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Call frame, encoded.
    pub call_frame: &'a RawValue,
    /// Reason why V8 does not optimize the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deopt_reason: Option<&'a str>,
}

/// The times and positions of a chunk's samples.
#[derive(Debug, Default)]
pub(crate) struct ChunkSamples {
    deltas: Vec<i64>,
    lines: Vec<u32>,
    columns: Vec<u32>,
    has_lines: bool,
}

impl ChunkSamples {
    /// Adds a sample: microseconds since the sample before, and a position.
    pub(crate) fn push(&mut self, delta_us: i64, SourcePosition { line, column }: SourcePosition) {
        self.deltas.push(delta_us);
        self.lines.push(line);
        // DevTools skips a line without a column.
        self.columns.push(if line > 0 { column.max(1) } else { 0 });
        self.has_lines |= line > 0;
    }

    /// Removes all samples.
    pub(crate) fn clear(&mut self) {
        self.deltas.clear();
        self.lines.clear();
        self.columns.clear();
        self.has_lines = false;
    }
}

impl<'a> Event<'a> {
    /// Returns `TracingStartedInBrowser`, which announces the first process.
    pub(crate) fn tracing_started(tid: u32, ts: i64, frame: ProcessFrame<'a>) -> Self {
        let data =
            Data::TracingStarted { frame_tree_node_id: 1, persistent_ids: true, frames: [frame] };
        let args = Args::Data { data };
        Self::instant("TracingStartedInBrowser", frame.process_id, tid, ts, args)
    }

    /// Returns `FrameCommittedInBrowser`, which announces one more process.
    pub(crate) fn frame_committed(ts: i64, frame: ProcessFrame<'a>) -> Self {
        let args = Args::Data { data: Data::FrameCommitted(frame) };
        Self::instant("FrameCommittedInBrowser", frame.process_id, 0, ts, args)
    }

    /// Returns the name of a process.
    pub(crate) fn process_name(pid: u32, name: &'a str) -> Self {
        Self::metadata("process_name", pid, 0, 0, name)
    }

    /// Returns the labels of a process, which Perfetto shows.
    pub(crate) fn process_labels(pid: u32, labels: &'a str) -> Self {
        Self::metadata_of("process_labels", pid, 0, 0, Args::Labels { labels })
    }

    /// Returns the place of a process, for Perfetto.
    pub(crate) fn process_sort_index(pid: u32, sort_index: usize) -> Self {
        Self::metadata_of("process_sort_index", pid, 0, 0, Args::SortIndex { sort_index })
    }

    /// Returns the place of a thread in its process, for Perfetto.
    pub(crate) fn thread_sort_index(pid: u32, tid: u32, sort_index: usize) -> Self {
        Self::metadata_of("thread_sort_index", pid, tid, 0, Args::SortIndex { sort_index })
    }

    /// Returns a name of a thread. `ts` orders the names of one thread.
    pub(crate) fn thread_name(pid: u32, tid: u32, ts: i64, name: &'a str) -> Self {
        Self::metadata("thread_name", pid, tid, ts, name)
    }

    /// Returns the marker of a thread's start.
    pub(crate) fn thread_start(pid: u32, tid: u32, ts: i64, cpu: Option<CpuTimes>) -> Self {
        Self::instant("thread.start", pid, tid, ts, Args::cpu_times(cpu))
    }

    /// Returns the heartbeat of a thread, which extends the visible range.
    pub(crate) fn thread_flush(pid: u32, tid: u32, ts: i64, flush: Flush) -> Self {
        Self::instant("thread.flush", pid, tid, ts, Args::Data { data: Data::Flush(flush) })
    }

    /// Returns the marker of a recording's end.
    pub(crate) fn trace_end(pid: u32, tid: u32, ts: i64, cpu: Option<CpuTimes>) -> Self {
        Self::instant("trace.end", pid, tid, ts, Args::cpu_times(cpu))
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
    pub(crate) fn profile(id: &'a str, pid: u32, tid: u32, start_us: i64) -> Self {
        Self::sample("Profile", id, pid, tid, start_us, Data::Profile { start_time: start_us })
    }

    /// Returns a part of a profile. `ts` is the time of the last sample.
    pub(crate) fn profile_chunk(
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
