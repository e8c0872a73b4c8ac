//! The conditions that were met while processes ran: why the recordings exist.

use super::json::ReportCondition;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::Session;

/// Returns the conditions of all processes in the order of their times.
pub fn met_conditions(session: &Session) -> Vec<ReportCondition<'_>> {
    let mut all = Vec::new();
    for process in &session.processes {
        let clock_us = session.clock(process).start_us;
        all.extend(process.met_conditions.iter().map(|(time_us, met)| ReportCondition {
            pid: process.pid,
            at_ms: time_us.saturating_sub(clock_us) as f64 / 1000.0,
            reason: &met.reason,
            observed: &met.observed,
            kept: met.is_kept,
            sentence: met.sentence(),
        }));
    }
    all.cold_sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
    all
}
