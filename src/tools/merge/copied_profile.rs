//! A profile that a merge copies chunk by chunk: finds out whether each is sound, repairs it where it
//! is not, and gives its frames and lines their places in the sources.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::value::RawValue;

use super::mapped_frames::{MappedFrame, MappedFrames};
use crate::base::id_set::IdSet;
use crate::format::ascii_json::encode_raw;
use crate::format::deltas::deltas_or_even;
use crate::format::frame_json::CallFrameJson;
use crate::format::node_json::NodeJson;
use crate::format::number::PlainNumber;
use crate::format::script_id::ScriptIdOffset;
use crate::format::trace::chunk_json::ChunkJson;
use crate::format::trace::edit::EventEdit;
use crate::format::trace::event::Event;
use crate::format::trace::events::Events;
use crate::format::trace::head::{EventHead, Member};
use crate::format::trace::own_chunk::{self, ChunkCheck};
use crate::profile::frame::CallFrame;
use crate::profile::position::SourcePosition;

/// The id of a root that a profile lacks.
const ADDED_ROOT: u64 = 0;

/// What is known of a profile from its events so far.
#[derive(Debug, Default)]
pub(super) struct CopiedProfile {
    /// Whether the `Profile` event was read, without which viewers show nothing.
    is_announced: bool,
    /// Ids of the nodes that were announced.
    nodes: IdSet,
    /// Id of the first node without a parent.
    root: Option<u64>,
    /// Nodes whose frames have other places in the sources.
    mapped: FxHashMap<u64, Rc<MappedFrame>>,
    has_samples: bool,
    /// Start of the first chunk, microseconds.
    start_us: Option<i64>,
    /// Time of the last chunk, microseconds.
    last_us: i64,
}

/// Returns the `Profile` event of a profile whose own was lost. `id` is its id as it is written.
pub(super) fn announcement(pid: u32, tid: u32, id: &str, start_us: i64) -> Vec<u8> {
    let mut events = Events::default();
    events.push(&Event::profile("", pid, tid, start_us));
    let text = String::from_utf8_lossy(events.as_bytes());
    text.replacen("\"id\":\"\"", &format!("\"id\":{id}"), 1).into_bytes()
}

/// A chunk that could not be copied, as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SoundChunk<'a> {
    cpu_profile: SoundTree<'a>,
    time_deltas: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<i64>,
}

#[derive(Serialize)]
struct SoundTree<'a> {
    nodes: Vec<SoundNode<'a>>,
    samples: Vec<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SoundNode<'a> {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u64>,
    call_frame: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    deopt_reason: Option<&'a RawValue>,
}

/// `args`
#[derive(Serialize)]
struct SoundArgs<'a> {
    data: SoundChunk<'a>,
}

impl CopiedProfile {
    /// Begins a profile with nodes of its own, by its `Profile` event. Adds to `edit` what the event
    /// lacks. Returns whether the event can be read.
    pub(super) fn start(&mut self, event: &[u8], head: &EventHead, edit: &mut EventEdit) -> bool {
        let Ok((_, start)) = ChunkJson::from_event(event) else { return false };
        // A profile can be announced after its first chunks.
        if self.is_announced {
            *self = Self::default();
        }
        self.is_announced = true;
        let ts = head.ts(event).unwrap_or_default();
        self.last_us = ts.max(self.last_us);
        if start.start_time.is_none() {
            let args = format!("{{\"data\":{{\"startTime\":{ts}}}}}");
            let end = event.len() - 1;
            match head.place(Member::Arguments) {
                Some(place) => edit.replace(place, args),
                None => edit.replace(end..end, format!(",\"args\":{args}")),
            }
        }
        true
    }

    /// Returns the start of a profile that was never announced, microseconds.
    pub(super) fn missing_start(&self) -> Option<i64> {
        self.start_us.filter(|_| !self.is_announced)
    }

    /// Adds to `edit` what makes a `ProfileChunk` sound, and the places in the sources. Returns whether
    /// the event can be read.
    pub(super) fn chunk(
        &mut self,
        event: &[u8],
        head: &EventHead,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) -> bool {
        let ts = head.ts(event).unwrap_or_default();
        let Some(args) = head.place(Member::Arguments) else {
            self.start_us.get_or_insert(ts);
            return true;
        };
        if self.mapped.is_empty() && self.is_own(&event[args.clone()], frames) {
            self.start_us.get_or_insert(ts);
            (self.has_samples, self.last_us) = (true, ts);
            return true;
        }
        let Ok(chunk) = ChunkJson::from_args(str::from_utf8(&event[args.clone()]).ok()) else {
            return false;
        };
        self.start_us.get_or_insert(ts.saturating_sub(chunk.length_us()));
        if self.add(&chunk) {
            self.map(event, &chunk, frames, edit);
        } else if let Some(repaired) = self.repaired(&chunk, ts, frames) {
            edit.replace(args, repaired.get());
        }
        self.has_samples |= !chunk.samples().is_empty();
        self.last_us = ts.max(self.last_us);
        true
    }

    /// Returns whether a chunk is written as this project writes it, and can stay as it is.
    fn is_own(&mut self, args: &[u8], frames: &mut MappedFrames) -> bool {
        let mut check = OwnCheck { profile: self, frames, added: Vec::new(), root: None };
        let is_sound = own_chunk::is_sound(args, &mut check);
        let OwnCheck { added, root, .. } = check;
        match is_sound {
            true => self.root = self.root.or(root),
            // The chunk is read again.
            false => added.into_iter().for_each(|id| self.nodes.remove(id)),
        }
        is_sound
    }

    /// Adds the nodes of a chunk. Returns whether the chunk is sound.
    fn add(&mut self, chunk: &ChunkJson<'_>) -> bool {
        let mut is_sound = true;
        for node in chunk.nodes() {
            let is_known = |parent: u64| self.nodes.contains(parent);
            is_sound &= node.parent.is_none_or(|parent| is_known(parent.0));
            is_sound &= node.call_frame.is_some_and(|frame| frame.get().starts_with('{'));
            // Viewers do not read a parent where nodes list their children.
            is_sound &= node.children.is_none();
            if !is_sound {
                break;
            }
            self.nodes.insert(node.id.0);
            if node.parent.is_none() {
                self.root.get_or_insert(node.id.0);
            }
        }
        let samples = chunk.samples();
        is_sound
            && chunk.deltas().len() == samples.len()
            && samples.iter().all(|id| self.nodes.contains(id.0))
    }

    /// Replaces the frames, lines and columns of a chunk by those in the sources.
    fn map(
        &mut self,
        event: &[u8],
        chunk: &ChunkJson<'_>,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) {
        if !frames.is_on() {
            return;
        }
        for NodeJson { id, call_frame, .. } in chunk.nodes() {
            let Some(text) = call_frame else { continue };
            if let Some(frame) = frames.frame(text.get()) {
                edit.replace(range(event, text.get()), frame.json.get());
                self.mapped.insert(id.0, frame);
            }
        }
        let mut positions = chunk.positions();
        if !self.map_positions(chunk, &mut positions, frames) {
            return;
        }
        let mut replace = |list: Option<&RawValue>, number: fn(&SourcePosition) -> u32| {
            let numbers: Vec<u32> = positions.iter().map(number).collect();
            if let Some((list, numbers)) = list.zip(encode_raw(&numbers)) {
                edit.replace(range(event, list.get()), numbers.get());
            }
        };
        replace(chunk.lines, |position| position.line);
        replace(chunk.columns, |position| position.column);
    }

    /// Moves the positions of samples to the sources. Returns whether any of them moves.
    fn map_positions(
        &self,
        chunk: &ChunkJson<'_>,
        positions: &mut [SourcePosition],
        frames: &mut MappedFrames,
    ) -> bool {
        let mut is_changed = false;
        for (position, id) in positions.iter_mut().zip(chunk.samples()) {
            if position.line > 0
                && let Some(frame) = self.mapped.get(&id.0)
            {
                *position = frame.position(*position, frames);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Returns the arguments of a chunk that is not sound, as readers understand the chunk.
    fn repaired(
        &mut self,
        chunk: &ChunkJson<'_>,
        ts: i64,
        frames: &mut MappedFrames,
    ) -> Option<Box<RawValue>> {
        let encode =
            |frame: &CallFrame| CallFrameJson::new(frame, "", ScriptIdOffset::NONE).encode();
        let (root, unknown) = (encode(&CallFrame::root())?, encode(&CallFrame::unknown())?);
        let mut tree = RepairedTree { nodes: Vec::new(), root: &root, unknown: &unknown };
        let parents = parents(chunk.nodes());
        let frame_of = |node: &NodeJson<'_>| frames.frame(node.call_frame?.get());
        let mapped: Vec<_> = chunk.nodes().iter().map(frame_of).collect();
        for index in parents_first(chunk.nodes(), &parents) {
            let node = &chunk.nodes()[index];
            let (id, parent) = (node.id.0, parents[index]);
            if let Some(parent) = parent {
                tree.know(parent, self);
            }
            self.nodes.insert(id);
            if parent.is_none() {
                self.root.get_or_insert(id);
            }
            let frame = node.call_frame.filter(|frame| frame.get().starts_with('{'));
            let frame = match &mapped[index] {
                Some(mapped) => {
                    self.mapped.insert(id, Rc::clone(mapped));
                    Some(&*mapped.json)
                }
                None => frame,
            };
            tree.nodes.push(SoundNode {
                id,
                parent,
                call_frame: frame.unwrap_or(&unknown),
                deopt_reason: node.deopt_reason,
            });
        }
        let samples: Vec<u64> = chunk.samples().iter().map(|id| id.0).collect();
        samples.iter().for_each(|id| tree.know(*id, self));
        let span_us = ts.saturating_sub(self.last_us);
        let deltas = deltas_or_even(samples.len(), chunk.deltas(), !self.has_samples, span_us);
        let mut positions = chunk.positions();
        self.map_positions(chunk, &mut positions, frames);
        if !positions.is_empty() {
            positions.resize(samples.len(), SourcePosition::default());
        }
        encode_raw(&SoundArgs {
            data: SoundChunk {
                time_deltas: deltas.collect(),
                lines: positions.iter().map(|position| position.line).collect(),
                columns: positions.iter().map(|position| position.column).collect(),
                cpu_profile: SoundTree { nodes: tree.nodes, samples },
                end_time: chunk.end_time.map(|PlainNumber(us)| us),
            },
        })
    }
}

/// Returns the parent of each node, where the node or the list of a parent's children names it.
fn parents(nodes: &[NodeJson<'_>]) -> Vec<Option<u64>> {
    let mut of_children = FxHashMap::default();
    for node in nodes {
        for child in node.children.iter().flatten() {
            of_children.entry(child.0).or_insert(node.id.0);
        }
    }
    let parent = |node: &NodeJson<'_>| {
        let named = node.parent.map(|parent| parent.0);
        let parent = named.or_else(|| of_children.get(&node.id.0).copied());
        parent.filter(|parent| *parent != node.id.0)
    };
    nodes.iter().map(parent).collect()
}

/// Returns the indices of nodes, parents before their children.
fn parents_first(nodes: &[NodeJson<'_>], parents: &[Option<u64>]) -> Vec<usize> {
    let indices: FxHashMap<u64, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.id.0, index)).collect();
    let mut is_placed = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| !is_placed[*index]) {
            is_placed[index] = true;
            path.push(index);
            next = parents[index].and_then(|parent| indices.get(&parent)).copied();
        }
        order.extend(path.drain(..).rev());
    }
    order
}

/// The nodes of a chunk that is repaired.
struct RepairedTree<'a> {
    nodes: Vec<SoundNode<'a>>,
    root: &'a RawValue,
    unknown: &'a RawValue,
}

impl RepairedTree<'_> {
    /// Announces a node that was never announced: a file can have lost the announcement.
    fn know(&mut self, id: u64, profile: &mut CopiedProfile) {
        if profile.nodes.contains(id) {
            return;
        }
        let root = *profile.root.get_or_insert(ADDED_ROOT);
        if profile.nodes.insert(root) {
            let (parent, call_frame, deopt_reason) = (None, self.root, None);
            self.nodes.push(SoundNode { id: root, parent, call_frame, deopt_reason });
        }
        if profile.nodes.insert(id) {
            let (parent, call_frame, deopt_reason) = (Some(root), self.unknown, None);
            self.nodes.push(SoundNode { id, parent, call_frame, deopt_reason });
        }
    }
}

/// Checks a chunk that this project wrote.
struct OwnCheck<'p, 'f> {
    profile: &'p mut CopiedProfile,
    frames: &'f mut MappedFrames,
    /// Ids of the nodes that the chunk announces.
    added: Vec<u64>,
    root: Option<u64>,
}

impl ChunkCheck for OwnCheck<'_, '_> {
    fn node(&mut self, id: u64, parent: Option<u64>, frame: &[u8]) -> bool {
        let nodes = &mut self.profile.nodes;
        if parent.is_some_and(|parent| !nodes.contains(parent)) || !nodes.insert(id) {
            return false;
        }
        self.added.push(id);
        if parent.is_none() {
            self.root.get_or_insert(id);
        }
        self.frames.stays(frame)
    }

    fn sample(&mut self, id: u64) -> bool {
        self.profile.nodes.contains(id)
    }
}

/// Returns the place of a part of an event.
fn range(event: &[u8], part: &str) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(event.as_ptr() as usize);
    start..start + part.len()
}
