//! The profiled program.

use crate::base::outside_text;

/// The facts about a process when its first recording started.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Program {
    /// Process id.
    pub pid: u32,
    /// Pid of the parent process; none if the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u32>,
    /// Pids of the parent process, of its parent and so on. Empty in the recording of a worker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<u32>,
    /// `process.argv`
    pub argv: Vec<String>,
    /// `process.execArgv`
    pub exec_argv: Vec<String>,
    /// `cluster.worker.id`, in a process that `node:cluster` has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_worker: Option<u32>,
    /// Working directory.
    pub cwd: String,
    /// `process.version`
    pub node: String,
    /// Start of the process: milliseconds after the system's start; after 1970 on macOS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_start_ms: Option<u64>,
    /// Id of the system's start. Processes with one id share a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Random text that all recordings of the process have, and no other process: containers have
    /// equal pids, and can start at one moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_key: Option<String>,
    /// Number of the namespace that the pids are from, which differs between containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<u64>,
    /// Id of the `cpu-prof run` that the process belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// The form of frames under `node_modules` in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeModules {
    /// Unchanged: DevTools folds the frames into 'On ignore list'.
    Foldable,
    /// With a backslash behind `node_modules`, which DevTools' ignore rule does not match and which
    /// DevTools shows as a slash.
    Shown,
    /// As `Shown`, and Node's own files as `Node:fs`, which the rule does not match either.
    AllShown,
}

impl Program {
    /// Returns the program without the secrets of its command line.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        // Behind the path of Node is that of the script.
        let paths = if self.is_eval() { 1 } else { 2 };
        let argv = outside_text::words(&self.argv, paths);
        Self { argv, exec_argv: outside_text::node_options(&self.exec_argv), ..self }
    }

    /// Returns whether Node runs code of its command line, and no script.
    pub(crate) fn is_eval(&self) -> bool {
        outside_text::runs_code(&self.exec_argv)
    }

    /// Pid of a process that is known from a file without ids.
    pub const UNKNOWN_PID: u32 = 0;
}
