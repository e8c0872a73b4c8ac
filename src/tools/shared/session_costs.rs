//! The costs of a whole session, which the report and the page show, and which runs are compared by.

use super::costs::{Costs, WeightedTree};
use super::frame_index::FrameIndex;
use super::label_costs::LabelCosts;
use super::owners::Owners;
use super::process::launchers::shown_profiles;
use cpu_prof_session::model::Session;

/// The costs of the functions, files, packages, owners and labels of a session, without those of launchers.
pub(crate) struct SessionCosts {
    pub functions: Costs,
    pub files: Costs,
    pub packages: Costs,
    pub owners: Owners,
    pub labels: LabelCosts,
}

impl SessionCosts {
    /// Returns the costs of all processes but launchers.
    pub(crate) fn of(session: &Session, launchers: &[bool], index: &FrameIndex) -> Self {
        let mut costs = Self {
            functions: Costs::new(index.code_functions()),
            files: Costs::new(index.code_files()),
            packages: Costs::default(),
            owners: Owners::of(shown_profiles(session, launchers), index),
            labels: LabelCosts::of(session, launchers, index),
        };
        for profile in shown_profiles(session, launchers) {
            let tree = WeightedTree::of(profile);
            costs.owners.add(profile, &tree, index);
            let sorts = [&mut costs.functions, &mut costs.files, &mut costs.packages];
            tree.add_to(sorts, |_, frame| {
                let function = index.function(frame)?;
                let file = index.functions[function].file;
                Some([function, file, index.files[file].package])
            });
        }
        costs
    }
}
