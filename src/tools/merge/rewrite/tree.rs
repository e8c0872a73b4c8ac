//! The call tree of a thread, from all its recordings: one id for one path.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use crate::format::frame_json::{CallFrameJson, is_root};
use crate::format::node_json::NodeJson;
use crate::format::number::Number;
use crate::format::script_id::ScriptIdOffset;
use crate::format::trace::event::ChunkNode;
use crate::profile::frame::CallFrame;

/// The first node there is. A sample of it says that nothing is known from then on.
pub(super) const ROOT: u32 = 1;
/// No node.
const NONE: u32 = 0;

/// Nodes and what they are called in the recording that is read.
#[derive(Default)]
pub(super) struct PathTree {
    frames: Vec<Box<RawValue>>,
    frame_numbers: FxHashMap<String, u32>,
    /// By id less one.
    nodes: Vec<NodePlace>,
    paths: FxHashMap<(u32, u32), u32>,
    /// This recording's ids to ours.
    ids: FxHashMap<u64, u32>,
    /// Its nodes' parents, where these list their children.
    parents: FxHashMap<u64, u64>,
}

/// Where a node stands.
struct NodePlace {
    parent: u32,
    frame: u32,
    /// The file that it was announced in last, counted from 1. A thread goes through the files in
    /// their order.
    announced: usize,
}

impl PathTree {
    /// Another recording begins, with ids of its own.
    pub(super) fn begin(&mut self) {
        self.ids.clear();
        self.parents.clear();
    }

    /// Adds nodes, parents before their children. What is known of an id already holds.
    pub(super) fn announce(&mut self, nodes: &[NodeJson<'_>]) {
        for node in nodes {
            let source = node.id.node_id();
            for child in node.children.iter().flatten() {
                self.parents.entry(child.node_id()).or_insert(source);
            }
            if self.ids.contains_key(&source) {
                continue;
            }
            let parent =
                node.parent.map(Number::node_id).or_else(|| self.parents.get(&source).copied());
            let parent = parent.and_then(|parent| self.ids.get(&parent)).copied();
            let ours = match (parent, node.call_frame) {
                (None, Some(frame)) if is_root(frame) => self.root_of(Some(frame)),
                (parent, frame) => {
                    let parent = parent.unwrap_or_else(|| self.root());
                    match frame {
                        Some(frame) => self.node(parent, frame),
                        None => self.unknown(parent),
                    }
                }
            };
            self.ids.insert(source, ours);
        }
    }

    /// The node of a sample. One that was never announced is unknown: a file can have lost it.
    pub(super) fn of_sample(&mut self, source: u64) -> u32 {
        match self.ids.get(&source) {
            Some(ours) => *ours,
            None => {
                let root = self.root();
                self.unknown(root)
            }
        }
    }

    /// The root, which is there from now on if it was not.
    pub(super) fn root(&mut self) -> u32 {
        self.root_of(None)
    }

    /// Puts those on the way to `ours` that a file lacks behind `list`, parents first.
    pub(super) fn needed(&mut self, ours: u32, part: usize, list: &mut Vec<u32>) {
        let from = list.len();
        let mut at = ours;
        while at != NONE {
            let node = &mut self.nodes[at as usize - 1];
            if node.announced == part + 1 {
                break;
            }
            node.announced = part + 1;
            list.push(at);
            at = node.parent;
        }
        list[from..].reverse();
    }

    /// A node as it is written.
    pub(super) fn encoded(&self, ours: u32) -> ChunkNode<'_> {
        let place = &self.nodes[ours as usize - 1];
        let parent = (place.parent != NONE).then_some(place.parent);
        ChunkNode { id: ours, parent, call_frame: &self.frames[place.frame as usize] }
    }

    fn root_of(&mut self, frame: Option<&RawValue>) -> u32 {
        if self.nodes.is_empty() {
            match frame {
                Some(frame) => self.node(NONE, frame),
                None => self.made_up(NONE, &CallFrame::root()),
            };
        }
        ROOT
    }

    fn unknown(&mut self, parent: u32) -> u32 {
        let frame = CallFrame { function_name: "(unknown)".into(), ..CallFrame::root() };
        self.made_up(parent, &frame)
    }

    fn made_up(&mut self, parent: u32, frame: &CallFrame) -> u32 {
        let frame = CallFrameJson::new(frame, "", ScriptIdOffset::NONE).encode();
        self.node(parent, frame.as_deref().unwrap_or(RawValue::NULL))
    }

    fn node(&mut self, parent: u32, frame: &RawValue) -> u32 {
        let number = match self.frame_numbers.get(frame.get()) {
            Some(number) => *number,
            None => {
                let number = self.frames.len() as u32;
                self.frames.push(frame.to_owned());
                self.frame_numbers.insert(frame.get().to_owned(), number);
                number
            }
        };
        *self.paths.entry((parent, number)).or_insert_with(|| {
            self.nodes.push(NodePlace { parent, frame: number, announced: 0 });
            self.nodes.len() as u32
        })
    }
}
