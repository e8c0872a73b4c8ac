//! How a process ended.

use serde::{Deserialize, Serialize};

/// The end of a process, as far as its recording or its parent knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessEnding {
    /// Exit code, as the system shows it: 0 to 255, and on Windows up to 4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Name of the signal that ended the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Whether the process ended because nothing was left to do. Node then no longer tells the exit
    /// code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ran_empty: bool,
}

impl ProcessEnding {
    /// Returns the end by an exit.
    pub fn of_exit(code: i64) -> Self {
        Self { exit_code: Some(code), ..Self::default() }
    }

    /// Returns the end by a signal.
    pub fn of_signal(name: &str) -> Self {
        Self { signal: Some(name.to_owned()), ..Self::default() }
    }

    /// Returns the end of a process that had nothing left to do.
    pub fn of_nothing_left() -> Self {
        Self { ran_empty: true, ..Self::default() }
    }

    /// Returns whether anything is known.
    pub fn is_known(&self) -> bool {
        *self != Self::default()
    }
}
