//! `Profile` and `ProfileChunk` events, read as leniently as for a report.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::format::node_json::Number;

/// A node of the source.
#[derive(Deserialize)]
pub(crate) struct SourceNode<'a> {
    /// Its id in this recording.
    pub id: Number,
    /// Its parent's.
    #[serde(default)]
    pub parent: Option<Number>,
    /// Its children's, where these name no parent.
    #[serde(default)]
    pub children: Option<Vec<Number>>,
    /// `callFrame`
    #[serde(borrow, default, rename = "callFrame")]
    pub call_frame: Option<&'a RawValue>,
}

/// What an event says of a profile.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Chunk<'a> {
    /// V8's time of a `Profile`, which the end is of, too.
    pub start_time: Option<Number>,
    /// The recording's end.
    pub end_time: Option<Number>,
    #[serde(borrow)]
    cpu_profile: Option<ChunkPart<'a>>,
    time_deltas: Option<Vec<Number>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ChunkPart<'a> {
    #[serde(borrow)]
    nodes: Option<Vec<SourceNode<'a>>>,
    samples: Option<Vec<Number>>,
    time_deltas: Option<Vec<Number>>,
}

impl<'a> Chunk<'a> {
    /// The event's time, and what it holds.
    pub(super) fn of(event: &'a [u8]) -> serde_json::Result<(i64, Self)> {
        #[derive(Deserialize)]
        struct ChunkEvent<'a> {
            #[serde(default)]
            ts: Number,
            #[serde(borrow, default)]
            args: Option<ChunkArgs<'a>>,
        }
        #[derive(Deserialize)]
        struct ChunkArgs<'a> {
            #[serde(borrow)]
            data: Chunk<'a>,
        }
        let event: ChunkEvent<'a> = serde_json::from_slice(event)?;
        Ok((event.ts.0, event.args.map(|args| args.data).unwrap_or_default()))
    }

    /// Parents before their children.
    pub(super) fn nodes(&self) -> &[SourceNode<'a>] {
        self.cpu_profile.as_ref().and_then(|part| part.nodes.as_deref()).unwrap_or_default()
    }

    /// Ids of nodes.
    pub(super) fn samples(&self) -> &[Number] {
        self.cpu_profile.as_ref().and_then(|part| part.samples.as_deref()).unwrap_or_default()
    }

    /// Microseconds before each sample.
    pub(super) fn deltas(&self) -> &[Number] {
        let inner = || self.cpu_profile.as_ref().and_then(|part| part.time_deltas.as_deref());
        self.time_deltas.as_deref().or_else(inner).unwrap_or_default()
    }

    /// How long it took.
    pub(super) fn length_us(&self) -> i64 {
        self.deltas().iter().fold(0_i64, |sum, delta| sum.saturating_add(delta.0))
    }
}
