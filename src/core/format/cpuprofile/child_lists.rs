//! The children of all nodes, as chains through the nodes: two numbers a node.

use crate::profile::window::path_ids::{NO_NODE, NodeId};

/// The children of each node, in ascending order. Nodes count from 1; lists are by the id less one.
pub(super) struct ChildLists {
    first_child: Vec<NodeId>,
    next_sibling: Vec<NodeId>,
}

impl ChildLists {
    /// Returns the lists for the parents of all nodes.
    pub(super) fn of(parents: impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator) -> Self {
        let count = parents.len();
        let mut lists =
            Self { first_child: vec![NO_NODE; count], next_sibling: vec![NO_NODE; count] };
        // From the last node, so that each chain ascends.
        for (index, parent) in parents.enumerate().rev() {
            if parent != NO_NODE {
                let first = &mut lists.first_child[parent as usize - 1];
                lists.next_sibling[index] = *first;
                *first = index as NodeId + 1;
            }
        }
        lists
    }

    /// Returns the children of a node.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let some = |id| (id != NO_NODE).then_some(id);
        std::iter::successors(some(self.first_child[id as usize - 1]), move |id| {
            some(self.next_sibling[*id as usize - 1])
        })
    }
}
