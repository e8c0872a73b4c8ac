//! Parents before their children.

use super::thread_profile::{NONE, ProfileNode, ThreadProfile};

/// Brings nodes into that order, and cuts circles open.
pub(crate) fn parents_first(profile: &mut ThreadProfile) {
    let nodes = &mut profile.nodes;
    let is_ordered =
        (0..).zip(nodes.iter()).all(|(i, node)| node.parent == NONE || node.parent < i);
    if is_ordered {
        return;
    }
    let depths = depths(nodes);
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by_key(|index| depths[*index as usize]);
    let mut places = vec![NONE; nodes.len()];
    for (place, index) in (0..).zip(&order) {
        places[*index as usize] = place;
    }
    let place = |index: u32| places.get(index as usize).copied().unwrap_or(NONE);
    let moved = order.iter().map(|index| {
        let node = nodes[*index as usize];
        ProfileNode { parent: place(node.parent), ..node }
    });
    *nodes = moved.collect();
    for sample in &mut profile.samples {
        sample.node = place(sample.node);
    }
}

/// How far each node is from its root: 1 for the root.
fn depths(nodes: &mut [ProfileNode]) -> Vec<u32> {
    const UNKNOWN: u32 = 0;
    const ON_THE_WAY: u32 = u32::MAX;
    let mut depths = vec![UNKNOWN; nodes.len()];
    let mut way = Vec::new();
    for start in 0..nodes.len() as u32 {
        let mut at = start;
        let mut depth = loop {
            if at == NONE {
                break 0;
            }
            match depths[at as usize] {
                UNKNOWN => {
                    depths[at as usize] = ON_THE_WAY;
                    way.push(at);
                    at = nodes[at as usize].parent;
                }
                ON_THE_WAY => {
                    if let Some(last) = way.last() {
                        nodes[*last as usize].parent = NONE;
                    }
                    break 0;
                }
                depth => break depth,
            }
        };
        while let Some(index) = way.pop() {
            depth += 1;
            depths[index as usize] = depth;
        }
    }
    depths
}
