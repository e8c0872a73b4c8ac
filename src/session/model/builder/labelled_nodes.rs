//! Nodes for samples with labels. Each stands beside the node of the same stack, and has no children.

use rustc_hash::FxHashMap;

use crate::model::thread_profile::{ProfileNode, ThreadProfile};
use cpu_prof_core::profile::label_table::NO_LABELS;

/// Indices of such nodes, by the node of the same stack without labels and the number of the label set.
#[derive(Debug, Default, Clone)]
pub(super) struct LabelledNodes {
    indices: FxHashMap<(u32, u32), u32>,
}

impl LabelledNodes {
    /// Returns the index of the node for the samples of `node` with these labels.
    pub(super) fn index(&mut self, node: u32, labels: u32, nodes: &mut Vec<ProfileNode>) -> u32 {
        if labels == NO_LABELS {
            return node;
        }
        *self.indices.entry((node, labels)).or_insert_with(|| {
            let ProfileNode { parent, frame, .. } = nodes[node as usize];
            nodes.push(ProfileNode::new(parent, frame));
            (nodes.len() - 1) as u32
        })
    }

    /// Completes the nodes of a profile: a file can announce a node after its samples.
    pub(super) fn finish(&self, profile: &mut ThreadProfile) {
        if self.indices.is_empty() {
            return;
        }
        let ThreadProfile { nodes, labels, .. } = profile;
        labels.resize(nodes.len(), NO_LABELS);
        for ((node, set), index) in &self.indices {
            let ProfileNode { parent, frame, .. } = nodes[*node as usize];
            let labelled = &mut nodes[*index as usize];
            (labelled.parent, labelled.frame) = (parent, frame);
            labels[*index as usize] = *set;
        }
    }
}
