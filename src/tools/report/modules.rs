//! The times of the modules of native code.

use crate::analysis::costs::{Costs, WeightedTree};
use crate::analysis::native::module::module_of;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::format::url::file_path;

/// The modules of a session, and their costs, without those of launchers.
#[derive(Default)]
pub(super) struct ModuleCosts {
    pub names: FxIndexSet<String>,
    pub costs: Costs,
}

/// Returns the costs of the modules that native functions are of.
pub(super) fn modules(view: &SessionView<'_>) -> ModuleCosts {
    let mut modules = ModuleCosts::default();
    let mut number = |url: &str, function_name: &str| {
        let path = file_path(url);
        modules.names.insert_full(module_of(&path, function_name).into_owned()).0
    };
    let frames = view.session.frames.list().iter();
    let of_frames: Vec<Option<usize>> = frames
        .map(|frame| frame.module().map(|_| number(&frame.url, &frame.function_name)))
        .collect();
    if modules.names.is_empty() {
        return modules;
    }
    for profile in view.shown_profiles() {
        let module = |_, frame: u32| of_frames[frame as usize].map(|module| [module]);
        WeightedTree::of(profile).add_to([&mut modules.costs], module);
    }
    modules
}
