//! What TypeScript's compiler worked on.

use serde::Deserialize;

/// Returns the folder of a project whose file has the usual name, as other processes of the project have it.
pub fn without_config(path: &str) -> &str {
    path.strip_suffix("/tsconfig.json").unwrap_or(path)
}

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
