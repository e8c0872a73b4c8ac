//! The shape of a report's JSON. `index.d.ts` describes each type and field under the same name.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Serialize;

use crate::analysis::in_flight::ReportInFlight;
use crate::analysis::json::{
    ReportBuiltIn, ReportChainPart, ReportCollections, ReportCondition, ReportCost, ReportCpu,
    ReportLine, ReportMemory, ReportNative, ReportOwner, ReportPlace, ReportProgram, ReportTimes,
    ReportWall, as_ms, as_optional_ms,
};
use crate::analysis::label_costs::ReportLabel;
use cpu_prof_core::files::input::{Failed, lossy_list};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report<'a> {
    pub version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ReportCondition<'a>>,
    pub duration_ms: f64,
    pub totals: ReportTimes,
    #[serde(
        rename = "programMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub program_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<ReportWall>,
    pub chain: Vec<ReportChainPart<'a>>,
    pub processes: Vec<ReportProcess<'a>>,
    pub functions: Vec<ReportFunction<'a>>,
    pub lines: Vec<ReportLine<'a>>,
    pub files: Vec<ReportFile<'a>>,
    pub packages: Vec<ReportPackage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ReportModule<'a>>,
    pub owners: Vec<ReportOwner<'a>>,
    pub labels: Vec<ReportLabel<'a>>,
    pub label_keys: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_key: Option<&'a str>,
    pub scripts: Vec<ReportScript<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ReportDetail<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Vec<ReportTreeNode<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imports: Option<Vec<ReportImport<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<ReportProject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Vec<ReportStall<'a>>>,
    pub counts: ReportCounts,
    pub inputs: usize,
    #[serde(serialize_with = "lossy_list")]
    pub repaired: &'a [PathBuf],
    pub failed: &'a [Failed],
    pub notes: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportProcess<'a> {
    #[serde(flatten)]
    pub program: ReportProgram<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ReportCpu>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<&'a [ReportNative<'a>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<ReportUnrecorded>,
    pub launcher: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_flight: Vec<ReportInFlight<'a>>,
    pub start_ms: f64,
    pub duration_ms: f64,
    pub threads: Vec<ReportThread<'a>>,
}

/// Node processes without a recording.
#[derive(Debug, Serialize)]
pub(super) struct ReportUnrecorded {
    pub processes: u32,
    #[serde(
        rename = "cpuMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub cpu_us: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportThread<'a> {
    pub thread_id: i64,
    pub name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    pub start_ms: f64,
    pub duration_ms: f64,
    #[serde(flatten)]
    pub times: ReportTimes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_wait_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collections: Option<ReportCollections>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ReportMemory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_file: Option<&'a str>,
    pub samples: u64,
}

/// Times in microseconds, which JSON gives in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct ReportTime {
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    pub self_us: u64,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportFunction<'a> {
    #[serde(flatten)]
    pub place: ReportPlace<'a>,
    pub trunk: bool,
    #[serde(flatten)]
    pub cost: ReportCost,
    #[serde(rename = "builtIns", skip_serializing_if = "Vec::is_empty")]
    pub built_ins: Vec<ReportBuiltIn>,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportDetail<'a> {
    #[serde(flatten)]
    pub function: ReportPlace<'a>,
    #[serde(flatten)]
    pub time: ReportTime,
    pub callers: Vec<ReportCall<'a>>,
    pub callees: Vec<ReportCall<'a>>,
    pub lines: Vec<ReportLine<'a>>,
    pub processes: Vec<ReportProcessTime<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportCall<'a> {
    #[serde(flatten)]
    pub function: Option<ReportPlace<'a>>,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportProcessTime<'a> {
    pub pid: i64,
    pub name: &'a str,
    #[serde(flatten)]
    pub time: ReportTime,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportTreeNode<'a> {
    #[serde(flatten)]
    pub function: ReportPlace<'a>,
    #[serde(flatten)]
    pub time: ReportTime,
    pub children: Vec<ReportTreeNode<'a>>,
}

/// A time in which a thread did not come back to its event loop.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportStall<'a> {
    pub pid: i64,
    pub process: &'a str,
    pub thread_id: i64,
    pub thread: Cow<'a, str>,
    pub start_ms: f64,
    pub duration_ms: f64,
    pub gc_ms: f64,
    pub blocked_ms: f64,
    pub waiting_ms: f64,
    pub first: bool,
    pub stack: Vec<ReportCall<'a>>,
}

/// A module, loaded by the one above.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportImport<'a> {
    pub file: &'a str,
    pub package: &'a str,
    pub load_ms: f64,
    pub run_ms: f64,
    pub total_ms: f64,
    pub children: Vec<ReportImport<'a>>,
}

/// A project with the work of its processes.
#[derive(Debug, Serialize)]
pub(super) struct ReportProject {
    pub path: String,
    pub processes: usize,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
    #[serde(
        rename = "cpuMs",
        serialize_with = "as_optional_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub cpu_us: Option<u64>,
    pub phases: Vec<ReportPart>,
    pub constructs: Vec<ReportPart>,
    pub files: Vec<ReportCheckedFile>,
}

/// A part of a compiler's work.
#[derive(Debug, Serialize)]
pub(super) struct ReportPart {
    pub name: &'static str,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
}

/// A file that TypeScript's compiler checked.
#[derive(Debug, Serialize)]
pub(super) struct ReportCheckedFile {
    pub file: String,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
    pub constructs: Vec<ReportPart>,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportFile<'a> {
    pub file: &'a str,
    pub package: &'a str,
    pub trunk: bool,
    #[serde(flatten)]
    pub cost: ReportCost,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportPackage<'a> {
    pub name: &'a str,
    #[serde(flatten)]
    pub cost: ReportCost,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportModule<'a> {
    pub name: &'a str,
    #[serde(flatten)]
    pub cost: ReportCost,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportScript<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    pub processes: usize,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    pub total_us: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ReportCounts {
    pub functions: usize,
    pub lines: usize,
    pub files: usize,
    pub packages: usize,
}
