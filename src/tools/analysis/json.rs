//! The parts of JSON that several tools write. `index.d.ts` describes each type and field under the
//! same name.

use serde::{Serialize, Serializer};

use crate::wall::chain::ChainPart;
use crate::wall::share::Wall;
use cpu_prof_session::model::Process;

/// A process. Absent values are not known.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportProgram<'a> {
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
    pub fn of(process: &'a Process) -> Self {
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

/// The time of a thread in each of its states: microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReportTimes {
    #[serde(rename = "javascriptMs", serialize_with = "as_ms")]
    pub javascript_us: u64,
    #[serde(rename = "nativeMs", serialize_with = "as_ms")]
    pub native_us: u64,
    #[serde(rename = "gcMs", serialize_with = "as_ms")]
    pub gc_us: u64,
    /// None if the system does not tell how long a thread waits for a core.
    #[serde(
        rename = "waitingMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub waiting_us: Option<u64>,
    /// None if the system does not tell how often a thread waits.
    #[serde(
        rename = "blockedMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub blocked_us: Option<u64>,
    #[serde(rename = "idleMs", serialize_with = "as_ms")]
    pub idle_us: u64,
}

impl ReportTimes {
    /// Returns the time of work: the tables share it out.
    pub fn work_us(&self) -> u64 {
        self.javascript_us.saturating_add(self.native_us).saturating_add(self.gc_us)
    }
}

/// The wall time of a run, by what had it.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportWall {
    pub work_ms: f64,
    pub waiting_ms: f64,
    pub blocked_ms: f64,
    pub idle_ms: f64,
}

impl ReportWall {
    /// Returns the times in milliseconds.
    pub fn of(wall: &Wall) -> Self {
        let ms = |us: f64| ms(us.round() as u64);
        Self {
            work_ms: ms(wall.work_us),
            waiting_ms: ms(wall.waiting_us),
            blocked_ms: ms(wall.blocked_us),
            idle_ms: ms(wall.idle_us),
        }
    }
}

/// A condition that was met.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportCondition<'a> {
    pub pid: i64,
    pub at_ms: f64,
    pub reason: &'a str,
    pub observed: &'a str,
    pub kept: bool,
    pub sentence: String,
}

/// A part of what the end of a run waited for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportChainPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'a str>,
    pub ms: f64,
    pub idle_ms: f64,
    pub processes: usize,
}

impl<'a> ReportChainPart<'a> {
    /// Returns the times in milliseconds.
    pub fn of(part: &'a ChainPart) -> Self {
        Self {
            label: part.label.as_deref(),
            phase: part.phase.as_deref(),
            ms: part.us as f64 / 1000.0,
            idle_ms: part.idle_us as f64 / 1000.0,
            processes: part.processes.len(),
        }
    }
}

/// CPU times in microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReportCpu {
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
pub struct ReportCollections {
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
pub struct ReportMemory {
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
pub struct ReportCost {
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
    #[serde(rename = "blockedMs", serialize_with = "as_ms")]
    pub blocked_us: u64,
    #[serde(rename = "waitingMs", serialize_with = "as_ms")]
    pub waiting_us: u64,
    #[serde(rename = "criticalMs", serialize_with = "as_ms")]
    pub critical_us: u64,
}

/// The name and the place of a function.
#[derive(Debug, Serialize)]
pub struct ReportPlace<'a> {
    pub name: &'a str,
    pub file: &'a str,
    pub line: i32,
    pub column: i32,
    #[serde(skip_serializing_if = "is_false")]
    pub transpiled: bool,
    #[serde(rename = "scriptId", skip_serializing_if = "is_zero")]
    pub text: u32,
    #[serde(rename = "compiledAt", skip_serializing_if = "is_zero")]
    pub compiled_at: u32,
    pub package: &'a str,
}

/// Threads that run no JavaScript.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportNative<'a> {
    pub name: String,
    pub threads: u32,
    #[serde(rename = "cpuMs", serialize_with = "as_ms")]
    pub cpu_us: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started_by: Vec<ReportStarter<'a>>,
}

/// What gave work to native threads.
#[derive(Debug, Serialize)]
pub struct ReportStarter<'a> {
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ReportPlace<'a>>,
}

#[derive(Debug, Serialize)]
pub struct ReportOwner<'a> {
    pub kind: &'static str,
    pub name: &'a str,
    #[serde(flatten)]
    pub cost: ReportCost,
}

#[derive(Debug, Serialize)]
pub struct ReportLine<'a> {
    pub name: &'a str,
    pub file: &'a str,
    pub line: u32,
    #[serde(skip_serializing_if = "is_false")]
    pub transpiled: bool,
    #[serde(rename = "scriptId", skip_serializing_if = "is_zero")]
    pub text: u32,
    pub package: &'a str,
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
    pub samples: u64,
}

/// A built-in function that lines call.
#[derive(Debug, Clone, Serialize)]
pub struct ReportBuiltIn {
    pub name: &'static str,
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
}

pub fn is_false(value: &bool) -> bool {
    !value
}

pub fn is_zero(value: &u32) -> bool {
    *value == 0
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
pub fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}
