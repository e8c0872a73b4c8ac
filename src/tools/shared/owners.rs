//! The time of owners: rules, plugins, test files, packages and own code.
//!
//! Work counts for the nearest rule, plugin or test file that called it, whichever package did it.
//! Without one, it counts for the nearest package or for own code.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::costs::{Costs, WeightedTree};
use super::frame_index::{FrameIndex, SourceFunction};
use super::json::{ReportCost, ReportOwner};
use super::launchers::shown_profiles;
use super::owner::{CodeOwner, ESLINT, OwnerKind, owner_of};
use super::path_tree::downward;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::session::Session;
use cpu_prof_core::profile::session::thread_profile::ThreadProfile;

/// The owners of a session, with their times.
#[derive(Default)]
pub(crate) struct Owners {
    finder: OwnerFinder,
    costs: Costs,
}

/// Finds the owners of stacks, and numbers them.
#[derive(Debug, Default)]
pub(crate) struct OwnerFinder {
    names: FxIndexSet<CodeOwner>,
    /// Owners of functions, by their indices and whether ESLint is above; none for built-in code.
    of_functions: FxHashMap<(usize, bool), Option<usize>>,
}

/// What is known of the stack that ends with a node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnedStack {
    /// Number of the owner.
    pub owner: Option<usize>,
    is_linted: bool,
}

impl Owners {
    /// Returns the owners of all processes but launchers.
    pub(crate) fn of(session: &Session, launchers: &[bool], index: &FrameIndex) -> Self {
        let mut owners = Self::default();
        for profile in shown_profiles(session, launchers) {
            owners.add(profile, index);
        }
        owners
    }

    /// Returns the first `top` owners by the time that counts for them.
    pub(crate) fn top(&self, top: usize) -> Vec<ReportOwner<'_>> {
        let names: Vec<_> = self.finder.list().collect();
        let owner = |(number, cost): (usize, ReportCost)| {
            let (kind, name) = names[number];
            ReportOwner { kind, name, cost }
        };
        let mut list: Vec<_> = self.costs.known().map(owner).collect();
        list.retain(|owner| owner.cost.self_us > 0);
        list.sort_by_key(|owner| Reverse((owner.cost.self_us, owner.cost.total_us)));
        list.truncate(top);
        list
    }

    /// Returns the kinds and names of all owners with their costs.
    pub(crate) fn list(&self) -> impl Iterator<Item = ((&'static str, &str), ReportCost)> {
        self.finder.list().enumerate().map(|(number, owner)| (owner, self.costs.of(number)))
    }

    fn add(&mut self, profile: &ThreadProfile, index: &FrameIndex) {
        let finder = &mut self.finder;
        let stacks = downward(profile, |above, _, node| match index.function(node.frame) {
            Some(function) => finder.below(above, function, index),
            None => above,
        });
        WeightedTree::of(profile).add_to(&mut self.costs, |node, frame| {
            index.function(frame).and(stacks[node as usize].owner)
        });
    }
}

impl OwnerFinder {
    /// Returns the kinds and names of the owners, by their numbers.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.names.iter().map(|CodeOwner { kind, name }| {
            let kind = match kind {
                OwnerKind::Rule => "rule",
                OwnerKind::Plugin => "plugin",
                OwnerKind::Test => "test",
                OwnerKind::TestFile => "test file",
                OwnerKind::Package => "package",
                OwnerKind::Own => "own code",
            };
            (kind, name.as_str())
        })
    }

    /// Returns the stack with one more function.
    pub(crate) fn below(
        &mut self,
        above: OwnedStack,
        function: usize,
        index: &FrameIndex,
    ) -> OwnedStack {
        let SourceFunction { name, file, .. } = &index.functions[function];
        let owner = match self.of_functions.get(&(function, above.is_linted)) {
            Some(owner) => *owner,
            None => {
                let owner = owner_of(&index.files[*file].path, name, above.is_linted);
                let owner = owner.map(|owner| self.names.insert_full(owner).0);
                self.of_functions.insert((function, above.is_linted), owner);
                owner
            }
        };
        let kind = |owner: usize| self.names[owner].kind;
        let owner = match (owner, above.owner) {
            (Some(own), Some(caller)) if kind(own).helps(kind(caller)) => Some(caller),
            (own, caller) => own.or(caller),
        };
        let is_eslint = index.packages[index.files[*file].package] == ESLINT;
        OwnedStack { owner, is_linted: above.is_linted || is_eslint }
    }
}
