//! The times that the program measured: user timings, `console.timeStamp` and spans of the recorder.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::phase::Phase;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::Thread;

/// Part of a process from which on a measure is that of the whole process, which says nothing.
const WHOLE: f64 = 0.9;

/// Returns the outermost times that the program measured.
pub(super) fn measures(main: &Thread, least_us: i64) -> Vec<Phase> {
    let (start_us, end_us) = (main.start_us(), main.end_us());
    let whole_us = (WHOLE * end_us.saturating_sub(start_us) as f64) as i64;
    let mut spans: Vec<(i64, i64, &str)> = Vec::new();
    for profile in &main.profiles {
        let of_compiler = profile.compiler_spans.iter().map(|span| (span.start_us, span.end_us));
        let of_compiler: BTreeSet<(i64, i64)> = of_compiler.collect();
        for timing in &profile.series.timings {
            let Some(us) = timing.duration_us else { continue };
            let (from_us, to_us) = (timing.start_us, timing.start_us.saturating_add(us));
            if of_compiler.contains(&(from_us, to_us)) {
                continue;
            }
            // A slice can have a part of it.
            let (from_us, to_us) = (from_us.max(start_us), to_us.min(end_us));
            if (least_us.max(1)..whole_us).contains(&to_us.saturating_sub(from_us)) {
                spans.push((from_us, to_us, &timing.name));
            }
        }
    }
    spans.cold_sort_by_key(|(from_us, to_us, _)| (*from_us, Reverse(*to_us)));
    let mut phases: Vec<Phase> = Vec::new();
    // The end of the spans that overlap the last phase, and whether all of them are within the phase.
    let (mut until_us, mut is_nested) = (i64::MIN, true);
    for (from_us, to_us, name) in spans {
        if from_us >= until_us {
            if !is_nested {
                phases.pop();
            }
            phases.push(Phase::new(name, from_us, to_us));
            (until_us, is_nested) = (to_us, true);
        } else if to_us > until_us {
            // What ran at the same time did not run one after the other.
            (until_us, is_nested) = (to_us, false);
        }
    }
    if !is_nested {
        phases.pop();
    }
    phases
}
