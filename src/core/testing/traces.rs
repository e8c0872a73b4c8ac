//! Golden traces, for tests.

/// The trace of a main thread.
pub const MAIN: &str = include_str!("../format/trace/golden/main.trace.json");
/// The trace of a worker of the same process.
pub const WORKER: &str = include_str!("../format/trace/golden/worker.trace.json");
/// The merged trace of both.
pub const MERGED: &str = include_str!("../format/trace/golden/merged.trace.json");
