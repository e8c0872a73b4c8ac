//! What is needed of a profile that is read again and again while its recording grows.

use super::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use crate::model::node_indices::NodeIndices;
use crate::model::thread_profile::NONE;
use cpu_prof_core::profile::read_scope::ReadScope;

impl ProfileBuilder {
    /// Sets the part of the recording that is kept from now on.
    pub fn set_scope(&mut self, scope: ReadScope) {
        self.scope = scope;
        self.cpu.set_scope(scope);
    }

    /// Returns the count of the nodes.
    pub fn node_count(&self) -> usize {
        self.profile.nodes.len()
    }

    /// Forgets the first nodes, up to an index, but for those that others or the last sample need, and
    /// those right below the root, among which the states are. No time must be kept so far.
    pub fn forget_nodes(&mut self, before: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::thread_profile::ThreadProfile;
    use cpu_prof_core::profile::position::SourcePosition;

    const NOTHING: ReadScope = ReadScope { from_us: i64::MAX, ..ReadScope::TIMES };

    /// Announces nodes below others: the frame of each is its id.
    fn announce(builder: &mut ProfileBuilder, nodes: &[(u64, u64)]) {
        for (id, parent) in nodes {
            builder.announce(*id, Some(*parent), 100 + *id as u32);
        }
    }

    fn sample(builder: &mut ProfileBuilder, ids: &[u64]) {
        ids.iter().for_each(|id| builder.sample(*id, 10, SourcePosition::default()));
    }

    /// Returns the stacks that have time, by their frames, with their times.
    fn stacks(profile: &ThreadProfile) -> Vec<(Vec<u32>, u64)> {
        let above = |index: u32| profile.nodes.get(index as usize);
        let timed = profile.timed_nodes().filter(|(_, times)| times.self_us > 0);
        let mut stacks: Vec<_> = timed
            .map(|(node, times)| {
                let stack = std::iter::successors(Some(node), |node| above(node.parent));
                (stack.map(|node| node.frame).collect(), times.self_us)
            })
            .collect();
        stacks.sort();
        stacks
    }

    #[test]
    fn nodes_that_nobody_needs_are_forgotten() {
        let mut builder = ProfileBuilder::new(0, NOTHING);
        builder.announce(1, None, FrameTable::ROOT);
        announce(&mut builder, &[(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (7, 6), (9_000_000, 4)]);
        sample(&mut builder, &[3, 4, 7]);
        let before = builder.node_count();
        // The recorder announces all below the root anew; one node is still below an old one.
        announce(&mut builder, &[(20, 1), (21, 20), (22, 4)]);
        builder.forget_nodes(before);
        // The root and the nodes below, the last sample's, the stack of the late node, the new ones.
        assert_eq!(builder.node_count(), 1 + 2 + 2 + 2 + 3);
        builder.set_scope(ReadScope::TIMES);
        sample(&mut builder, &[21, 22, 2, 9_000_000]);
        builder.extend_to(1000);
        let stack = |ids: &[u32]| -> Vec<u32> {
            ids.iter().map(|id| 100 + id).chain([FrameTable::ROOT]).collect()
        };
        let mut expected = vec![
            (stack(&[7, 6, 5]), 10),
            (stack(&[21, 20]), 10),
            (stack(&[22, 4, 3, 2]), 10),
            (stack(&[2]), 10),
            // Forgotten, although the recorder knew the node.
            (vec![FrameTable::UNKNOWN], 1000 - 70),
        ];
        expected.sort();
        assert_eq!(stacks(&builder.finish()), expected);
    }
}
