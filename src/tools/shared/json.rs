//! The parts of JSON that several tools write. `index.d.ts` describes each type and field under the
//! same name.

use serde::{Serialize, Serializer};

use cpu_prof_core::profile::session::Process;

/// A process. Absent values are not known.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportProgram<'a> {
    pub pid: i64,
    pub name: &'a str,
    pub command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<&'a str>,
}

impl<'a> ReportProgram<'a> {
    /// Returns the facts of a process.
    pub(crate) fn of(process: &'a Process) -> Self {
        Self {
            pid: process.pid,
            name: &process.name,
            command: &process.command,
            cwd: process.cwd.as_deref(),
            parent_pid: process.parent_pid,
            node: process.node.as_deref(),
        }
    }
}

/// Times in microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReportTimes {
    #[serde(rename = "busyMs", serialize_with = "as_ms")]
    pub busy_us: u64,
    #[serde(rename = "idleMs", serialize_with = "as_ms")]
    pub idle_us: u64,
    #[serde(rename = "gcMs", serialize_with = "as_ms")]
    pub gc_us: u64,
    #[serde(rename = "programMs", serialize_with = "as_ms")]
    pub program_us: u64,
    /// None if the system does not tell how often a thread waits.
    #[serde(
        rename = "blockedMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub blocked_us: Option<u64>,
}

impl ReportTimes {
    /// Returns the time of work: the tables share it out.
    pub(crate) fn work_us(&self) -> u64 {
        self.busy_us.saturating_add(self.gc_us).saturating_add(self.program_us)
    }
}

/// CPU times in microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReportCpu {
    #[serde(rename = "javascriptMs", serialize_with = "as_ms")]
    pub javascript_us: u64,
    #[serde(rename = "nativeMs", serialize_with = "as_ms")]
    pub native_us: u64,
    #[serde(
        rename = "othersMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub others_us: Option<u64>,
}

/// Garbage collections.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ReportCollections {
    pub minor: u64,
    pub major: u64,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
    #[serde(rename = "longestMs", serialize_with = "as_ms")]
    pub longest_us: u64,
}

/// Memory, bytes.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportMemory {
    pub heap_peak: u64,
    pub heap_growth: i64,
    pub external_peak: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_peak: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_growth: Option<i64>,
}

/// Times in microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct ReportCost {
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
    #[serde(rename = "blockedMs", serialize_with = "as_ms")]
    pub blocked_us: u64,
}

/// The name and the place of a function.
#[derive(Debug, Serialize)]
pub(crate) struct ReportPlace<'a> {
    pub name: &'a str,
    pub file: &'a str,
    pub line: i32,
    pub column: i32,
    #[serde(skip_serializing_if = "is_false")]
    pub transpiled: bool,
    pub package: &'a str,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReportOwner<'a> {
    pub kind: &'static str,
    pub name: &'a str,
    #[serde(flatten)]
    pub cost: ReportCost,
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

pub(crate) fn as_optional_ms<S: Serializer>(
    us: &Option<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    as_ms(&us.unwrap_or_default(), serializer)
}

pub(crate) fn as_ms<S: Serializer>(us: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(ms(*us))
}

/// Returns milliseconds.
pub(crate) fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}
