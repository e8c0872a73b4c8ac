//! A process of this machine, for the tools. What the system does not tell is none.

use serde::Serialize;

/// A process.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedProcess {
    pub(super) pid: u32,
    /// Id of the process that started it, which can have ended on Windows.
    pub(super) parent: u32,
    /// Id of the first process of its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<u32>,
    /// Id of the first process of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) has_terminal: Option<bool>,
    /// Whether the process gets the signals of its terminal's keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_foreground: Option<bool>,
    /// Start of the process: milliseconds after the system's start; after 1970 on macOS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_ms: Option<u64>,
    /// Path or name of the program's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) executable: Option<String>,
    /// The command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) words: Option<Vec<String>>,
    /// The variable `NODE_OPTIONS`; the inner none is an environment without the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node_options: Option<Option<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_not_in_the_json() {
        let unknown = ListedProcess { pid: 7, parent: 4, ..ListedProcess::default() };
        assert_eq!(serde_json::to_string(&unknown).unwrap(), r#"{"pid":7,"parent":4}"#);
        let known = ListedProcess { node_options: Some(None), start_ms: Some(9), ..unknown };
        assert_eq!(
            serde_json::to_string(&known).unwrap(),
            r#"{"pid":7,"parent":4,"startMs":9,"nodeOptions":null}"#
        );
    }
}
