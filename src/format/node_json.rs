//! Call-tree nodes as they stand in traces and in `.cpuprofile` files.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::frame_json::parse_frame;
use super::number::Number;
use crate::profile::builder::ProfileBuilder;
use crate::profile::frame_table::FrameTable;

/// A node of the call tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeJson<'a> {
    /// Id in the recording.
    pub id: Number,
    /// Id of the parent.
    #[serde(default)]
    pub parent: Option<Number>,
    /// Ids of the children, where nodes do not name their parents.
    #[serde(default)]
    pub children: Option<Vec<Number>>,
    /// Count of the node's samples.
    #[serde(default)]
    pub hit_count: Option<Number>,
    /// Call frame, as it is written.
    #[serde(borrow, default)]
    pub call_frame: Option<&'a RawValue>,
}

impl<'a> NodeJson<'a> {
    /// Returns a node without children and samples.
    pub(crate) fn new(
        id: Number,
        parent: Option<Number>,
        call_frame: Option<&'a RawValue>,
    ) -> Self {
        Self { id, parent, children: None, hit_count: None, call_frame }
    }

    /// Adds the node to a profile, and its call frame to the frames.
    pub(crate) fn announce(&self, profile: &mut ProfileBuilder, frames: &mut FrameTable) {
        let id = self.id.node_id();
        let frame = self
            .call_frame
            .map_or(FrameTable::UNKNOWN, |text| frames.intern_json(text.get(), parse_frame));
        profile.announce(id, self.parent.map(Number::node_id), frame);
        for child in self.children.iter().flatten() {
            profile.adopt(id, child.node_id());
        }
        if let Some(hits) = self.hit_count {
            profile.hits(id, u64::try_from(hits.0).unwrap_or(0));
        }
    }
}
