//! One thread's recording as a `.cpuprofile`, as `node --cpu-prof` writes it. The format has its
//! nodes, with their sums and children, before its samples, so all of it is kept until the end.

mod packed;
pub(crate) mod read;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::format::ascii_json::encode;
use crate::format::frame_json::CallFrameJson;
use crate::format::script_id::ScriptIdOffset;
use crate::format::url::frame_url;
use crate::profile::call_tree::{NodeId, Placed};
use crate::profile::frame::CallFrame;
use crate::profile::program::NodeModules;
use crate::profile::timeline::Timeline;
use crate::profile::window::Window;
use packed::PackedSamples;

/// A recording so far.
#[derive(Debug)]
pub(crate) struct CpuProfile {
    start_us: i64,
    time: Timeline,
    /// Each call frame once, and its number.
    frames: FxHashMap<CallFrame, u32>,
    /// By id less one: the call tree's ids count from 1 without a gap, parents first.
    nodes: Vec<StoredNode>,
    /// How often each line (from 1) of a node was seen on top.
    lines: BTreeMap<(NodeId, i32), u64>,
    /// Why V8 does not optimize a node's function.
    deopts: FxHashMap<NodeId, String>,
    samples: PackedSamples,
}

#[derive(Debug)]
struct StoredNode {
    /// `NONE` for the root.
    parent: NodeId,
    /// A number in `frames`.
    frame: u32,
    hits: u32,
}

/// No node.
const NONE: NodeId = 0;

/// `nodes[]`, its keys in V8's order.
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
    position_ticks: &'a [PositionTicks],
}

#[derive(Serialize)]
struct PositionTicks {
    line: i32,
    ticks: u64,
}

impl CpuProfile {
    /// A profile that starts at `start_us`: CLOCK_MONOTONIC, microseconds.
    pub(crate) fn new(start_us: i64) -> Self {
        Self {
            start_us,
            time: Timeline::new(start_us),
            frames: FxHashMap::default(),
            nodes: Vec::new(),
            lines: BTreeMap::new(),
            deopts: FxHashMap::default(),
            samples: PackedSamples::default(),
        }
    }

    /// Adds a window. `placed` is where one call tree, the same for all windows, has put it; each
    /// window that the tree is given has to come here too. A window without samples need not be
    /// placed.
    pub(crate) fn window(&mut self, window: &Window, placed: &Placed) {
        for node in &placed.new_nodes {
            let frame = self.frame(&window.frames[node.frame as usize]);
            self.nodes.push(StoredNode { parent: node.parent.unwrap_or(NONE), frame, hits: 0 });
            debug_assert_eq!(node.id as usize, self.nodes.len());
        }
        for sample in &window.samples {
            let id = placed.ids[sample.node as usize];
            self.nodes[id as usize - 1].hits += 1;
            let delta = self.time.delta(sample.time_us);
            self.samples.push(delta.unsigned_abs(), id);
        }
        for line in &window.lines {
            if let Some(id) = placed.ids.get(line.node as usize) {
                *self.lines.entry((*id, line.line)).or_default() += u64::from(line.ticks);
            }
        }
        for (node, reason) in &window.deopts {
            if let Some(id) = placed.ids.get(*node as usize) {
                self.deopts.insert(*id, reason.clone());
            }
        }
    }

    /// How many samples there are so far.
    pub(crate) fn samples(&self) -> usize {
        self.samples.len()
    }

    /// How many nodes there are so far.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Writes the whole file, piece by piece. It ends at `end_us`, or with its last sample.
    pub(crate) fn write(&self, out: &mut impl Write, end_us: i64) -> io::Result<()> {
        let mut text = JsonOutput { out, bytes: Vec::with_capacity(2 * FULL) };
        text.raw(b"{\"nodes\":")?;
        self.write_nodes(&mut text)?;
        text.raw(b",\"startTime\":")?;
        text.value(&self.start_us)?;
        text.raw(b",\"endTime\":")?;
        text.value(&end_us.max(self.time.last_us()))?;
        text.raw(b",\"samples\":")?;
        text.list(self.samples.iter().map(|(_, id)| id))?;
        text.raw(b",\"timeDeltas\":")?;
        text.list(self.samples.iter().map(|(delta_us, _)| delta_us))?;
        text.raw(b"}")?;
        text.flush()
    }

    fn write_nodes(&self, text: &mut JsonOutput<'_, impl Write>) -> io::Result<()> {
        if self.nodes.is_empty() {
            // No viewer expects a profile without a root.
            let root = CallFrame::root();
            return with_frame(&root, |call_frame| text.list([node_json(1, call_frame)]));
        }
        let mut frames: Vec<(&CallFrame, u32)> =
            self.frames.iter().map(|(frame, number)| (frame, *number)).collect();
        frames.sort_unstable_by_key(|(_, number)| *number);
        let family = Family::of(&self.nodes);
        let (mut children, mut ticks) = (Vec::new(), Vec::new());
        text.raw(b"[")?;
        for (id, node) in (1..).zip(&self.nodes) {
            if id > 1 {
                text.raw(b",")?;
            }
            children.clear();
            children.extend(family.children(id));
            self.position_ticks(id, node.hits, &mut ticks);
            with_frame(frames[node.frame as usize].0, |call_frame| {
                text.value(&WrittenNode {
                    hit_count: node.hits,
                    children: &children,
                    deopt_reason: self.deopts.get(&id).map(String::as_str),
                    position_ticks: &ticks,
                    ..node_json(id, call_frame)
                })
            })?;
        }
        text.raw(b"]")
    }

    /// V8 counts a sample's line, and then may not keep the sample: it is older than the profile,
    /// or there are too many. Which line to take back is not known, so all of them are scaled
    /// down until they are no more than the node's samples. Fewer they may be: V8 also keeps
    /// samples that it does not count, such as the one at each start.
    fn position_ticks(&self, id: NodeId, hits: u32, ticks: &mut Vec<PositionTicks>) {
        ticks.clear();
        let lines = self.lines.range((id, i32::MIN)..=(id, i32::MAX));
        ticks.extend(lines.map(|((_, line), ticks)| PositionTicks { line: *line, ticks: *ticks }));
        let counted: u64 = ticks.iter().map(|line| line.ticks).sum();
        if counted > u64::from(hits) {
            for line in ticks.iter_mut() {
                line.ticks = line.ticks * u64::from(hits) / counted;
            }
            ticks.retain(|line| line.ticks > 0);
        }
    }

    fn frame(&mut self, frame: &CallFrame) -> u32 {
        if let Some(number) = self.frames.get(frame) {
            return *number;
        }
        let number = self.frames.len() as u32;
        self.frames.insert(frame.clone(), number);
        number
    }
}

fn node_json(id: NodeId, call_frame: CallFrameJson<'_>) -> WrittenNode<'_> {
    WrittenNode {
        id,
        call_frame,
        hit_count: 0,
        children: &[],
        deopt_reason: None,
        position_ticks: &[],
    }
}

fn with_frame<T>(frame: &CallFrame, f: impl FnOnce(CallFrameJson<'_>) -> T) -> T {
    let url = frame_url(&frame.url, NodeModules::Foldable);
    f(CallFrameJson::new(frame, &url, ScriptIdOffset::NONE))
}

/// Each node's children as a chain through all nodes, by id less one.
struct Family {
    first_child: Vec<NodeId>,
    next_sibling: Vec<NodeId>,
}

impl Family {
    fn of(nodes: &[StoredNode]) -> Self {
        let mut family =
            Self { first_child: vec![NONE; nodes.len()], next_sibling: vec![NONE; nodes.len()] };
        // From the last, so that each chain ascends.
        for (index, node) in nodes.iter().enumerate().rev() {
            if node.parent != NONE {
                let first = &mut family.first_child[node.parent as usize - 1];
                family.next_sibling[index] = *first;
                *first = index as NodeId + 1;
            }
        }
        family
    }

    fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let some = |id| (id != NONE).then_some(id);
        std::iter::successors(some(self.first_child[id as usize - 1]), move |id| {
            some(self.next_sibling[*id as usize - 1])
        })
    }
}

/// How many bytes are written at once.
const FULL: usize = 64 << 10;

/// JSON on its way out. In ASCII, as V8 writes it since Node 22: viewers are faster at it.
struct JsonOutput<'a, W> {
    out: &'a mut W,
    bytes: Vec<u8>,
}

impl<W: Write> JsonOutput<'_, W> {
    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        encode(&mut self.bytes, value);
        self.raw(b"")
    }

    fn list(&mut self, values: impl IntoIterator<Item = impl Serialize>) -> io::Result<()> {
        self.raw(b"[")?;
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.raw(b",")?;
            }
            self.value(&value)?;
        }
        self.raw(b"]")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
