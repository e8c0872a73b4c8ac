//! The shape of the page's data. `cli/page/data/recording.js` reads it.
//!
//! Lists of one length stand beside each other instead of lists of objects: the data can have a
//! million entries.

use serde::Serialize;

use crate::analysis::json::{
    ReportChainPart, ReportCondition, ReportCost, ReportProgram, ReportTimes, ReportWall,
};
use cpu_prof_core::profile::label_table::LabelSet;

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
    /// Why the recordings exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ReportCondition<'a>>,
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
    /// Label sets of leaves, from that of the number 1 on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_sets: Vec<&'a LabelSet>,
    /// Texts that marks and spans name by their indices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Processes in the order of their starts.
    pub processes: Vec<PageProcess<'a>>,
    /// Notes for the user.
    pub notes: &'a [String],
    /// Lists of the report, by their names there: stalls, imports, scripts.
    #[serde(flatten)]
    pub lists: serde_json::Map<String, serde_json::Value>,
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
    /// Indices of the files that have native code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<usize>,
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
    /// V8's ids of the texts that functions are in, with the indices of the functions.
    pub texts: Vec<(usize, u32)>,
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
    /// Numbers of the label sets; 0 for none. Empty if no leaf has labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<u32>,
}

/// A process.
#[derive(Debug, Serialize)]
pub(super) struct PageProcess<'a> {
    #[serde(flatten)]
    pub program: ReportProgram<'a>,
    /// Whether the process only started others.
    pub launcher: bool,
    pub threads: Vec<PageThread<'a>>,
    #[serde(flatten)]
    pub series: PageSeries,
}

/// What a process used over time, and what its program named. A list that would be empty is missing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageSeries {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<PageMemory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<PageCpu>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collections: Option<PageCollections>,
    /// Moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<PageTimings>,
    /// Times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<PageTimings>,
    /// Count of the marks and spans that there was no room for.
    #[serde(skip_serializing_if = "is_zero")]
    pub timings_left_out: u64,
}

/// Memory at moments, bytes.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageMemory {
    /// Moments after the time line's start, microseconds.
    pub time_us: Vec<i64>,
    /// Objects on the heaps of all threads.
    pub heap: Vec<u64>,
    /// Resident memory of the process; null where it is not known.
    pub rss: Vec<Option<u64>>,
}

/// CPU time, as shares of a core: 1.5 are one and a half cores. Null where nothing is known.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageCpu {
    /// Moments after the time line's start, microseconds: one more than there are shares. A share is
    /// that of the time from its own moment to the next.
    pub time_us: Vec<i64>,
    /// Threads that run JavaScript.
    pub javascript: Vec<Option<f64>>,
    /// All other threads.
    pub native: Vec<Option<f64>>,
}

/// Collections in the order of their starts.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageCollections {
    /// Indices in the process's `threads`.
    pub thread: Vec<usize>,
    /// Starts after the time line's start, microseconds.
    pub start_us: Vec<i64>,
    /// Lengths, microseconds.
    pub length_us: Vec<i64>,
    /// 1 where the whole heap was collected, else 0.
    pub major: Vec<u8>,
}

/// Marks or spans in the order of their starts.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageTimings {
    /// Indices in the process's `threads`.
    pub thread: Vec<usize>,
    /// Starts after the time line's start, microseconds.
    pub start_us: Vec<i64>,
    /// Lengths of spans, microseconds; empty for marks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub length_us: Vec<i64>,
    /// Names, as indices in the page's `texts`.
    pub name: Vec<i64>,
    /// Tracks, likewise; -1 for the track of all timings.
    pub track: Vec<i64>,
    /// Groups of tracks, likewise; -1 for none.
    pub group: Vec<i64>,
    /// Names of DevTools' colours; null for none.
    pub color: Vec<Option<&'static str>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
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
