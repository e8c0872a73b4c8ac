//! Joins the trees of many windows into one tree, whose ids last for the whole recording.

use std::mem;

use super::Window;
use super::path_ids::{NO_NODE, NodeId, PathIds, TreePath};
use crate::base::numbering::{FxIndexSet, number_of};
use crate::profile::frame::CallFrame;

/// A node that no earlier window held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewNode {
    /// Id in the recording.
    pub id: NodeId,
    /// Id of the parent; none for the root.
    pub parent: Option<NodeId>,
    /// Index into the window's `frames`.
    pub frame: u32,
}

/// The place of a window in the tree.
#[derive(Debug, Default)]
pub struct PlacedWindow {
    /// Nodes to announce, parents before their children.
    pub new_nodes: Vec<NewNode>,
    /// Ids of the window's nodes, by their index in the window.
    pub ids: Vec<NodeId>,
}

impl PlacedWindow {
    /// Returns the nodes that have a reason why V8 does not optimize them, by their ids.
    pub fn deopts<'a>(&self, window: &'a Window) -> impl Iterator<Item = (NodeId, &'a str)> {
        let id = |node: u32| self.ids.get(node as usize).copied();
        window.deopts.iter().filter_map(move |(node, reason)| Some((id(*node)?, reason.as_str())))
    }
}

/// The tree of a recording. A path keeps its id until the tree forgets the path.
pub struct CallTree {
    limit: usize,
    frames: FxIndexSet<CallFrame>,
    /// Count of the frames before the window that was placed last.
    earlier_frames: usize,
    paths: PathIds,
}

impl CallTree {
    /// Returns a tree that forgets its paths when a window comes and more than `limit` are known.
    pub fn new(limit: usize) -> Self {
        Self { limit, frames: FxIndexSet::default(), earlier_frames: 0, paths: PathIds::default() }
    }

    /// Forgets all, ids included, for a file of its own.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Finds or makes the node of each node of a window.
    pub fn place(&mut self, window: &Window) -> PlacedWindow {
        if self.paths.len() > self.limit {
            self.forget();
        }
        self.earlier_frames = self.frames.len();
        let frames: Vec<u32> = window
            .frames
            .iter()
            .map(|frame| number_of(&mut self.frames, frame, CallFrame::clone))
            .collect();
        let mut placed =
            PlacedWindow { new_nodes: Vec::new(), ids: Vec::with_capacity(window.nodes.len()) };
        for (index, node) in window.nodes.iter().enumerate() {
            let parent = if index == 0 { NO_NODE } else { placed.ids[node.parent as usize] };
            let path = TreePath { parent, frame: frames[node.frame as usize] };
            let (id, is_new) = self.paths.id(path);
            if is_new {
                let parent = (parent != NO_NODE).then_some(parent);
                placed.new_nodes.push(NewNode { id, parent, frame: node.frame });
            }
            placed.ids.push(id);
        }
        placed
    }

    /// Takes back the new nodes of the window that was placed last, because they were not written.
    pub fn take_back(&mut self, placed: &PlacedWindow) {
        if let Some(first) = placed.new_nodes.first() {
            self.paths.take_back(first.id);
        }
        self.frames.truncate(self.earlier_frames);
    }

    /// Returns the id of the root, if there is one.
    pub fn root(&self) -> Option<NodeId> {
        self.paths.root()
    }

    /// Returns the id of a child of the root.
    pub fn id_below_root(&self, frame: &CallFrame) -> Option<NodeId> {
        let number = |frame: &CallFrame| Some(self.frames.get_index_of(frame)? as u32);
        let root = TreePath { parent: NO_NODE, frame: number(&CallFrame::root())? };
        let parent = self.paths.known_id(root)?;
        self.paths.known_id(TreePath { parent, frame: number(frame)? })
    }

    /// Forgets the frames and paths, except for the root, idle, program and garbage collector:
    /// DevTools knows only one of each.
    fn forget(&mut self) {
        let frames = mem::take(&mut self.frames);
        let root = self.paths.root();
        self.paths.forget(|path| {
            let frame = &frames[path.frame as usize];
            let is_kept = frame.is_meta() && (path.parent == NO_NODE || Some(path.parent) == root);
            is_kept.then(|| {
                let frame = number_of(&mut self.frames, frame, CallFrame::clone);
                TreePath { frame, ..path }
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    use crate::profile::window::WindowNode;
    use proptest::prelude::*;

    fn frame(name: &str) -> CallFrame {
        let script_id = if name.starts_with('(') { 0 } else { 7 };
        CallFrame {
            function_name: name.into(),
            url: "/a.js".into(),
            script_id,
            line: 1,
            column: 2,
            ..CallFrame::root()
        }
    }

    /// A window from `name: parent index` pairs.
    fn window(nodes: &[(&str, u32)]) -> Window {
        let mut window = Window::default();
        for (name, parent) in nodes {
            let frame = frame(name);
            let index =
                window.frames.iter().position(|known| *known == frame).unwrap_or_else(|| {
                    window.frames.push(frame);
                    window.frames.len() - 1
                });
            window.nodes.push(WindowNode { parent: *parent, frame: index as u32 });
        }
        window
    }

    #[test]
    fn announces_only_new_nodes_parents_first() {
        let mut tree = CallTree::new(1000);
        let first = tree.place(&window(&[("(root)", 0), ("main", 0), ("f", 1)]));
        assert_eq!(
            first.new_nodes,
            [
                NewNode { id: 1, parent: None, frame: 0 },
                NewNode { id: 2, parent: Some(1), frame: 1 },
                NewNode { id: 3, parent: Some(2), frame: 2 },
            ]
        );
        // The same paths in another order, and one more.
        let second = tree.place(&window(&[("(root)", 0), ("g", 0), ("main", 0), ("f", 2)]));
        assert_eq!(second.new_nodes, [NewNode { id: 4, parent: Some(1), frame: 1 }]);
        assert_eq!(second.ids, [1, 4, 2, 3]);
    }

    #[test]
    fn recursion_is_a_path_not_a_cycle() {
        let mut tree = CallTree::new(1000);
        let placed = tree.place(&window(&[("(root)", 0), ("f", 0), ("f", 1), ("f", 2)]));
        assert_eq!(placed.ids, [1, 2, 3, 4]);
        assert!(tree.place(&window(&[("(root)", 0), ("f", 0), ("f", 1)])).new_nodes.is_empty());
    }

    #[test]
    fn functions_that_differ_in_place_alone_are_two() {
        let mut tree = CallTree::new(1000);
        let mut window = window(&[("(root)", 0), ("f", 0), ("f", 0)]);
        window.frames.push(CallFrame { column: 9, ..frame("f") });
        window.nodes[2].frame = 2;
        assert_eq!(tree.place(&window).ids, [1, 2, 3]);
    }

    #[test]
    fn forgets_past_its_limit_and_never_reuses_an_id() {
        let mut tree = CallTree::new(3);
        let shape = [("(root)", 0), ("(idle)", 0), ("a", 0), ("b", 2), ("(idle)", 3)];
        let before = tree.place(&window(&shape));
        assert_eq!(before.ids, [1, 2, 3, 4, 5]);
        let after = tree.place(&window(&shape));
        // Root and idle are kept, but not a function of the program of the same name.
        assert_eq!(after.ids, [1, 2, 6, 7, 8]);
        assert_eq!(after.new_nodes.len(), 3);
        assert_eq!(after.new_nodes[0].parent, Some(1));
    }

    #[test]
    fn a_window_that_was_not_written_leaves_nothing() {
        let mut tree = CallTree::new(1000);
        assert_eq!(tree.root(), None);
        let first = [("(root)", 0), ("main", 0)];
        let lost = tree.place(&window(&first));
        tree.take_back(&lost);
        assert_eq!(tree.root(), None);
        assert_eq!(tree.place(&window(&first)).new_nodes, lost.new_nodes);
        assert_eq!(tree.root(), Some(1));
        let second = window(&[("(root)", 0), ("main", 0), ("f", 1)]);
        let lost = tree.place(&second);
        tree.take_back(&lost);
        assert_eq!(tree.frames.len(), 2);
        assert_eq!(tree.place(&second).new_nodes, lost.new_nodes);
        // Nothing new, nothing to take back.
        let known = tree.place(&second);
        tree.take_back(&known);
        assert!(tree.place(&second).new_nodes.is_empty());
    }

    #[test]
    fn stays_bounded() {
        let mut tree = CallTree::new(100);
        for round in 0..1000 {
            let name = format!("f{round}");
            tree.place(&window(&[("(root)", 0), (&name, 0), ("g", 1)]));
            assert!(tree.paths.len() <= 103 && tree.frames.len() <= 103);
        }
        let last = tree.place(&window(&[("(root)", 0), ("new", 0)]));
        assert!(last.new_nodes[0].id > 2000);
    }

    proptest! {
        #[test]
        fn any_windows_keep_their_paths(
            windows in crate::testing::windows::any::windows(0),
            limit in 0_usize..20,
        ) {
            let mut tree = CallTree::new(limit);
            let mut announced: HashMap<NodeId, (Option<NodeId>, CallFrame)> = HashMap::new();
            let mut states = HashSet::new();
            for window in &windows {
                let placed = tree.place(window);
                for node in &placed.new_nodes {
                    let frame = window.frames[node.frame as usize].clone();
                    let Some(parent) = node.parent else {
                        prop_assert!(announced.is_empty(), "a second root");
                        announced.insert(node.id, (None, frame));
                        continue;
                    };
                    let (above, _) = announced.get(&parent).unwrap();
                    if above.is_none() && frame.is_meta() {
                        prop_assert!(states.insert(frame.clone()), "a second {frame:?}");
                    }
                    let before = announced.insert(node.id, (Some(parent), frame));
                    prop_assert!(before.is_none(), "id {} is reused", node.id);
                }
                prop_assert_eq!(placed.ids.len(), window.nodes.len());
                for (index, (node, id)) in window.nodes.iter().zip(&placed.ids).enumerate() {
                    // By induction, parents first: the whole path is the same.
                    let (parent, frame) = &announced[id];
                    prop_assert_eq!(frame, &window.frames[node.frame as usize]);
                    let above = (index > 0).then(|| placed.ids[node.parent as usize]);
                    prop_assert_eq!(*parent, above);
                }
                // The root and the states stay.
                let limit = limit.max(4) + window.nodes.len();
                prop_assert!(tree.paths.len() <= limit && tree.frames.len() <= limit);
            }
        }
    }
}
