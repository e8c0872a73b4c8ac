//! `Profile`, `ProfileChunk` and `CpuProfile` events as they are read: ours and Chrome's.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::deltas;
use crate::formats::node_json::NodeJson;
use cpu_prof_core::format::number::{NodeNumber, Number, PlainNumber};
use cpu_prof_core::profile::position::SourcePosition;

/// The data of such an event. Each event has a part of the members.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChunkJson<'a> {
    /// Start of a profile by V8's clock, microseconds. The clock can differ from the trace's.
    pub start_time: Option<PlainNumber>,
    /// End of a profile by V8's clock, microseconds.
    pub end_time: Option<PlainNumber>,
    /// The recorder of a profile.
    pub source: ProfileOrigin,
    /// Nodes and samples.
    #[serde(borrow)]
    pub cpu_profile: Option<ChunkProfile<'a>>,
    time_deltas: Option<Vec<PlainNumber>>,
    /// Lines of the samples, as they are written.
    #[serde(borrow)]
    pub lines: Option<&'a RawValue>,
    /// Columns of the samples, as they are written.
    #[serde(borrow)]
    pub columns: Option<&'a RawValue>,
    /// Ids of the samples' label sets, as they are written.
    #[serde(borrow)]
    pub labels: Option<&'a RawValue>,
    /// Label sets by their ids, as they are written.
    #[serde(borrow)]
    pub label_sets: Option<&'a RawValue>,
}

/// `cpuProfile`, which in a `CpuProfile` event is a whole `.cpuprofile`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChunkProfile<'a> {
    /// Start by the trace's clock, microseconds.
    pub start_time: Option<PlainNumber>,
    /// End by the trace's clock, microseconds.
    pub end_time: Option<PlainNumber>,
    #[serde(borrow)]
    nodes: Option<Vec<NodeJson<'a>>>,
    samples: Option<Vec<NodeNumber>>,
    time_deltas: Option<Vec<PlainNumber>>,
}

/// The recorder of a profile. In Chrome, several can record one thread. DevTools prefers the first
/// of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Default)]
pub enum ProfileOrigin {
    /// DevTools itself, or Node.
    Internal,
    /// Not named.
    #[default]
    Unknown,
    /// `console.profile()`
    Inspector,
    /// A page, which profiles itself.
    SelfProfiling,
    /// Any later one.
    #[serde(other)]
    Other,
}

/// `args`
#[derive(Deserialize)]
struct ChunkArgs<'a> {
    #[serde(borrow, default)]
    data: ChunkJson<'a>,
}

impl<'a> ChunkJson<'a> {
    /// Reads the `args` of an event.
    pub fn from_args(args: Option<&'a str>) -> serde_json::Result<Self> {
        let Some(args) = args else { return Ok(Self::default()) };
        Ok(serde_json::from_str::<ChunkArgs<'a>>(args)?.data)
    }

    /// Reads the time of an event, and its `args`.
    pub fn from_event(event: &'a [u8]) -> serde_json::Result<(i64, Self)> {
        #[derive(Deserialize)]
        struct ChunkEvent<'a> {
            #[serde(default)]
            ts: Number,
            #[serde(borrow, default)]
            args: Option<ChunkArgs<'a>>,
        }
        let event: ChunkEvent<'a> = serde_json::from_slice(event)?;
        Ok((event.ts.0, event.args.map(|args| args.data).unwrap_or_default()))
    }

    /// Returns the new nodes. In our traces, parents stand before their children.
    pub fn nodes(&self) -> &[NodeJson<'a>] {
        self.profile(|profile| profile.nodes.as_deref())
    }

    /// Returns the samples: ids of nodes.
    pub fn samples(&self) -> &[NodeNumber] {
        self.profile(|profile| profile.samples.as_deref())
    }

    /// Returns the time before each sample, microseconds; empty if the event has none.
    pub fn deltas(&self) -> &[PlainNumber] {
        match &self.time_deltas {
            Some(deltas) => deltas,
            None => self.profile(|profile| profile.time_deltas.as_deref()),
        }
    }

    /// Returns the position of each sample; empty if the event has none, or none that can be read.
    pub fn positions(&self) -> Vec<SourcePosition> {
        let list = |list: Option<&RawValue>| -> Vec<Number> {
            list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
        };
        let mut columns = list(self.columns).into_iter();
        let position = |line: Number| {
            let column = columns.next().unwrap_or_default().small();
            SourcePosition { line: line.small(), column }
        };
        list(self.lines).into_iter().map(position).collect()
    }

    /// Returns the length of the event's samples, microseconds. Times without samples do not count.
    pub fn length_us(&self) -> i64 {
        let (deltas, count) = (self.deltas(), self.samples().len());
        deltas::sum(deltas.get(..count).unwrap_or(deltas))
    }

    fn profile<'s, T>(
        &'s self,
        list: impl FnOnce(&'s ChunkProfile<'a>) -> Option<&'s [T]>,
    ) -> &'s [T] {
        self.cpu_profile.as_ref().and_then(list).unwrap_or_default()
    }
}
