//! Call-tree nodes as they stand in traces and in `.cpuprofile` files.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::builder::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use cpu_prof_core::format::frame_json::parse_frame;
use cpu_prof_core::format::number::{NodeNumber, Number};

/// A node of the call tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a node of a call tree")]
pub struct NodeJson<'a> {
    /// Id in the recording.
    pub id: NodeNumber,
    /// Id of the parent.
    #[serde(default)]
    pub parent: Option<NodeNumber>,
    /// Ids of the children, where nodes do not name their parents.
    #[serde(default)]
    pub children: Option<Vec<NodeNumber>>,
    /// Count of the node's samples.
    #[serde(default)]
    pub hit_count: Option<Number>,
    /// Call frame, as it is written.
    #[serde(borrow, default)]
    pub call_frame: Option<&'a RawValue>,
    /// Reason why V8 does not optimize the function, as it is written.
    #[serde(borrow, default)]
    pub deopt_reason: Option<&'a RawValue>,
    /// Counts of samples on lines, as they are written.
    #[serde(borrow, default)]
    position_ticks: Option<&'a RawValue>,
}

/// The count of samples on a line.
#[derive(Debug, Deserialize)]
struct TicksJson {
    line: Number,
    ticks: Number,
}

impl<'a> NodeJson<'a> {
    /// Returns a node without children and samples.
    pub fn new(
        id: NodeNumber,
        parent: Option<NodeNumber>,
        call_frame: Option<&'a RawValue>,
        deopt_reason: Option<&'a RawValue>,
    ) -> Self {
        let (children, hit_count, position_ticks) = (None, None, None);
        Self { id, parent, children, hit_count, call_frame, deopt_reason, position_ticks }
    }

    /// Returns the reason why V8 does not optimize the function.
    pub fn deopt_reason(&self) -> Option<String> {
        serde_json::from_str(self.deopt_reason?.get()).ok()
    }

    /// Returns the counts of samples on lines; none if they cannot be read.
    fn position_ticks(&self) -> Vec<TicksJson> {
        let ticks = self.position_ticks.map(|ticks| serde_json::from_str(ticks.get()));
        ticks.and_then(Result::ok).unwrap_or_default()
    }

    /// Adds the node to a profile, and its call frame to the frames.
    pub fn announce(&self, profile: &mut ProfileBuilder, frames: &mut FrameTable) {
        let id = self.id.0;
        let frame = self
            .call_frame
            .map_or(FrameTable::UNKNOWN, |text| frames.intern_json(text.get(), parse_frame));
        profile.announce(id, self.parent.map(|parent| parent.0), frame);
        for child in self.children.iter().flatten() {
            profile.adopt(id, child.0);
        }
        if let Some(hits) = self.hit_count {
            profile.hits(id, u64::try_from(hits.0).unwrap_or(0));
        }
        // V8 counts the line of the caller where a function has no script.
        let is_native = frames.list()[frame as usize].is_native();
        if profile.has_lines() && !is_native {
            for at in self.position_ticks() {
                profile.ticks(id, at.line.small(), at.ticks.small());
            }
        }
        if let Some(reason) = self.deopt_reason() {
            profile.deopt(id, reason);
        }
    }
}
