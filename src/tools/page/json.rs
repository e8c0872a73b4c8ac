//! The shape of the page's data. `cli/page/data/recording.js` reads it.
//!
//! Lists of one length stand beside each other instead of lists of objects: the data can have a
//! million entries.

use serde::Serialize;

use crate::shared::json::{ReportChainPart, ReportCost, ReportProgram, ReportTimes, ReportWall};

/// The data of a page.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page<'a> {
    /// Version of this shape.
    pub version: u32,
    /// Length of the time line, microseconds.
    pub duration_us: i64,
    /// Command of the run: that of its first process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Why the run took that long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// What the end of the run waited for.
    pub chain: Vec<ReportChainPart<'a>>,
    /// The wall time by what had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<ReportWall>,
    /// Costs of the whole recording, as in the report; none for a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<PageCosts>,
    /// Microseconds that one sample stands for, if there were too many samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinned_to_us: Option<i64>,
    /// Whether the two processes are the sides of a comparison.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compared: bool,
    /// Names of packages.
    pub packages: Vec<&'a str>,
    /// Files.
    pub files: PageFiles<'a>,
    /// Functions, after the three states of a thread.
    pub functions: PageFunctions<'a>,
    /// Rules, plugins, test files, packages and own code.
    pub owners: PageOwners,
    /// The call tree of all threads.
    pub tree: PageTree,
    /// What samples refer to.
    pub leaves: PageLeaves,
    /// Processes in the order of their starts.
    pub processes: Vec<PageProcess<'a>>,
    /// Notes for the user.
    pub notes: &'a [String],
}

/// The costs of functions, files, packages and owners, in the order of these.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageCosts {
    pub functions: CostColumns,
    pub files: CostColumns,
    pub packages: CostColumns,
    pub owners: CostColumns,
}

/// Costs, microseconds. Items without costs have 0.
#[derive(Debug, Default, Serialize)]
pub(super) struct CostColumns {
    #[serde(rename = "self")]
    pub own: Vec<u64>,
    pub total: Vec<u64>,
    pub blocked: Vec<u64>,
    pub waiting: Vec<u64>,
    pub critical: Vec<u64>,
}

impl CostColumns {
    /// Adds the costs of one item.
    pub(super) fn push(&mut self, cost: ReportCost) {
        self.own.push(cost.self_us);
        self.total.push(cost.total_us);
        self.blocked.push(cost.blocked_us);
        self.waiting.push(cost.waiting_us);
        self.critical.push(cost.critical_us);
    }
}

/// Files.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageFiles<'a> {
    pub path: Vec<&'a str>,
    /// Indices of the packages.
    pub package: Vec<u32>,
}

/// Functions: 0 is `(program)`, 1 `(garbage collector)`, 2 `(idle)`.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageFunctions<'a> {
    pub name: Vec<&'a str>,
    /// Indices of the files; -1 for the states.
    pub file: Vec<i32>,
    /// Lines from 1; 0 for none.
    pub line: Vec<i32>,
    /// Columns from 1; 0 for none.
    pub column: Vec<i32>,
    /// Indices of the functions whose places are those of transpiled code.
    pub transpiled: Vec<usize>,
}

/// Owners.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageOwners {
    pub kind: Vec<&'static str>,
    pub name: Vec<String>,
}

/// Nodes of the call tree, parents before their children.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageTree {
    /// How far before each node its parent is; 0 for a root.
    pub parent: Vec<u32>,
    /// Indices of the functions.
    pub function: Vec<usize>,
    /// Indices of the owners; -1 for none.
    pub owner: Vec<i32>,
}

/// What samples refer to: nodes, lines and states.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageLeaves {
    /// Indices of the nodes.
    pub node: Vec<u32>,
    /// Lines from 1 that the function had reached; 0 for none.
    pub line: Vec<u32>,
    /// What threads did: 0 what is on top of the stack, 1 blocked in the call, 2 waiting for a core.
    pub state: Vec<u8>,
}

/// A process.
#[derive(Debug, Serialize)]
pub(super) struct PageProcess<'a> {
    #[serde(flatten)]
    pub program: ReportProgram<'a>,
    /// Whether the process only started others.
    pub launcher: bool,
    pub threads: Vec<PageThread<'a>>,
}

/// A thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageThread<'a> {
    pub id: i64,
    pub name: std::borrow::Cow<'a, str>,
    /// Start after the time line's start, microseconds.
    pub start_us: i64,
    /// Time in each state, as in the report; none for a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<ReportTimes>,
    /// Lengths of the samples, microseconds.
    pub lengths: Vec<i64>,
    /// Indices of the leaves; -1 where nothing was recorded.
    pub leaves: Vec<i64>,
}
