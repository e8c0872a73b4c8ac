//! What TypeScript's compiler worked on.

use serde::Deserialize;

/// A time in which the compiler worked on a file, or a moment from which on it works on a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompilerSpan {
    /// Start, microseconds.
    pub start_us: i64,
    /// End, microseconds.
    pub end_us: i64,
    /// Path of the project's tsconfig file.
    pub project: String,
    /// Path of the file that was checked; none where a project begins.
    pub file: Option<String>,
}
