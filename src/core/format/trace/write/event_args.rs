//! The arguments of the events that this crate writes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::base::system::cpu_times::CpuTimes;
use crate::format::script_id::as_string;
use crate::profile::cpu_use::{NativeUse, UnrecordedPrograms};
use crate::profile::ending::ProcessEnding;
use crate::profile::gap::LostTime;
use crate::profile::gc::{CollectionTotals, MemoryUse};
use crate::profile::label_table::LabelSet;
use crate::profile::met_condition::MetCondition;
use crate::profile::position::SourcePosition;
use crate::profile::window::ComparedStacks;

/// `args`, in the shapes that DevTools reads.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Args<'a> {
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
    /// The start of a user timing.
    Timing(TimingArgs<'a>),
    /// All other arguments, which DevTools expects under `data`.
    Data {
        /// The arguments.
        data: Data<'a>,
    },
}

/// `args.data`
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Data<'a> {
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
        /// Times and positions of the samples.
        #[serde(flatten)]
        samples: &'a ChunkSamples,
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
    /// A mark of the user timings.
    Mark(TimingArgs<'a>),
    /// A condition that was met, as a mark.
    MetCondition {
        /// The mark.
        #[serde(flatten)]
        timing: TimingArgs<'a>,
        /// The condition.
        condition: &'a MetCondition,
    },
    /// `UpdateCounters`: DevTools' memory graph.
    #[serde(rename_all = "camelCase")]
    Counters {
        /// Used heap, bytes.
        js_heap_size_used: u64,
    },
    /// `thread.flush`, the heartbeat.
    Flush(Flush),
    /// `native.threads`
    #[serde(rename_all = "camelCase")]
    NativeThreads {
        /// Time that the counts are of, which ends now: microseconds.
        span_us: i64,
        /// Threads by their names.
        threads: &'a [NativeUse],
    },
    /// `programs.unrecorded`
    UnrecordedPrograms(UnrecordedPrograms),
    /// `TimeStamp`: a span in a track of its own.
    TimeStamp {
        /// Name.
        message: &'a str,
        /// Name in the track.
        name: &'a str,
        /// Start, microseconds.
        start: i64,
        /// End, microseconds.
        end: i64,
        /// Track.
        track: &'a str,
        /// Group of the track, if there is one.
        #[serde(rename = "trackGroup", skip_serializing_if = "Option::is_none")]
        track_group: Option<&'a str>,
        /// One of DevTools' colours.
        color: &'a str,
        /// JSON with the rows of the details.
        devtools: &'a str,
    },
    /// `thread.start`: the CPU times at the start.
    CpuTimes(CpuTimes),
    /// `trace.end`
    End(TraceEnd),
}

/// The arguments of a user timing.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimingArgs<'a> {
    /// Start by the timing's own clock, milliseconds.
    pub start_time: f64,
    /// JSON as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'a str>,
}

/// The facts of a recording's end.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct TraceEnd {
    /// Collections since the last flush, if there were any.
    #[serde(rename = "gc", skip_serializing_if = "Option::is_none")]
    pub collections: Option<CollectionTotals>,
    /// CPU times at the end.
    #[serde(flatten)]
    pub cpu: CpuTimes,
    /// How the process ends, if it does.
    #[serde(flatten)]
    pub ending: ProcessEnding,
}

/// The facts of a heartbeat.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flush {
    /// Time that the rotation took on the program's own thread, microseconds; none if the thread
    /// has waited for events since the last rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_us: Option<u64>,
    /// Count of restarts so far, each because V8's sampling got stuck.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Collections since the last flush, if there were any.
    #[serde(rename = "gc", skip_serializing_if = "Option::is_none")]
    pub collections: Option<CollectionTotals>,
    /// Stacks of the walk that were compared with V8's own, since the start.
    #[serde(rename = "comparedStacks", skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedStacks>,
    /// CPU times up to now.
    #[serde(flatten)]
    pub cpu: CpuTimes,
    /// The gap that ends now, in which the file could not be written.
    #[serde(flatten)]
    pub lost: Option<LostTime>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A frame of Chrome's pages, which DevTools shows as a process. The label is the frame's `url`.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessFrame<'a> {
    frame: &'a str,
    is_in_primary_main_frame: bool,
    is_outermost_main_frame: bool,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    pub(super) process_id: u32,
    url: &'a str,
}

impl<'a> ProcessFrame<'a> {
    /// The id of the frame that all processes share.
    pub const ROOT: &'static str = "NODE";

    /// Returns the frame of a process. All processes share one frame, [`Self::ROOT`], and DevTools
    /// shows each as 'Main', the one with the most entries first. Beside a trace of Chrome they have
    /// frames below that of the page, `parent`, and DevTools shows them as 'Frame'. `label` has to
    /// parse as a URL.
    pub fn new(frame: &'a str, parent: Option<&'a str>, pid: u32, label: &'a str) -> Self {
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
pub struct ProfileChunk<'a> {
    /// Nodes, parents before children; no id twice in a trace.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nodes: &'a [ChunkNode<'a>],
    /// Node ids.
    pub samples: &'a [u32],
}

/// A new call-tree node.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkNode<'a> {
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
#[derive(Debug, Default, serde::Serialize)]
pub struct ChunkSamples {
    /// Time before each sample, microseconds.
    #[serde(rename = "timeDeltas")]
    deltas: Vec<i64>,
    /// Line of each sample, from 1; 0 for none.
    #[serde(skip_serializing_if = "are_zero")]
    lines: Vec<u32>,
    /// Column of each sample, from 1; 0 for none.
    #[serde(skip_serializing_if = "are_zero")]
    columns: Vec<u32>,
    /// Id of each sample's label set; 0 for none.
    #[serde(skip_serializing_if = "are_zero")]
    labels: Vec<u32>,
    /// Label sets that the profile has for the first time, by their ids.
    #[serde(rename = "labelSets", skip_serializing_if = "BTreeMap::is_empty")]
    label_sets: BTreeMap<u32, LabelSet>,
}

fn are_zero(numbers: &[u32]) -> bool {
    numbers.iter().all(is_zero)
}

impl ChunkSamples {
    /// Adds a sample: microseconds since the sample before, a position, and the id of a label set.
    pub fn push(
        &mut self,
        delta_us: i64,
        SourcePosition { line, column }: SourcePosition,
        labels: u32,
    ) {
        self.labels.push(labels);
        self.deltas.push(delta_us);
        self.lines.push(line);
        // DevTools skips a line without a column.
        self.columns.push(if line > 0 { column.max(1) } else { 0 });
    }

    /// Announces a label set.
    pub fn announce(&mut self, id: u32, set: LabelSet) {
        self.label_sets.insert(id, set);
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.deltas.clear();
        self.lines.clear();
        self.columns.clear();
        self.labels.clear();
        self.label_sets.clear();
    }
}
