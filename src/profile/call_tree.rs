//! Many windows' trees into one tree, whose ids last for the whole recording.

use rustc_hash::FxHashMap;

use crate::profile::frame::CallFrame;
use crate::profile::window::Window;

/// A node's id in the recording: given once, never given again.
pub(crate) type NodeId = u32;

/// A node that no earlier window held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewNode {
    /// Its id from now on.
    pub id: NodeId,
    /// Its parent's id; none for the root.
    pub parent: Option<NodeId>,
    /// Index into the window's `frames`.
    pub frame: u32,
}

/// How one window lies in the tree.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// To be announced: parents before their children.
    pub new_nodes: Vec<NewNode>,
    /// The id of each of the window's nodes, by its index there.
    pub ids: Vec<NodeId>,
}

/// The recording's tree. The same path has the same id, until the tree is forgotten.
pub(crate) struct CallTree {
    limit: usize,
    frames: FxHashMap<CallFrame, u32>,
    nodes: FxHashMap<PathKey, NodeId>,
    next_frame: u32,
    next_id: NodeId,
}

/// A parent's id (0 above the root) and a frame.
type PathKey = (NodeId, u32);

const ABOVE_ROOT: NodeId = 0;

impl CallTree {
    /// A tree that forgets its paths before a window that finds more than `limit` nodes in it.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            frames: FxHashMap::default(),
            nodes: FxHashMap::default(),
            next_frame: 0,
            next_id: ABOVE_ROOT + 1,
        }
    }

    /// Finds or makes a node for each node of the window.
    pub(crate) fn place(&mut self, window: &Window) -> Placed {
        if self.nodes.len() > self.limit {
            self.forget();
        }
        let frames: Vec<u32> = window.frames.iter().map(|frame| self.frame(frame)).collect();
        let mut placed =
            Placed { new_nodes: Vec::new(), ids: Vec::with_capacity(window.nodes.len()) };
        for (index, node) in window.nodes.iter().enumerate() {
            let parent = if index == 0 { ABOVE_ROOT } else { placed.ids[node.parent as usize] };
            let next_id = &mut self.next_id;
            let id =
                *self.nodes.entry((parent, frames[node.frame as usize])).or_insert_with(|| {
                    let id = *next_id;
                    *next_id += 1;
                    let parent = (parent != ABOVE_ROOT).then_some(parent);
                    placed.new_nodes.push(NewNode { id, parent, frame: node.frame });
                    id
                });
            placed.ids.push(id);
        }
        placed
    }

    fn frame(&mut self, frame: &CallFrame) -> u32 {
        if let Some(id) = self.frames.get(frame) {
            return *id;
        }
        let id = self.next_frame;
        self.next_frame += 1;
        self.frames.insert(frame.clone(), id);
        id
    }

    /// Ids are not reused: a path that comes back is announced under a new one. The root, idle,
    /// program and garbage collector stay, since DevTools knows only one of each.
    fn forget(&mut self) {
        self.frames.retain(|frame, _| frame.is_meta());
        self.frames.shrink_to_fit();
        let kept: Vec<u32> = self.frames.values().copied().collect();
        let root =
            self.nodes.iter().find(|((parent, _), _)| *parent == ABOVE_ROOT).map(|(_, id)| *id);
        self.nodes.retain(|(parent, frame), _| {
            (*parent == ABOVE_ROOT || Some(*parent) == root) && kept.contains(frame)
        });
        self.nodes.shrink_to_fit();
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
        CallFrame { function_name: name.into(), url: "/a.js".into(), script_id, line: 1, column: 2 }
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
        // Root and idle are kept; a function of the program's that is only named so is not.
        assert_eq!(after.ids, [1, 2, 6, 7, 8]);
        assert_eq!(after.new_nodes.len(), 3);
        assert_eq!(after.new_nodes[0].parent, Some(1));
    }

    #[test]
    fn stays_bounded() {
        let mut tree = CallTree::new(100);
        for round in 0..1000 {
            let name = format!("f{round}");
            tree.place(&window(&[("(root)", 0), (&name, 0), ("g", 1)]));
            assert!(tree.nodes.len() <= 103 && tree.frames.len() <= 103);
        }
        assert!(tree.next_id > 2000);
    }

    proptest! {
        #[test]
        fn any_windows_keep_their_paths(
            windows in crate::profile::test_windows::any::windows(0),
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
                // The root and what V8 makes up stay.
                let most = limit.max(4) + window.nodes.len();
                prop_assert!(tree.nodes.len() <= most && tree.frames.len() <= most);
            }
        }
    }
}
