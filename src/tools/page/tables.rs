//! The tables of a page: functions, their files, the packages of these, and the costs of all.

use rustc_hash::FxHashMap;

use super::json::{CostColumns, PageCosts, PageFiles, PageFunctions};
use crate::analysis::costs::Costs;
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::json::ReportCost;
use crate::analysis::owner::finder::OwnerFinder;
use crate::analysis::session_costs::SessionCosts;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::frame::CallFrame;

/// The states of a thread, which come before all functions.
pub(super) const STATES: [(FrameKind, &str); 3] = [
    (FrameKind::Program, CallFrame::PROGRAM),
    (FrameKind::Gc, CallFrame::GC),
    (FrameKind::Idle, CallFrame::IDLE),
];

/// Functions, files and packages in the order of the page, by their indices in the [`FrameIndex`].
pub(super) struct Tables<'a> {
    functions: &'a FxIndexSet<usize>,
    files: FxIndexSet<usize>,
    packages: FxIndexSet<usize>,
}

impl<'a> Tables<'a> {
    /// Returns the tables of these functions.
    pub(super) fn of(functions: &'a FxIndexSet<usize>, index: &FrameIndex) -> Self {
        let files: FxIndexSet<usize> =
            functions.iter().map(|function| index.functions[*function].file).collect();
        let packages = files.iter().map(|file| index.files[*file].package).collect();
        Self { functions, files, packages }
    }

    /// Returns the lists, functions after the states.
    pub(super) fn lists<'i>(
        &self,
        index: &'i FrameIndex,
    ) -> (PageFunctions<'i>, PageFiles<'i>, Vec<&'i str>) {
        let number = |set: &FxIndexSet<usize>, item: usize| set.get_index_of(&item).unwrap_or(0);
        let mut table = PageFunctions::default();
        for (_, name) in STATES {
            table.name.push(name);
            table.file.push(-1);
            table.line.push(0);
            table.column.push(0);
        }
        for function in self.functions {
            let place = index.place(*function);
            if place.transpiled {
                table.transpiled.push(table.name.len());
            }
            if place.text > 0 {
                table.texts.push((table.name.len(), place.text));
            }
            table.name.push(place.name);
            table.file.push(number(&self.files, index.functions[*function].file) as i32);
            table.line.push(place.line);
            table.column.push(place.column);
        }
        let mut files = PageFiles::default();
        for file in &self.files {
            if index.files[*file].is_module {
                files.modules.push(files.path.len());
            }
            files.path.push(&index.files[*file].path);
            files.package.push(number(&self.packages, index.files[*file].package) as u32);
        }
        let packages = self.packages.iter().map(|package| index.packages[*package].as_str());
        (table, files, packages.collect())
    }

    /// Returns the costs in the order of the lists, and of the owners of `finder`.
    pub(super) fn costs(&self, finder: &OwnerFinder, costs: &SessionCosts) -> PageCosts {
        let mut page = PageCosts::default();
        for _ in STATES {
            page.functions.push(ReportCost::default());
        }
        add_all(&mut page.functions, &costs.functions, self.functions);
        add_all(&mut page.files, &costs.files, &self.files);
        add_all(&mut page.packages, &costs.packages, &self.packages);
        let owners: FxHashMap<_, ReportCost> = costs.owners.list().collect();
        for owner in finder.list() {
            page.owners.push(owners.get(&owner).copied().unwrap_or_default());
        }
        page
    }
}

fn add_all(columns: &mut CostColumns, costs: &Costs, items: &FxIndexSet<usize>) {
    for item in items {
        columns.push(costs.of(*item));
    }
}
