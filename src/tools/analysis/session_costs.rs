//! The costs of a whole session, which the report and the page show, and which runs are compared by.

use super::costs::{Costs, WeightedTree};
use super::label_costs::LabelCosts;
use super::owners::Owners;
use super::process::session_view::SessionView;

/// The costs of the functions, files, packages, owners and labels of a session, without those of launchers.
pub struct SessionCosts {
    pub functions: Costs,
    pub files: Costs,
    pub packages: Costs,
    pub owners: Owners,
    pub labels: LabelCosts,
}

impl SessionCosts {
    /// Returns the costs of all processes but launchers.
    pub fn of(view: &SessionView<'_>) -> Self {
        let index = &view.index;
        let mut costs = Self {
            functions: Costs::new(index.code_functions()),
            files: Costs::new(index.code_files()),
            packages: Costs::default(),
            owners: Owners::of(view.shown_profiles(), index),
            labels: LabelCosts::of(view),
        };
        for profile in view.shown_profiles() {
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
