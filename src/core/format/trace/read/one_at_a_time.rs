//! Chooses among profiles of one thread that were recorded side by side.

use std::cmp::Reverse;

use crate::profile::session::thread_profile::ThreadProfile;

/// Returns profiles of different times. Of profiles that were recorded side by side, as by
/// `--cpu-prof` and a trace category, the one with the most samples remains.
pub(super) fn one_at_a_time(mut profiles: Vec<ThreadProfile>) -> Vec<ThreadProfile> {
    profiles.sort_by_key(|profile| Reverse(profile.sample_count));
    let mut kept: Vec<ThreadProfile> = Vec::with_capacity(profiles.len());
    for profile in profiles {
        if !kept.iter().any(|other| other.overlaps(&profile)) {
            kept.push(profile);
        }
    }
    kept.sort_by_key(|profile| profile.recorded_us);
    kept
}
