//! The work of a run by package, owner and label: what cannot be summed up from functions.

use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_tools::analysis::frame_index::FrameIndex;
use cpu_prof_tools::analysis::label_costs::LabelBy;
use cpu_prof_tools::analysis::session_costs::SessionCosts;

/// A row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// `run`, `package`, `owner` or `label`.
    pub kind: &'static str,
    /// Kind of an owner, key of a label; empty for others.
    pub sort: String,
    /// Name as in the report; empty for the run.
    pub name: String,
    pub self_us: u64,
    pub total_us: u64,
}

/// Returns the groups by their names. `busy_us` is the work of all threads.
pub(super) fn groups(costs: &SessionCosts, index: &FrameIndex, busy_us: u64) -> Vec<Group> {
    let row = |kind, sort: &str, name: &str, self_us, total_us| {
        let (sort, name) = (sort.to_owned(), name.to_owned());
        Group { kind, sort, name, self_us, total_us }
    };
    let mut list = vec![row("run", "", "", busy_us, busy_us)];
    list.extend(costs.packages.known().map(|(package, cost)| {
        row("package", "", &index.packages[package], cost.self_us, cost.total_us)
    }));
    // The report shows owners for which work was done.
    let owners = costs.owners.list().filter(|(_, cost)| cost.self_us > 0);
    list.extend(
        owners.map(|((sort, name), cost)| row("owner", sort, name, cost.self_us, cost.total_us)),
    );
    for key in costs.labels.keys() {
        let by = LabelBy::Key(key.to_owned());
        list.extend(
            costs
                .labels
                .by(&by)
                .iter()
                .map(|of| row("label", key, &of.name(&by), of.cost.self_us, of.cost.total_us)),
        );
    }
    list.cold_sort_by(|one, other| {
        let key = |row: &Group| (row.kind != "run", row.kind);
        (key(one), &one.sort, &one.name).cmp(&(key(other), &other.sort, &other.name))
    });
    list
}
