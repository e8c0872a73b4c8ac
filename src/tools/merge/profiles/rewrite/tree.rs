//! The call tree of a thread, joined from all its recordings: one id for one path.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::mem;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use crate::read::filter::{StackFilter, StackMatch};
use cpu_prof_core::base::numbering::{FxIndexSet, number_of};
use cpu_prof_core::format::frame_json::{CallFrameJson, is_root, parse_frame};
use cpu_prof_core::format::script_id::ScriptIdOffset;
use cpu_prof_core::format::trace::write::event_args::ChunkNode;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::path_ids::{NO_NODE, NodeId, PathIds, TreePath};
use cpu_prof_session::formats::node_json::NodeJson;

/// The id of the root, which is the first node. A sample of the root says that nothing was recorded
/// until the next sample.
pub(super) const ROOT: NodeId = 1;

/// The joined tree, and the ids of its nodes in the current recording.
#[derive(Default)]
pub(super) struct RewrittenTree {
    filter: StackFilter,
    frames: FxIndexSet<FrameText>,
    /// Parts of the filter that frames have, by their numbers; empty if the filter excludes nothing.
    matches: Vec<StackMatch>,
    paths: PathIds,
    /// Nodes by their id less one.
    nodes: Vec<RewrittenNode>,
    /// Ids in the tree, by the recording's ids.
    ids: FxHashMap<u64, NodeId>,
    /// The recording's ids of parents, where its nodes list their children.
    parents: FxHashMap<u64, u64>,
    /// Reasons why V8 does not optimize the functions of nodes.
    deopts: FxHashMap<NodeId, String>,
}

struct RewrittenNode {
    path: TreePath,
    /// Whether the node was announced.
    is_announced: bool,
    /// Parts of the filter that the stack has.
    stack: StackMatch,
}

/// A `callFrame`, as it is written.
struct FrameText(Box<RawValue>);

impl Borrow<str> for FrameText {
    fn borrow(&self) -> &str {
        self.0.get()
    }
}

impl Hash for FrameText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

impl PartialEq for FrameText {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for FrameText {}

impl RewrittenTree {
    /// Returns a tree whose samples pass a filter.
    pub(super) fn new(filter: StackFilter) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Begins a recording, whose ids are its own.
    pub(super) fn begin(&mut self) {
        self.ids.clear();
        self.parents.clear();
    }

    /// Adds nodes of the recording, parents before their children. An id that is known stays.
    pub(super) fn add(&mut self, nodes: &[NodeJson<'_>]) {
        for node in nodes {
            let source = node.id.0;
            for child in node.children.iter().flatten() {
                self.parents.entry(child.0).or_insert(source);
            }
            if !self.ids.contains_key(&source) {
                let id = self.id_of(node);
                self.ids.insert(source, id);
                if let Some(reason) = node.deopt_reason() {
                    self.deopts.insert(id, reason);
                }
            }
        }
    }

    /// Returns the node of a sample, or the root where the filter excludes the stack. A node that
    /// was never announced is unknown: a file can have lost the announcement.
    pub(super) fn node_of_sample(&mut self, source: u64) -> NodeId {
        let node = match self.ids.get(&source) {
            Some(id) => *id,
            None => {
                let root = self.root();
                self.unknown(root)
            }
        };
        let is_kept = self.filter.keeps(self.nodes[node as usize - 1].stack);
        if is_kept { node } else { self.root() }
    }

    /// Returns the root. Adds a root to a tree without nodes.
    pub(super) fn root(&mut self) -> NodeId {
        if self.nodes.is_empty() {
            self.add_made(NO_NODE, &CallFrame::root());
        }
        ROOT
    }

    /// Announces a node: appends the node and those above it that were not announced to `list`,
    /// parents first.
    pub(super) fn announce(&mut self, id: NodeId, list: &mut Vec<NodeId>) {
        let from = list.len();
        let mut at = id;
        while at != NO_NODE {
            let node = &mut self.nodes[at as usize - 1];
            if mem::replace(&mut node.is_announced, true) {
                break;
            }
            list.push(at);
            at = node.path.parent;
        }
        list[from..].reverse();
    }

    /// Returns a node to be written.
    pub(super) fn encoded(&self, id: NodeId) -> ChunkNode<'_> {
        let TreePath { parent, frame } = self.nodes[id as usize - 1].path;
        let parent = (parent != NO_NODE).then_some(parent);
        let deopt_reason = self.deopts.get(&id).map(String::as_str);
        ChunkNode { id, parent, call_frame: &self.frames[frame as usize].0, deopt_reason }
    }

    /// Finds or makes the node of a recording's node. A recording can have several nodes without a
    /// parent. Only the node of the root's name is the root; the others are below.
    fn id_of(&mut self, node: &NodeJson<'_>) -> NodeId {
        let parents = &self.parents;
        let parent = node.parent.map(|parent| parent.0);
        let parent = parent.or_else(|| parents.get(&node.id.0).copied());
        let parent = parent.and_then(|parent| self.ids.get(&parent)).copied();
        match (parent, node.call_frame) {
            (None, Some(frame)) if is_root(frame) => {
                if self.nodes.is_empty() {
                    self.add_path(NO_NODE, frame);
                }
                ROOT
            }
            (parent, frame) => {
                let parent = parent.unwrap_or_else(|| self.root());
                match frame {
                    Some(frame) => self.add_path(parent, frame),
                    None => self.unknown(parent),
                }
            }
        }
    }

    fn unknown(&mut self, parent: NodeId) -> NodeId {
        self.add_made(parent, &CallFrame::unknown())
    }

    /// Finds or makes a node that no recording has.
    fn add_made(&mut self, parent: NodeId, frame: &CallFrame) -> NodeId {
        let frame = CallFrameJson::new(frame, "", ScriptIdOffset::NONE).encode();
        self.add_path(parent, frame.as_deref().unwrap_or(RawValue::NULL))
    }

    fn add_path(&mut self, parent: NodeId, frame: &RawValue) -> NodeId {
        let text = frame.get();
        let frame = number_of(&mut self.frames, text, |_| FrameText(frame.to_owned()));
        let path = TreePath { parent, frame };
        let (id, is_new) = self.paths.id(path);
        if is_new {
            let stack = self.stack(path, text);
            self.nodes.push(RewrittenNode { path, is_announced: false, stack });
        }
        id
    }

    /// Returns what the stack of a new node has of the filter.
    fn stack(&mut self, TreePath { parent, frame }: TreePath, text: &str) -> StackMatch {
        if !self.filter.is_limited() {
            return StackMatch::default();
        }
        if self.matches.len() == frame as usize {
            self.matches.push(self.filter.of_frame(&parse_frame(text)));
        }
        let above = match parent {
            NO_NODE => StackMatch::default(),
            parent => self.nodes[parent as usize - 1].stack,
        };
        above.with(self.matches[frame as usize])
    }
}
