//! The profiles of a trace that have ended.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::formats::trace::event::chunk_json::ProfileOrigin;
use crate::model::thread_profile::ThreadProfile;
use cpu_prof_core::base::cold_sort::ColdSort;

/// A profile that has ended.
#[derive(Debug, Clone)]
pub(super) struct FinishedProfile {
    pub pid: i64,
    pub tid: i64,
    pub origin: ProfileOrigin,
    pub profile: ThreadProfile,
}

/// Returns the profiles by process and thread. Of several recorders of one thread, one counts, as in
/// DevTools.
pub(super) fn of_one_origin(
    profiles: Vec<FinishedProfile>,
) -> BTreeMap<i64, BTreeMap<i64, Vec<ThreadProfile>>> {
    let mut origins: BTreeMap<(i64, i64), ProfileOrigin> = BTreeMap::new();
    for finished in &profiles {
        let best = origins.entry((finished.pid, finished.tid)).or_insert(finished.origin);
        *best = finished.origin.min(*best);
    }
    let mut processes: BTreeMap<i64, BTreeMap<i64, Vec<ThreadProfile>>> = BTreeMap::new();
    for FinishedProfile { pid, tid, origin, profile } in profiles {
        if origins.get(&(pid, tid)) == Some(&origin) {
            processes.entry(pid).or_default().entry(tid).or_default().push(profile);
        }
    }
    processes
}

/// Returns profiles of different times. Of profiles that were recorded side by side, as by
/// `--cpu-prof` and a trace category, the one with the most samples remains.
pub(super) fn one_at_a_time(mut profiles: Vec<ThreadProfile>) -> Vec<ThreadProfile> {
    profiles.cold_sort_by_key(|profile| Reverse(profile.sample_count));
    let mut kept: Vec<ThreadProfile> = Vec::with_capacity(profiles.len());
    for profile in profiles {
        if !kept.iter().any(|other| other.overlaps(&profile)) {
            kept.push(profile);
        }
    }
    kept.cold_sort_by_key(|profile| profile.recorded_us);
    kept
}
