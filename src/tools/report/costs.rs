//! Self and total times over call trees.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::shape::ReportCost;
use crate::profile::thread_profile::{NONE, ThreadProfile};

/// The cost of each item of one sort: functions, files or packages, numbered from 0.
pub(super) struct Costs {
    list: Vec<ReportCost>,
    /// How often each item is on the stack of the node that a walk has reached.
    on_stack: Vec<u32>,
}

impl Costs {
    /// Returns costs of 0 for so many items.
    pub(super) fn new(items: usize) -> Self {
        Self { list: vec![ReportCost::default(); items], on_stack: vec![0; items] }
    }

    /// Returns the count of items that cost time.
    pub(super) fn count(&self) -> usize {
        self.list.iter().filter(|cost| cost.total_us > 0).count()
    }

    /// Returns the first `top` by self time and the first `top` by total time, sorted by self time.
    pub(super) fn top(&self, top: usize) -> impl Iterator<Item = (usize, ReportCost)> {
        let by_self = |item: &usize| {
            let cost = self.list[*item];
            Reverse((cost.self_us, cost.total_us))
        };
        let by_total = |item: &usize| {
            let cost = self.list[*item];
            Reverse((cost.total_us, cost.self_us))
        };
        let mut items: Vec<usize> =
            (0..self.list.len()).filter(|item| self.list[*item].total_us > 0).collect();
        items.sort_by_key(by_total);
        let mut chosen: BTreeSet<usize> = items.iter().copied().take(top).collect();
        items.sort_by_key(by_self);
        chosen.extend(items.iter().take(top));
        items.retain(|item| chosen.contains(item));
        items.into_iter().map(|item| (item, self.list[item]))
    }

    /// Adds the time of a node with this item, and puts the item on the stack.
    fn enter(&mut self, item: usize, self_us: u64, total_us: u64) {
        let cost = &mut self.list[item];
        cost.self_us = cost.self_us.saturating_add(self_us);
        // Recursion counts once.
        if self.on_stack[item] == 0 {
            cost.total_us = cost.total_us.saturating_add(total_us);
        }
        self.on_stack[item] += 1;
    }

    /// Takes the item of a node off the stack.
    fn leave(&mut self, item: usize) {
        self.on_stack[item] -= 1;
    }
}

/// A profile's call tree with total times.
pub(super) struct WeightedTree<'a> {
    profile: &'a ThreadProfile,
    /// Time of each node with all nodes below.
    total_us: Vec<u64>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    roots: Vec<u32>,
}

/// A step of a walk over a tree.
enum WalkStep {
    Enter(u32),
    Leave(u32),
}

impl<'a> WeightedTree<'a> {
    /// Returns the tree of a profile.
    pub(super) fn of(profile: &'a ThreadProfile) -> Self {
        let nodes = &profile.nodes;
        let mut tree = Self {
            profile,
            total_us: nodes.iter().map(|node| node.self_us).collect(),
            first_child: vec![NONE; nodes.len()],
            next_sibling: vec![NONE; nodes.len()],
            roots: Vec::new(),
        };
        // Parents come before their children, so that a sum is complete once its node is reached
        // from the end.
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

    /// Adds the self and total times of the items that `item` returns for frames.
    pub(super) fn add_to(&self, costs: &mut Costs, item: impl Fn(u32) -> Option<usize>) {
        let item_of = |node: u32| item(self.profile.nodes[node as usize].frame);
        let mut steps: Vec<WalkStep> = self.roots.iter().copied().map(WalkStep::Enter).collect();
        while let Some(step) = steps.pop() {
            match step {
                WalkStep::Enter(node) => {
                    let total_us = self.total_us[node as usize];
                    if total_us == 0 {
                        continue;
                    }
                    if let Some(item) = item_of(node) {
                        costs.enter(item, self.profile.nodes[node as usize].self_us, total_us);
                        steps.push(WalkStep::Leave(node));
                    }
                    steps.extend(self.children(node).map(WalkStep::Enter));
                }
                WalkStep::Leave(node) => {
                    if let Some(item) = item_of(node) {
                        costs.leave(item);
                    }
                }
            }
        }
    }

    fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let existing = |node: u32| (node != NONE).then_some(node);
        let first = existing(self.first_child[node as usize]);
        std::iter::successors(first, move |child| existing(self.next_sibling[*child as usize]))
    }
}
