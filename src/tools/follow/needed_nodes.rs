//! Leaves out the nodes of a call tree that have no time: a long recording has many, and the last
//! seconds need few.

use rustc_hash::FxHashMap;

use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Copies the frames that profiles need from one table to another.
pub(super) struct NeededFrames<'a> {
    all: &'a FrameTable,
    numbers: FxHashMap<u32, u32>,
    /// The needed frames.
    pub frames: FrameTable,
}

impl<'a> NeededFrames<'a> {
    /// Returns a copy without frames.
    pub(super) fn of(all: &'a FrameTable) -> Self {
        Self { all, numbers: FxHashMap::default(), frames: FrameTable::new() }
    }

    /// Leaves out the nodes that have no time and no samples, neither themselves nor below. Gives the
    /// others the numbers of the needed frames.
    pub(super) fn keep(&mut self, profile: &mut ThreadProfile) {
        let mut is_needed: Vec<bool> = profile.all_times().map(|times| times.has_time()).collect();
        for line in &profile.lines {
            is_needed[line.node as usize] = true;
        }
        // Parents come before their children.
        for (index, node) in profile.nodes.iter().enumerate().rev() {
            if is_needed[index]
                && let Some(parent) = is_needed.get_mut(node.parent as usize)
            {
                *parent = true;
            }
        }
        let mut new_indices = vec![NONE; profile.nodes.len()];
        let mut nodes = Vec::new();
        let mut labels = Vec::new();
        for (index, mut node) in profile.nodes.drain(..).enumerate() {
            if is_needed[index] {
                new_indices[index] = nodes.len() as u32;
                labels.extend(profile.labels.get(index));
                node.parent = new_indices.get(node.parent as usize).copied().unwrap_or(NONE);
                node.frame = self.number(node.frame);
                nodes.push(node);
            }
        }
        profile.nodes = nodes;
        profile.labels = labels;
        for line in &mut profile.lines {
            line.node = new_indices[line.node as usize];
        }
    }

    fn number(&mut self, frame: u32) -> u32 {
        let Self { all, numbers, frames } = self;
        *numbers.entry(frame).or_insert_with(|| frames.number(all.list()[frame as usize].clone()))
    }
}
