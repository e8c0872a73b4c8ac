//! Orders the nodes of a profile: parents before their children.

use super::lists::sample_list::ProfileSample;
use super::thread_profile::{NONE, ProfileNode, ThreadProfile};

/// Puts parents before their children. Cuts circles of parents open.
pub fn parents_first(profile: &mut ThreadProfile) {
    let nodes = &mut profile.nodes;
    let is_ordered =
        (0..).zip(nodes.iter()).all(|(i, node)| node.parent == NONE || node.parent < i);
    if is_ordered {
        return;
    }
    let depths = depths(nodes);
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by_key(|index| depths[*index as usize]);
    let mut new_indices = vec![NONE; nodes.len()];
    for (new, old) in (0..).zip(&order) {
        new_indices[*old as usize] = new;
    }
    let new_index = |index: u32| new_indices.get(index as usize).copied().unwrap_or(NONE);
    let moved = order.iter().map(|index| {
        let node = nodes[*index as usize];
        ProfileNode { parent: new_index(node.parent), ..node }
    });
    *nodes = moved.collect();
    profile.samples.change(|sample| ProfileSample { node: new_index(sample.node), ..sample });
    for line in &mut profile.lines {
        line.node = new_index(line.node);
    }
    if !profile.labels.is_empty() {
        profile.labels = order.iter().map(|index| profile.labels[*index as usize]).collect();
    }
    profile.steps.renumber(|node| Some(new_index(node)));
    for span in &mut profile.off_core {
        span.node = new_index(span.node);
    }
    for (node, _) in &mut profile.deopts {
        *node = new_index(*node);
    }
}

/// Returns the depth of each node: 1 for a root. Makes a root of one node of each circle.
fn depths(nodes: &mut [ProfileNode]) -> Vec<u32> {
    const UNKNOWN: u32 = 0;
    const ON_PATH: u32 = u32::MAX;
    let mut depths = vec![UNKNOWN; nodes.len()];
    let mut path = Vec::new();
    for start in 0..nodes.len() as u32 {
        let mut at = start;
        let mut depth = loop {
            if at == NONE {
                break 0;
            }
            match depths[at as usize] {
                UNKNOWN => {
                    depths[at as usize] = ON_PATH;
                    path.push(at);
                    at = nodes[at as usize].parent;
                }
                ON_PATH => {
                    if let Some(last) = path.last() {
                        nodes[*last as usize].parent = NONE;
                    }
                    break 0;
                }
                depth => break depth,
            }
        };
        while let Some(index) = path.pop() {
            depth += 1;
            depths[index as usize] = depth;
        }
    }
    depths
}
