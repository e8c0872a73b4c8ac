//! The shape of a look's JSON. `cli/live/follower.js` describes each type under the same name.

use std::borrow::Cow;

use serde::Serialize;

use crate::analysis::json::{
    ReportCost, ReportCpu, ReportPlace, ReportProgram, ReportTimes, as_ms,
};
use crate::analysis::label_costs::{ReportHottest, ReportLabel};
use cpu_prof_core::files::input::Failed;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveView<'a> {
    /// Start and end of what the look shows, after the start of the first recording.
    pub from_ms: f64,
    pub to_ms: f64,
    /// Time since the recordings last grew.
    pub silent_ms: f64,
    /// Count of the recordings that grow, or can grow.
    pub growing: usize,
    /// Count of all recordings, also of those without time in the look.
    pub recordings: usize,
    pub processes: Vec<LiveProcess<'a>>,
    pub totals: ReportTimes,
    pub functions: Vec<LiveFunction<'a>>,
    pub files: Vec<LiveFile<'a>>,
    pub packages: Vec<LivePackage<'a>>,
    pub labels: Vec<LiveLabel<'a>>,
    pub failed: &'a [Failed],
    pub notes: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveProcess<'a> {
    #[serde(flatten)]
    pub program: ReportProgram<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ReportCpu>,
    pub launcher: bool,
    pub threads: Vec<LiveThread<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveThread<'a> {
    pub thread_id: i64,
    pub name: Cow<'a, str>,
    #[serde(flatten)]
    pub times: ReportTimes,
    pub samples: u64,
}

/// Times as those of a report. Critical time would need all recordings from their start.
#[derive(Debug, Serialize)]
pub(super) struct LiveCost {
    #[serde(rename = "selfMs", serialize_with = "as_ms")]
    self_us: u64,
    #[serde(rename = "totalMs", serialize_with = "as_ms")]
    total_us: u64,
    #[serde(rename = "blockedMs", serialize_with = "as_ms")]
    blocked_us: u64,
    #[serde(rename = "waitingMs", serialize_with = "as_ms")]
    waiting_us: u64,
}

impl From<ReportCost> for LiveCost {
    fn from(cost: ReportCost) -> Self {
        let ReportCost { self_us, total_us, blocked_us, waiting_us, critical_us: _ } = cost;
        Self { self_us, total_us, blocked_us, waiting_us }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct LiveFunction<'a> {
    #[serde(flatten)]
    pub place: ReportPlace<'a>,
    #[serde(flatten)]
    pub cost: LiveCost,
}

#[derive(Debug, Serialize)]
pub(super) struct LiveFile<'a> {
    pub file: &'a str,
    pub package: &'a str,
    #[serde(flatten)]
    pub cost: LiveCost,
}

#[derive(Debug, Serialize)]
pub(super) struct LivePackage<'a> {
    pub name: &'a str,
    #[serde(flatten)]
    pub cost: LiveCost,
}

#[derive(Debug, Serialize)]
pub(super) struct LiveLabel<'a> {
    pub name: String,
    #[serde(flatten)]
    pub cost: LiveCost,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hottest: Option<ReportHottest<'a>>,
}

impl<'a> From<ReportLabel<'a>> for LiveLabel<'a> {
    fn from(ReportLabel { name, labels: _, cost, hottest }: ReportLabel<'a>) -> Self {
        Self { name, cost: cost.into(), hottest }
    }
}
