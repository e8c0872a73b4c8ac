//! The events that this crate writes, as types.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// One event.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// Comma-separated categories; DevTools goes by them.
    pub cat: &'a str,
    /// The event's name.
    pub name: &'a str,
    /// What kind of event, and the fields that only this kind has.
    pub phase: Phase<'a>,
    /// The process's own id.
    pub pid: u32,
    /// Node's thread id, 0 for the main thread.
    pub tid: u32,
    /// Microseconds; V8's and Node's clock (CLOCK_MONOTONIC).
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
        /// The profile's id: unique in the whole trace, hexadecimal.
        id: &'a str,
    },
    /// `M`: names of processes and threads.
    Metadata,
}

/// `args`, in the shapes that DevTools reads.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Args<'a> {
    /// `{}`
    Empty {},
    /// `process_name`, `thread_name`.
    Name {
        /// The name.
        name: &'a str,
    },
    /// Everything that DevTools keeps under `data`.
    Data {
        /// The data.
        data: Data<'a>,
    },
}

/// `args.data`
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Data<'a> {
    /// `TracingStartedInBrowser`: makes the trace one that DevTools shows with all its tracks.
    #[serde(rename_all = "camelCase")]
    TracingStarted {
        /// Any number.
        frame_tree_node_id: u32,
        /// Always true: frames are told apart by `frame`.
        persistent_ids: bool,
        /// One frame a process.
        frames: [ProcessFrame<'a>; 1],
    },
    /// `FrameCommittedInBrowser`: announces one more process.
    FrameCommitted(ProcessFrame<'a>),
    /// `Profile`
    #[serde(rename_all = "camelCase")]
    Profile {
        /// Microseconds; the first time delta counts from here.
        start_time: i64,
    },
    /// `ProfileChunk`
    #[serde(rename_all = "camelCase")]
    ProfileChunk {
        /// New nodes and samples.
        cpu_profile: ProfileChunk<'a>,
        /// Microseconds before each sample.
        time_deltas: &'a [i64],
    },
    /// A heartbeat.
    Flush(Flush),
}

/// What taking a window cost.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Flush {
    /// Microseconds that the rotation took on the program's own thread.
    pub pause_us: u64,
    /// How often V8's sampling got stuck so far, and was started anew.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What DevTools takes a process from: its label is the frame's `url`.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessFrame<'a> {
    /// `NODE` in the first process, and in every file of one thread.
    pub frame: &'a str,
    /// Always true.
    pub is_in_primary_main_frame: bool,
    /// Whether it is the first process's.
    pub is_outermost_main_frame: bool,
    /// The first process's frame, for all others: DevTools then shows that process first, as
    /// 'Main', and them as 'Frame'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'a str>,
    /// Empty.
    pub name: &'a str,
    /// The process.
    pub process_id: u32,
    /// The label; it has to parse as a URL.
    pub url: &'a str,
}

/// The nodes that samples refer to for the first time, and the samples.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ProfileChunk<'a> {
    /// Parents before children; no id twice in a trace.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nodes: &'a [ChunkNode<'a>],
    /// Node ids.
    pub samples: &'a [u32],
}

/// A call-tree node, announced.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChunkNode<'a> {
    /// Its id in the profile.
    pub id: u32,
    /// None for the root. Never `children`: DevTools would ignore every later `parent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Where it is: a [`CallFrameJson`], encoded.
    pub call_frame: &'a RawValue,
}

/// A call frame as the DevTools protocol has it.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallFrameJson<'a> {
    /// Empty for an anonymous function.
    pub function_name: &'a str,
    /// A number, as a string.
    pub script_id: &'a str,
    /// A URL.
    pub url: &'a str,
    /// From 0.
    pub line_number: i32,
    /// From 0.
    pub column_number: i32,
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
        }
        map.serialize_entry("pid", &self.pid)?;
        map.serialize_entry("tid", &self.tid)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("args", &self.args)?;
        map.end()
    }
}
