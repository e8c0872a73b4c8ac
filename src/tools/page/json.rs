//! The shape of the page's data. `cli/page/data/recording.js` reads it.
//!
//! Lists of one length stand beside each other instead of lists of objects: the data can have a
//! million entries.

use serde::Serialize;

use crate::shared::json::ReportProgram;

/// The data of a page.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page<'a> {
    /// Version of this shape.
    pub version: u32,
    /// Length of the time line, microseconds.
    pub duration_us: i64,
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

/// Pairs of a node and a line.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageLeaves {
    /// Indices of the nodes.
    pub node: Vec<u32>,
    /// Lines from 1 that the function had reached; 0 for none.
    pub line: Vec<u32>,
    /// Indices of the pairs whose samples were blocked in a call.
    pub blocked: Vec<u32>,
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
    /// Lengths of the samples, microseconds.
    pub lengths: Vec<i64>,
    /// Indices of the leaves; -1 where nothing was recorded.
    pub leaves: Vec<i64>,
}
