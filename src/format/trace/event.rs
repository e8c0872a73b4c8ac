//! The events of the Trace Event Format as types: every phase, and the arguments of those that
//! this crate writes itself.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// One event.
#[derive(Debug)]
pub struct Event<'a> {
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

/// The phases of the format (`ph`), each with its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase<'a> {
    /// `B`
    Begin,
    /// `E`
    End,
    /// `X`: begin and end in one.
    Complete {
        /// Microseconds.
        dur: i64,
    },
    /// `I`: DevTools does not count the small `i` of newer writers.
    Instant(Scope),
    /// `C`
    Counter {
        /// Tells counters of one name apart.
        id: Option<&'a str>,
    },
    /// `b`
    AsyncBegin(Id<'a>),
    /// `n`
    AsyncInstant(Id<'a>),
    /// `e`
    AsyncEnd(Id<'a>),
    /// `S`: the older form of `b`.
    LegacyAsyncBegin(Id<'a>),
    /// `T`
    LegacyAsyncStepInto(Id<'a>),
    /// `p`
    LegacyAsyncStepPast(Id<'a>),
    /// `F`
    LegacyAsyncEnd(Id<'a>),
    /// `s`
    FlowStart(Id<'a>),
    /// `t`
    FlowStep(Id<'a>),
    /// `f`
    FlowEnd {
        /// The flow.
        id: Id<'a>,
        /// `bp: "e"`: ends in the enclosing slice, not in the next.
        enclosing: bool,
    },
    /// `P`: the Profile and ProfileChunk events of V8.
    Sample {
        /// The profile's id: unique in the whole trace, hexadecimal.
        id: &'a str,
    },
    /// `N`
    ObjectCreated(Id<'a>),
    /// `O`
    ObjectSnapshot(Id<'a>),
    /// `D`
    ObjectDestroyed(Id<'a>),
    /// `M`: names of processes and threads.
    Metadata,
    /// `V`
    GlobalMemoryDump(Id<'a>),
    /// `v`
    ProcessMemoryDump(Id<'a>),
    /// `R`: navigation timing marks.
    Mark,
    /// `c`
    ClockSync,
    /// `(`
    ContextEnter(Id<'a>),
    /// `)`
    ContextLeave(Id<'a>),
}

/// How far an instant event reaches (`s`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `g`
    Global,
    /// `p`
    Process,
    /// `t`
    Thread,
}

/// How events of one operation find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id<'a> {
    /// `id`: unique in the trace for its category.
    Plain(&'a str),
    /// `id2.local`: unique in its process.
    Local(&'a str),
    /// `id2.global`: unique in the trace.
    Global(&'a str),
}

/// `args`, in the shapes that DevTools reads.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Args<'a> {
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
    /// An event of somebody else's, or of a kind without a type here.
    Raw(&'a RawValue),
}

/// `args.data`
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Data<'a> {
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
pub struct Flush {
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
pub struct ProcessFrame<'a> {
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
pub struct ProfileChunk<'a> {
    /// Parents before children; no id twice in a trace.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nodes: &'a [ChunkNode<'a>],
    /// Node ids.
    pub samples: &'a [u32],
}

/// A call-tree node, announced.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkNode<'a> {
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
pub struct CallFrameJson<'a> {
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

impl Phase<'_> {
    /// `ph`
    pub fn letter(&self) -> &'static str {
        match self {
            Phase::Begin => "B",
            Phase::End => "E",
            Phase::Complete { .. } => "X",
            Phase::Instant(_) => "I",
            Phase::Counter { .. } => "C",
            Phase::AsyncBegin(_) => "b",
            Phase::AsyncInstant(_) => "n",
            Phase::AsyncEnd(_) => "e",
            Phase::LegacyAsyncBegin(_) => "S",
            Phase::LegacyAsyncStepInto(_) => "T",
            Phase::LegacyAsyncStepPast(_) => "p",
            Phase::LegacyAsyncEnd(_) => "F",
            Phase::FlowStart(_) => "s",
            Phase::FlowStep(_) => "t",
            Phase::FlowEnd { .. } => "f",
            Phase::Sample { .. } => "P",
            Phase::ObjectCreated(_) => "N",
            Phase::ObjectSnapshot(_) => "O",
            Phase::ObjectDestroyed(_) => "D",
            Phase::Metadata => "M",
            Phase::GlobalMemoryDump(_) => "V",
            Phase::ProcessMemoryDump(_) => "v",
            Phase::Mark => "R",
            Phase::ClockSync => "c",
            Phase::ContextEnter(_) => "(",
            Phase::ContextLeave(_) => ")",
        }
    }

    fn serialize_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match *self {
            Phase::Begin | Phase::End | Phase::Metadata | Phase::Mark | Phase::ClockSync => Ok(()),
            Phase::Complete { dur } => map.serialize_entry("dur", &dur),
            Phase::Instant(Scope::Global) => map.serialize_entry("s", "g"),
            Phase::Instant(Scope::Process) => map.serialize_entry("s", "p"),
            Phase::Instant(Scope::Thread) => map.serialize_entry("s", "t"),
            Phase::Counter { id: None } => Ok(()),
            Phase::Counter { id: Some(id) } | Phase::Sample { id } => map.serialize_entry("id", id),
            Phase::FlowEnd { id, enclosing } => {
                id.serialize_field(map)?;
                if enclosing { map.serialize_entry("bp", "e") } else { Ok(()) }
            }
            Phase::AsyncBegin(id)
            | Phase::AsyncInstant(id)
            | Phase::AsyncEnd(id)
            | Phase::LegacyAsyncBegin(id)
            | Phase::LegacyAsyncStepInto(id)
            | Phase::LegacyAsyncStepPast(id)
            | Phase::LegacyAsyncEnd(id)
            | Phase::FlowStart(id)
            | Phase::FlowStep(id)
            | Phase::ObjectCreated(id)
            | Phase::ObjectSnapshot(id)
            | Phase::ObjectDestroyed(id)
            | Phase::GlobalMemoryDump(id)
            | Phase::ProcessMemoryDump(id)
            | Phase::ContextEnter(id)
            | Phase::ContextLeave(id) => id.serialize_field(map),
        }
    }
}

impl Id<'_> {
    fn serialize_field<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        enum Id2<'a> {
            Local(&'a str),
            Global(&'a str),
        }
        match *self {
            Id::Plain(id) => map.serialize_entry("id", id),
            Id::Local(id) => map.serialize_entry("id2", &Id2::Local(id)),
            Id::Global(id) => map.serialize_entry("id2", &Id2::Global(id)),
        }
    }
}

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cat", self.cat)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("ph", self.phase.letter())?;
        self.phase.serialize_fields(&mut map)?;
        map.serialize_entry("pid", &self.pid)?;
        map.serialize_entry("tid", &self.tid)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("args", &self.args)?;
        map.end()
    }
}
