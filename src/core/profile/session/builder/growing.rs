//! What is needed of a profile that is read again and again while its recording grows.

use super::ProfileBuilder;
use crate::profile::frame_table::FrameTable;
use crate::profile::session::node_indices::NodeIndices;
use crate::profile::session::thread_profile::{NONE, ReadScope};

impl ProfileBuilder {
    /// Sets the part of the recording that is kept from now on.
    pub(crate) fn set_scope(&mut self, scope: ReadScope) {
        self.scope = scope;
        self.cpu.set_scope(scope);
    }

    /// Returns the count of the nodes.
    pub(crate) fn node_count(&self) -> usize {
        self.profile.nodes.len()
    }

    /// Forgets the first nodes, up to an index, but for those that others or the last sample need, and
    /// those right below the root, among which the states are. No time must be kept so far.
    pub(crate) fn forget_nodes(&mut self, before: usize) {
        let nodes = &self.profile.nodes;
        let is_root = |index: u32| {
            nodes.get(index as usize).is_some_and(|node| node.frame == FrameTable::ROOT)
        };
        let last = self.open.map(|open| open.node);
        let mut is_kept: Vec<bool> = (0_u32..)
            .zip(nodes)
            .map(|(index, node)| {
                index as usize >= before
                    || is_root(index)
                    || is_root(node.parent)
                    || last == Some(index)
            })
            .collect();
        for start in (0..nodes.len()).rev().filter(|index| is_kept[*index]).collect::<Vec<_>>() {
            let mut above = nodes[start].parent;
            while let Some(is_above_kept) = is_kept.get_mut(above as usize)
                && !*is_above_kept
            {
                *is_above_kept = true;
                above = nodes[above as usize].parent;
            }
        }
        let mut new_indices = vec![NONE; nodes.len()];
        let kept = (0..).zip(&is_kept).filter(|(_, is_kept)| **is_kept);
        for (new, (old, _)) in (0..).zip(kept) {
            new_indices[old as usize] = new;
        }
        let new_index = |index: u32| new_indices.get(index as usize).copied().unwrap_or(NONE);
        let mut is_kept = is_kept.into_iter();
        self.profile.nodes.retain(|_| is_kept.next().unwrap_or(true));
        for node in &mut self.profile.nodes {
            (node.parent, node.times) = (new_index(node.parent), NONE);
        }
        self.profile.times.clear();
        if let Some(open) = &mut self.open {
            open.node = new_index(open.node);
        }
        let mut indices = NodeIndices::default();
        for (id, index) in self.indices.known_ids() {
            if new_index(index) != NONE {
                indices.set(id, new_index(index));
            }
        }
        self.indices = indices;
    }
}
