//! The time of owners: rules, plugins, test files, packages and own code.
//!
//! Work counts for the nearest rule, plugin or test file that called it, whichever package did it.
//! Without one, it counts for the nearest package or for own code.

use std::cmp::Reverse;

use super::costs::{Costs, WeightedTree};
use super::frame_index::FrameIndex;
use super::json::{ReportCost, ReportOwner};
use super::owner::finder::OwnerFinder;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// The owners of a session, with their times.
#[derive(Default)]
pub struct Owners {
    finder: OwnerFinder,
    costs: Costs,
    /// By the functions: the most time of a node, microseconds, and the node's owner.
    of_functions: Vec<Option<(u64, usize)>>,
}

impl Owners {
    /// Returns owners without times, which know the plugins of these profiles.
    pub(super) fn of<'a>(
        profiles: impl Iterator<Item = &'a ThreadProfile>,
        index: &FrameIndex,
    ) -> Self {
        let mut owners = Self::default();
        for profile in profiles {
            owners.finder.learn(functions(profile, index), index);
        }
        owners
    }

    /// Returns the first `top` owners by the work done for them.
    pub fn top(&self, top: usize) -> Vec<ReportOwner<'_>> {
        let names: Vec<_> = self.finder.list().collect();
        let owner = |(number, cost): (usize, ReportCost)| {
            let (kind, name) = names[number];
            ReportOwner { kind, name, cost }
        };
        let mut list: Vec<_> = self.costs.known().map(owner).collect();
        list.retain(|owner| owner.cost.self_us > 0);
        list.cold_sort_by_key(|owner| Reverse((owner.cost.self_us, owner.cost.total_us)));
        list.truncate(top);
        list
    }

    /// Returns the kinds and names of all owners with their costs.
    pub fn list(&self) -> impl Iterator<Item = ((&'static str, &str), ReportCost)> {
        self.finder.list().enumerate().map(|(number, owner)| (owner, self.costs.of(number)))
    }

    /// Returns the kind and the name of a function's owner.
    pub(crate) fn of_function(&self, function: usize) -> Option<(&'static str, &str)> {
        let (_, owner) = self.of_functions.get(function).copied().flatten()?;
        self.finder.list().nth(owner)
    }

    /// Adds the times of a profile, of which `tree` is the call tree.
    pub(super) fn add(
        &mut self,
        profile: &ThreadProfile,
        tree: &WeightedTree<'_>,
        index: &FrameIndex,
    ) {
        let stacks = self.finder.stacks(functions(profile, index), index);
        self.of_functions.resize(index.functions.len(), None);
        for (node, data) in (0_u32..).zip(&profile.nodes) {
            let owner = stacks[node as usize].owner.map(|owner| owner as usize);
            if let Some((function, owner)) = index.function(data.frame).zip(owner) {
                let most = &mut self.of_functions[function];
                *most = (*most).max(Some((tree.total_us(node), owner)));
            }
        }
        tree.add_to([&mut self.costs], |node, frame| {
            let owner = index.function(frame).and(stacks[node as usize].owner)?;
            Some([owner as usize])
        });
    }
}

/// Returns for each node of a profile the node above, and the node's function.
fn functions<'a>(
    profile: &'a ThreadProfile,
    index: &'a FrameIndex,
) -> impl Iterator<Item = (Option<u32>, Option<usize>)> + 'a {
    profile.nodes.iter().map(|node| {
        let above = (node.parent != NONE).then_some(node.parent);
        (above, index.function(node.frame))
    })
}
