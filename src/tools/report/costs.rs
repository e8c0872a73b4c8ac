//! Self and total times over call trees.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Cost;
use crate::profile::thread_profile::{NONE, ThreadProfile};

/// What each subject cost. Subjects are numbers from 0.
pub(super) struct Costs {
    list: Vec<Cost>,
    /// How often each is on the stack right now.
    on_stack: Vec<u32>,
}

impl Costs {
    /// So many subjects, without a cost yet.
    pub(super) fn new(subjects: usize) -> Self {
        Self { list: vec![Cost { self_us: 0, total_us: 0 }; subjects], on_stack: vec![0; subjects] }
    }

    /// How many have a cost.
    pub(super) fn seen(&self) -> usize {
        self.list.iter().filter(|cost| cost.total_us > 0).count()
    }

    /// The first `top` by self time and the first `top` by total time, in the order of self time.
    pub(super) fn top(&self, top: usize) -> impl Iterator<Item = (usize, Cost)> {
        let by_self = |index: &usize| {
            let cost = self.list[*index];
            Reverse((cost.self_us, cost.total_us))
        };
        let by_total = |index: &usize| {
            let cost = self.list[*index];
            Reverse((cost.total_us, cost.self_us))
        };
        let mut indices: Vec<usize> =
            (0..self.list.len()).filter(|index| self.list[*index].total_us > 0).collect();
        indices.sort_by_key(by_total);
        let mut chosen: BTreeSet<usize> = indices.iter().copied().take(top).collect();
        indices.sort_by_key(by_self);
        chosen.extend(indices.iter().take(top));
        indices.retain(|index| chosen.contains(index));
        indices.into_iter().map(|index| (index, self.list[index]))
    }
}

/// A profile's call tree, to be walked down.
pub(super) struct WeightedTree<'a> {
    profile: &'a ThreadProfile,
    /// With what lies below.
    total_us: Vec<u64>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    roots: Vec<u32>,
}

impl<'a> WeightedTree<'a> {
    /// The tree of a profile.
    pub(super) fn of(profile: &'a ThreadProfile) -> Self {
        let nodes = &profile.nodes;
        let mut tree = Self {
            profile,
            total_us: nodes.iter().map(|node| node.self_us).collect(),
            first_child: vec![NONE; nodes.len()],
            next_sibling: vec![NONE; nodes.len()],
            roots: Vec::new(),
        };
        // Parents stand before their children: so from the last, sums are complete.
        for index in (0..nodes.len()).rev() {
            let parent = nodes[index].parent;
            if parent == NONE {
                tree.roots.push(index as u32);
                continue;
            }
            let (parent, us) = (parent as usize, tree.total_us[index]);
            tree.total_us[parent] = tree.total_us[parent].saturating_add(us);
            tree.next_sibling[index] = tree.first_child[parent];
            tree.first_child[parent] = index as u32;
        }
        tree
    }

    /// Adds self and total times of what `subject` says of each frame.
    pub(super) fn add_to(&mut self, costs: &mut Costs, subject: impl Fn(u32) -> Option<u32>) {
        for root in &self.roots {
            let mut at = *root;
            self.enter(at, costs, &subject);
            loop {
                let child = self.first_child[at as usize];
                if child != NONE && self.total_us[at as usize] > 0 {
                    at = child;
                } else {
                    // Up, until there is a way on.
                    loop {
                        self.leave(at, costs, &subject);
                        if at == *root {
                            break;
                        }
                        let sibling = self.next_sibling[at as usize];
                        if sibling != NONE {
                            at = sibling;
                            break;
                        }
                        at = self.profile.nodes[at as usize].parent;
                    }
                    if at == *root {
                        break;
                    }
                }
                self.enter(at, costs, &subject);
            }
        }
    }

    fn enter(&self, at: u32, costs: &mut Costs, subject: impl Fn(u32) -> Option<u32>) {
        let node = self.profile.nodes[at as usize];
        let Some(subject) = subject(node.frame).map(|subject| subject as usize) else { return };
        let cost = &mut costs.list[subject];
        cost.self_us = cost.self_us.saturating_add(node.self_us);
        // Recursion counts once.
        if costs.on_stack[subject] == 0 {
            cost.total_us = cost.total_us.saturating_add(self.total_us[at as usize]);
        }
        costs.on_stack[subject] += 1;
    }

    fn leave(&self, at: u32, costs: &mut Costs, subject: impl Fn(u32) -> Option<u32>) {
        let frame = self.profile.nodes[at as usize].frame;
        if let Some(subject) = subject(frame) {
            costs.on_stack[subject as usize] -= 1;
        }
    }
}
