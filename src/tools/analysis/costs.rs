//! Self and total times over call trees.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::json::ReportCost;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::thread_profile::{NodeTimes, ThreadProfile};

/// The cost of each item of one sort: functions, files, packages or owners, numbered from 0.
#[derive(Default)]
pub struct Costs {
    list: Vec<ReportCost>,
    /// How often each item is on the stack of the node that a walk has reached.
    on_stack: Vec<u32>,
    /// Whether each item is code, neither Node's nor native, for the trunk.
    is_code: Vec<bool>,
    /// Code on the stack of that node.
    code: Vec<usize>,
    /// Time of code, in calls from other code: by caller and callee.
    calls_us: FxHashMap<(usize, usize), u64>,
}

impl Costs {
    /// Returns no costs, of items of which some are code.
    pub fn new(is_code: Vec<bool>) -> Self {
        Self { is_code, ..Self::default() }
    }

    /// Returns for each item whether it belongs to the trunk of the call tree: nearly all of its time
    /// is under one other item, which has hardly any time elsewhere, with or without Node's code in
    /// between. Both rows would say the same, and the other item is nearer to the work.
    pub(crate) fn trunk(&self) -> Vec<bool> {
        const NEARLY_ALL: f64 = 0.9;
        let mut is_trunk = vec![false; self.list.len()];
        for ((caller, callee), us) in &self.calls_us {
            let is_nearly_all =
                |item: usize| *us as f64 >= NEARLY_ALL * self.list[item].total_us as f64;
            is_trunk[*caller] |= *us > 0 && is_nearly_all(*caller) && is_nearly_all(*callee);
        }
        is_trunk
    }

    /// Returns the cost of an item.
    pub fn of(&self, item: usize) -> ReportCost {
        self.list.get(item).copied().unwrap_or_default()
    }

    /// Returns the items that cost time.
    pub fn known(&self) -> impl Iterator<Item = (usize, ReportCost)> {
        self.list.iter().copied().enumerate().filter(|(_, cost)| cost.is_known())
    }

    /// Returns the first `top` by self, total, blocked and critical time, sorted by self time.
    pub fn top(&self, top: usize) -> impl Iterator<Item = (usize, ReportCost)> {
        let by_self = |item: &usize| {
            let cost = self.list[*item];
            Reverse((cost.self_us, cost.total_us, cost.blocked_us, cost.waiting_us))
        };
        let by_total = |item: &usize| {
            let cost = self.list[*item];
            Reverse((cost.total_us, cost.self_us))
        };
        let by_blocked = |item: &usize| Reverse(self.list[*item].blocked_us);
        let by_critical = |item: &usize| Reverse(self.list[*item].critical_us);
        let mut items: Vec<usize> =
            (0..self.list.len()).filter(|item| self.list[*item].is_known()).collect();
        items.cold_sort_by_key(by_total);
        let mut chosen: BTreeSet<usize> = items.iter().copied().take(top).collect();
        items.cold_sort_by_key(by_blocked);
        chosen.extend(items.iter().take(top).filter(|item| self.list[**item].blocked_us > 0));
        items.cold_sort_by_key(by_critical);
        chosen.extend(items.iter().take(top).filter(|item| self.list[**item].critical_us > 0));
        items.cold_sort_by_key(by_self);
        chosen.extend(items.iter().take(top));
        items.retain(|item| chosen.contains(item));
        items.into_iter().map(|item| (item, self.list[item]))
    }

    /// Adds the time of a node with this item, and puts the item on the stack.
    fn enter(&mut self, item: usize, times: NodeTimes, total_us: u64) {
        if item >= self.list.len() {
            self.list.resize_with(item + 1, ReportCost::default);
            self.on_stack.resize(item + 1, 0);
        }
        let is_code = self.is_code.get(item) == Some(&true);
        if times.has_time() {
            let cost = &mut self.list[item];
            cost.self_us = cost.self_us.saturating_add(times.self_us);
            cost.blocked_us = cost.blocked_us.saturating_add(times.blocked_us);
            cost.waiting_us = cost.waiting_us.saturating_add(times.waiting_us);
            cost.critical_us = cost.critical_us.saturating_add(times.critical_us);
        }
        // Recursion counts once.
        if self.on_stack[item] == 0 {
            let cost = &mut self.list[item];
            cost.total_us = cost.total_us.saturating_add(total_us);
            if let Some(caller) = self.code.last().filter(|_| is_code) {
                let us = self.calls_us.entry((*caller, item)).or_default();
                *us = us.saturating_add(total_us);
            }
        }
        self.on_stack[item] += 1;
        if is_code {
            self.code.push(item);
        }
    }

    /// Takes the item of a node off the stack.
    fn leave(&mut self, item: usize) {
        self.on_stack[item] -= 1;
        if self.is_code.get(item) == Some(&true) {
            self.code.pop();
        }
    }
}

impl ReportCost {
    /// Returns whether there is any time.
    fn is_known(&self) -> bool {
        self.total_us > 0 || self.blocked_us > 0 || self.waiting_us > 0
    }
}

/// A profile's call tree with total times.
pub struct WeightedTree<'a> {
    profile: &'a ThreadProfile,
    /// Time of each node with all nodes below.
    total_us: Vec<u64>,
    /// The nodes that have time, or nodes below with time. Each is right before the nodes below.
    order: Vec<OrderedNode>,
}

/// A node in the order of a walk.
#[derive(Debug, Clone, Copy, Default)]
struct OrderedNode {
    /// Index of the profile's node.
    node: u32,
    /// Place in the order behind the nodes below.
    end: u32,
}

impl<'a> WeightedTree<'a> {
    /// Returns the tree of a profile.
    pub fn of(profile: &'a ThreadProfile) -> Self {
        let nodes = &profile.nodes;
        let mut total_us = vec![0_u64; nodes.len()];
        // How many nodes of the order each node has with those below.
        let mut counts = vec![0_u32; nodes.len()];
        let mut root_count = 0;
        // Parents come before their children, so that a sum is complete once its node is reached
        // from the end.
        for (index, node) in nodes.iter().enumerate().rev() {
            let times = profile.times(node);
            counts[index] += u32::from(counts[index] > 0 || times.has_time());
            let us = total_us[index].saturating_add(times.self_us);
            let count = counts[index];
            total_us[index] = us;
            if let Some(sum_us) = total_us.get_mut(node.parent as usize) {
                *sum_us = sum_us.saturating_add(us);
            }
            *counts.get_mut(node.parent as usize).unwrap_or(&mut root_count) += count;
        }
        let mut order = vec![OrderedNode::default(); root_count as usize];
        // The place of each node's next child.
        let mut next = vec![0_u32; nodes.len()];
        let mut next_root = 0;
        for (index, node) in nodes.iter().enumerate().filter(|(index, _)| counts[*index] > 0) {
            let next_place = next.get_mut(node.parent as usize).unwrap_or(&mut next_root);
            let place = *next_place;
            *next_place += counts[index];
            next[index] = place + 1;
            let end = place + counts[index];
            order[place as usize] = OrderedNode { node: index as u32, end };
        }
        Self { profile, total_us, order }
    }

    /// Returns the time of a node with all nodes below, microseconds.
    pub fn total_us(&self, node: u32) -> u64 {
        self.total_us[node as usize]
    }

    /// Adds the self and total times of the items that `items` returns for nodes and their frames, an item of
    /// each sort.
    pub fn add_to<const SORTS: usize>(
        &self,
        mut costs: [&mut Costs; SORTS],
        items: impl Fn(u32, u32) -> Option<[usize; SORTS]>,
    ) {
        // Items on the stack, with the places where they leave the stack.
        let mut stack: Vec<(u32, [usize; SORTS])> = Vec::new();
        for (place, OrderedNode { node, end }) in (0..).zip(&self.order) {
            while let Some((_, items)) = stack.pop_if(|(end, _)| *end <= place) {
                costs.iter_mut().zip(items).for_each(|(costs, item)| costs.leave(item));
            }
            let data = &self.profile.nodes[*node as usize];
            if let Some(items) = items(*node, data.frame) {
                let (times, total_us) = (self.profile.times(data), self.total_us(*node));
                for (costs, item) in costs.iter_mut().zip(items) {
                    costs.enter(item, times, total_us);
                }
                stack.push((*end, items));
            }
        }
        for (_, items) in stack.into_iter().rev() {
            costs.iter_mut().zip(items).for_each(|(costs, item)| costs.leave(item));
        }
    }
}
