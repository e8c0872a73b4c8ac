//! Ids of call-tree nodes that last: a path through the tree has one id.

use std::collections::hash_map::Entry;
use std::mem;

use rustc_hash::FxHashMap;

/// The id of a node: given once, and never reused once it is written. Ids count from 1.
pub type NodeId = u32;

/// The id of no node, which is the parent of the root.
pub const NO_NODE: NodeId = 0;

/// A path from the root: the node above, and a call frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreePath {
    /// Id of the parent; [`NO_NODE`] for the root.
    pub parent: NodeId,
    /// Number of the call frame.
    pub frame: u32,
}

/// The ids of paths.
#[derive(Debug, Default)]
pub struct PathIds {
    ids: FxHashMap<TreePath, NodeId>,
    last_id: NodeId,
}

impl PathIds {
    /// Returns the id of a path, and whether the id is new.
    pub fn id(&mut self, path: TreePath) -> (NodeId, bool) {
        match self.ids.entry(path) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(new) => {
                self.last_id += 1;
                (*new.insert(self.last_id), true)
            }
        }
    }

    /// Returns the id of a path, if the path is known.
    pub(crate) fn known_id(&self, path: TreePath) -> Option<NodeId> {
        self.ids.get(&path).copied()
    }

    /// Returns the id of the root.
    pub fn root(&self) -> Option<NodeId> {
        self.ids.iter().find(|(path, _)| path.parent == NO_NODE).map(|(_, id)| *id)
    }

    /// Returns the count of known paths.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Takes back the ids from `first` on, which are then given again.
    pub fn take_back(&mut self, first: NodeId) {
        self.ids.retain(|_, id| *id < first);
        self.last_id = first - 1;
    }

    /// Forgets the paths for which `renamed` returns none. The other ids go on under the path that
    /// `renamed` returns. A forgotten path gets a new id when it comes again.
    pub fn forget(&mut self, mut renamed: impl FnMut(TreePath) -> Option<TreePath>) {
        let ids = mem::take(&mut self.ids);
        self.ids = ids.into_iter().filter_map(|(path, id)| Some((renamed(path)?, id))).collect();
    }
}
