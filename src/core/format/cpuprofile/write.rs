//! Writes a thread's recording as a `.cpuprofile`. The nodes come before the samples, and hold sums
//! and children, so the whole recording is kept until the end.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter::repeat_n;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::child_lists::ChildLists;
use super::facts::ProfileFacts;
use super::json_output::JsonOutput;
use super::packed::PackedSamples;
use crate::base::numbering::{FxIndexSet, number_of};
use crate::format::frame_json::CallFrameJson;
use crate::format::script_id::ScriptIdOffset;
use crate::format::trace::ours::METADATA_KEY;
use crate::format::url::frame_url;
use crate::profile::frame::CallFrame;
use crate::profile::label_table::LabelSet;
use crate::profile::program::NodeModules;
use crate::profile::timeline::Timeline;
use crate::profile::window::Window;
use crate::profile::window::call_tree::PlacedWindow;
use crate::profile::window::path_ids::{NO_NODE, NodeId};

/// A recording so far.
#[derive(Debug)]
pub struct CpuProfile {
    /// Facts about the process and the thread; none if they are not known.
    pub facts: Option<ProfileFacts>,
    start_us: i64,
    time: Timeline,
    frames: FxIndexSet<CallFrame>,
    /// Nodes by their id less one: the call tree's ids count from 1 without a gap, parents first.
    nodes: Vec<StoredNode>,
    /// Count of samples on each line (from 1) of a node.
    lines: BTreeMap<(NodeId, u32), u32>,
    /// Reasons why V8 does not optimize a node's function.
    deopts: FxHashMap<NodeId, String>,
    samples: PackedSamples,
    /// Ids of label sets, each with the count of samples in a row that have the set.
    labels: Vec<(u32, u32)>,
    label_sets: BTreeMap<u32, LabelSet>,
}

#[derive(Debug)]
struct StoredNode {
    /// Id of the parent; [`NO_NODE`] for the root.
    parent: NodeId,
    /// Index into `frames`.
    frame: u32,
    /// Count of the node's samples.
    hits: u32,
}

/// A member of `nodes`, with the keys in V8's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenNode<'a> {
    id: NodeId,
    call_frame: CallFrameJson<'a>,
    hit_count: u32,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    children: &'a [NodeId],
    #[serde(skip_serializing_if = "Option::is_none")]
    deopt_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    position_ticks: &'a [LineTicks],
}

#[derive(Serialize)]
struct LineTicks {
    line: u32,
    ticks: u32,
}

impl CpuProfile {
    /// Returns a profile that starts at `start_us`: CLOCK_MONOTONIC, microseconds.
    pub fn new(start_us: i64, facts: Option<ProfileFacts>) -> Self {
        Self {
            facts,
            start_us,
            time: Timeline::new(start_us),
            frames: FxIndexSet::default(),
            nodes: Vec::new(),
            lines: BTreeMap::new(),
            deopts: FxHashMap::default(),
            samples: PackedSamples::default(),
            labels: Vec::new(),
            label_sets: BTreeMap::new(),
        }
    }

    /// Adds a window, with its place in the recording's call tree. Each window that the tree gets
    /// has to come here too. A window without samples need not be placed.
    pub fn window(&mut self, window: &Window, placed: &PlacedWindow) {
        for node in &placed.new_nodes {
            let frame = &window.frames[node.frame as usize];
            let frame = number_of(&mut self.frames, frame, CallFrame::clone);
            self.nodes.push(StoredNode { parent: node.parent.unwrap_or(NO_NODE), frame, hits: 0 });
            debug_assert_eq!(node.id as usize, self.nodes.len());
        }
        for sample in &window.samples {
            let id = placed.ids[sample.node as usize];
            self.nodes[id as usize - 1].hits += 1;
            let delta = self.time.delta(sample.time_us);
            self.samples.push(delta.unsigned_abs(), id);
            match self.labels.last_mut() {
                Some((labels, count)) if *labels == sample.labels => *count += 1,
                _ => self.labels.push((sample.labels, 1)),
            }
            let line = sample.position.line;
            let is_in_module = || {
                let node = &window.nodes[sample.node as usize];
                window.frames[node.frame as usize].module().is_some()
            };
            if line > 0 && !is_in_module() {
                *self.lines.entry((id, line)).or_default() += 1;
            }
        }
        self.label_sets.extend(window.label_sets.iter().cloned());
        self.deopts.extend(placed.deopts(window).map(|(id, reason)| (id, reason.to_owned())));
    }

    /// Writes the whole file, piece by piece. The profile ends at `end_us`, or with its last
    /// sample.
    pub fn write(&self, out: &mut impl Write, end_us: i64) -> io::Result<()> {
        let mut text = JsonOutput::new(out);
        text.raw(b"{")?;
        if let Some(facts) = &self.facts {
            text.raw(b"\"")?;
            text.raw(METADATA_KEY.as_bytes())?;
            text.raw(b"\":")?;
            text.value(facts)?;
            text.raw(b",")?;
        }
        text.raw(b"\"nodes\":")?;
        self.write_nodes(&mut text)?;
        text.raw(b",\"startTime\":")?;
        text.value(&self.start_us)?;
        text.raw(b",\"endTime\":")?;
        text.value(&end_us.max(self.time.last_us()))?;
        text.raw(b",\"samples\":")?;
        text.list(self.samples.iter().map(|(_, id)| id))?;
        text.raw(b",\"timeDeltas\":")?;
        text.list(self.samples.iter().map(|(delta_us, _)| delta_us))?;
        if !self.label_sets.is_empty() {
            text.raw(b",\"labels\":")?;
            let labels = self.labels.iter();
            text.list(labels.flat_map(|(id, count)| repeat_n(*id, *count as usize)))?;
            text.raw(b",\"labelSets\":")?;
            text.value(&self.label_sets)?;
        }
        text.raw(b"}")?;
        text.flush()
    }

    fn write_nodes(&self, text: &mut JsonOutput<'_, impl Write>) -> io::Result<()> {
        let children = ChildLists::of(self.nodes.iter().map(|node| node.parent));
        let (mut child_ids, mut ticks) = (Vec::new(), Vec::new());
        text.raw(b"[")?;
        for (id, node) in (1..).zip(&self.nodes) {
            if id > 1 {
                text.raw(b",")?;
            }
            child_ids.clear();
            child_ids.extend(children.children(id));
            ticks.clear();
            let lines = self.lines.range((id, 0)..=(id, u32::MAX));
            ticks.extend(lines.map(|((_, line), ticks)| LineTicks { line: *line, ticks: *ticks }));
            let frame = &self.frames[node.frame as usize];
            let url = frame_url(&frame.url, NodeModules::Foldable);
            text.value(&WrittenNode {
                hit_count: node.hits,
                children: &child_ids,
                deopt_reason: self.deopts.get(&id).map(String::as_str),
                position_ticks: &ticks,
                ..WrittenNode::without_samples(id, frame, &url)
            })?;
        }
        if self.nodes.is_empty() {
            // Viewers expect a root.
            text.value(&WrittenNode::without_samples(1, &CallFrame::root(), ""))?;
        }
        text.raw(b"]")
    }
}

impl<'a> WrittenNode<'a> {
    fn without_samples(id: NodeId, frame: &'a CallFrame, url: &'a str) -> Self {
        Self {
            id,
            call_frame: CallFrameJson::new(frame, url, ScriptIdOffset::NONE),
            hit_count: 0,
            children: &[],
            deopt_reason: None,
            position_ticks: &[],
        }
    }
}

#[cfg(test)]
mod tests;
