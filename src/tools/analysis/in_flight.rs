//! What a process was working for when it was killed: the labels of its last samples.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::json::ms;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::label_table::{LabelSet, NO_LABELS};
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Process, Session};

/// The end of a recording in which labels were in use, and the longest break within one use: microseconds.
/// A request that waits for others has no samples meanwhile.
const RECENT_US: i64 = 500_000;

/// A label set that was in use at the end of a process.
#[derive(Debug, PartialEq, Serialize)]
pub struct ReportInFlight<'a> {
    pub name: String,
    pub labels: &'a LabelSet,
    /// Time from the first sample with the set to the end, milliseconds.
    pub ms: f64,
}

/// Returns the label sets that a process used in the last half second of its recording, the oldest first; empty
/// for a process that was not killed, or whose end is not among what was read.
pub(crate) fn in_flight<'a>(process: &Process, session: &'a Session) -> Vec<ReportInFlight<'a>> {
    let main = process.threads.iter().find(|thread| thread.is_main());
    let last = main.and_then(|thread| thread.profiles.last());
    let is_killed = process.ending.as_ref().is_some_and(|ending| ending.signal.is_some());
    let (_, end_us) = process.recorded_us();
    if !last.is_some_and(|last| is_killed || !last.has_ended) || process.end_us() < end_us {
        return Vec::new();
    }
    let profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
    let starts = starts_of_uses(profiles, end_us);
    let mut found: Vec<_> = starts
        .into_iter()
        .filter_map(|(set, start_us)| {
            let labels = session.labels.get(set)?;
            Some((
                start_us,
                set,
                ReportInFlight {
                    name: labels.to_string(),
                    labels,
                    ms: ms(end_us.saturating_sub(start_us).unsigned_abs()),
                },
            ))
        })
        .collect();
    found.cold_sort_by_key(|(start_us, set, _)| (*start_us, *set));
    found.into_iter().map(|(.., in_flight)| in_flight).collect()
}

/// Returns the start of the last use of each label set that was in use at the end, microseconds.
fn starts_of_uses<'p>(
    profiles: impl Iterator<Item = &'p ThreadProfile>,
    end_us: i64,
) -> Vec<(u32, i64)> {
    let mut spans: FxHashMap<u32, Vec<(i64, i64)>> = FxHashMap::default();
    for profile in profiles.filter(|profile| !profile.labels.is_empty()) {
        for step in profile.steps.spans() {
            let set = profile.labels(step.node);
            if set != NO_LABELS {
                spans.entry(set).or_default().push((step.to_us, step.from_us));
            }
        }
    }
    let start = |(set, mut spans): (u32, Vec<(i64, i64)>)| {
        spans.sort_unstable_by(|one, other| other.cmp(one));
        let mut start_us = end_us;
        for (to_us, from_us) in spans {
            if start_us.saturating_sub(to_us) > RECENT_US {
                break;
            }
            start_us = start_us.min(from_us);
        }
        (set, start_us)
    };
    spans.into_iter().map(start).filter(|(_, start_us)| *start_us < end_us).collect()
}
