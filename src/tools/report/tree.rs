//! The call tree of all threads together, as far as it matters.

use std::cmp::Reverse;

use super::json::ReportTreeNode;
use crate::shared::costs::WeightedTree;
use crate::shared::frame_index::{FrameIndex, FrameKind};
use crate::shared::launchers::shown_profiles;
use crate::shared::path_tree::PathTree;
use cpu_prof_core::profile::session::Session;
use cpu_prof_core::profile::session::thread_profile::NONE;

/// Levels of the tree: what is below counts for the last level. Writers and readers of JSON recurse.
const MAX_LEVELS: usize = 200;
/// Part of the whole time that a branch needs.
const ENOUGH: f64 = 0.005;

/// A call path of all threads.
#[derive(Default)]
struct JoinedNode {
    self_us: u64,
    total_us: u64,
    function: usize,
    children: Vec<u32>,
}

/// The paths of all threads.
#[derive(Default)]
struct JoinedTree {
    paths: PathTree,
    /// Times of the paths, by their numbers.
    nodes: Vec<JoinedNode>,
    roots: Vec<u32>,
}

/// Returns the call tree of all threads but those of launchers. Branches with hardly any time are left
/// out.
pub(super) fn tree<'a>(
    session: &Session,
    launchers: &[bool],
    index: &'a FrameIndex,
) -> Vec<ReportTreeNode<'a>> {
    let mut joined = JoinedTree::default();
    for profile in shown_profiles(session, launchers) {
        let tree = WeightedTree::of(profile);
        let mut places: Vec<Option<u32>> = Vec::with_capacity(profile.nodes.len());
        for (node, data) in (0_u32..).zip(&profile.nodes) {
            let above = match data.parent {
                NONE => None,
                parent => places[parent as usize],
            };
            let total_us = tree.total_us(node);
            let place = match index.function(data.frame) {
                Some(function) if total_us > 0 => {
                    let place = joined.node(above, function);
                    let joined = &mut joined.nodes[place as usize];
                    joined.self_us += data.self_us;
                    joined.total_us += total_us;
                    Some(place)
                }
                _ => above,
            };
            places.push(place);
        }
    }
    let roots = joined.roots.iter().map(|root| &joined.nodes[*root as usize]);
    let whole_us: u64 = roots.map(|root| root.total_us).sum();
    let least_us = (whole_us as f64 * ENOUGH) as u64;
    joined.report(&joined.roots, least_us.max(1), MAX_LEVELS, index)
}

impl JoinedTree {
    fn node(&mut self, above: Option<u32>, function: usize) -> u32 {
        let place = self.paths.number(above, FrameKind::Function(function));
        if place as usize == self.nodes.len() {
            self.nodes.push(JoinedNode { function, ..JoinedNode::default() });
            match above {
                Some(above) => self.nodes[above as usize].children.push(place),
                None => self.roots.push(place),
            }
        }
        place
    }

    fn report<'a>(
        &self,
        nodes: &[u32],
        least_us: u64,
        levels: usize,
        index: &'a FrameIndex,
    ) -> Vec<ReportTreeNode<'a>> {
        let mut shown: Vec<&JoinedNode> =
            nodes.iter().map(|node| &self.nodes[*node as usize]).collect();
        shown.retain(|node| levels > 0 && node.total_us >= least_us);
        shown.sort_by_key(|node| Reverse((node.total_us, node.self_us)));
        let node = |node: &JoinedNode| ReportTreeNode {
            function: index.place(node.function),
            self_us: node.self_us,
            total_us: node.total_us,
            children: self.report(&node.children, least_us, levels - 1, index),
        };
        shown.into_iter().map(node).collect()
    }
}
