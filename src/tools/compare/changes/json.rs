//! The input and the result of the search for changes, as JSON.

use serde::{Deserialize, Serialize};

/// The values of rows over runs in the order of commits.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ChangeInput {
    /// Index of the commit of each run; never falls.
    pub commits: Vec<usize>,
    /// Number of the machine of each run; none where it is unknown.
    #[serde(default)]
    pub hosts: Vec<Option<usize>>,
    /// Samples of each run, which tell its weight.
    pub samples: Vec<f64>,
    pub rows: Vec<SeriesRow>,
}

/// The values of one row, one for each run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SeriesRow {
    pub values: Vec<f64>,
    /// The value of one sample; 0 for values without sampling error.
    #[serde(default)]
    pub sampled: f64,
    /// Whether the values are shares of the work, which all rise when another part falls.
    #[serde(default)]
    pub share: bool,
    /// Whether the row is one of the parts whose shares together are the work.
    #[serde(default)]
    pub part: bool,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FoundChanges {
    /// The changes of all rows by their commits, the clearest commit first.
    pub commits: Vec<ChangedCommit>,
    /// Rows that change slowly, without a commit that did it.
    pub drifts: Vec<Drift>,
    /// Rows of times with a step that a machine whose speed has memory can have too.
    pub unclear: Vec<usize>,
    /// Smallest step in the middle of the runs that would be found in nine of ten cases, as a part of the
    /// mean, of each row; none for a row without values.
    pub detectable: Vec<Option<f64>>,
    /// Runs that each side of a change needs.
    #[serde(rename = "leastRuns")]
    pub least_runs: usize,
    /// Whether the runs are enough to tell any change.
    pub enough: bool,
}

/// A commit at which rows have changed.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedCommit {
    /// Index of the likeliest commit.
    pub commit: usize,
    /// Commits that together are the right one with a chance of 95 %, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// The changed rows, the clearest first.
    pub changes: Vec<ChangePoint>,
}

/// A commit that can be the one that changed a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// Index of the commit.
    pub commit: usize,
    /// Chance that it is the one, given that there is one.
    pub chance: f64,
}

/// A change of one row.
#[derive(Debug, Clone, Serialize)]
pub struct ChangePoint {
    /// Index of the row.
    pub row: usize,
    /// Index of the likeliest commit of this row.
    pub commit: usize,
    pub candidates: Vec<Candidate>,
    /// Mean before the change.
    pub before: f64,
    /// Mean after the change, of the work that did not change.
    pub after: f64,
    /// Limits of the difference (95 %).
    pub low: f64,
    pub high: f64,
    /// Runs before the change, from the change before it.
    #[serde(rename = "runsBefore")]
    pub runs_before: usize,
    /// Runs after the change, up to the next change.
    #[serde(rename = "runsAfter")]
    pub runs_after: usize,
    /// Chance that runs of one program have such a change in any row.
    pub chance: f64,
    /// Distance in standard errors.
    pub distance: f64,
}

/// A row that changes slowly.
#[derive(Debug, Clone, Serialize)]
pub struct Drift {
    /// Index of the row.
    pub row: usize,
    /// Indices of the first and the last commit.
    pub from: usize,
    pub to: usize,
    /// Means at the start and at the end.
    pub before: f64,
    pub after: f64,
}
