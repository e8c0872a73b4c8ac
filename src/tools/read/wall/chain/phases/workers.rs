//! When workers worked while the main thread did not.

use std::collections::BTreeSet;

use super::phase::Phase;
use super::stretches::{Doing, Stretch, Stretches};
use crate::read::wall::activity::ProcessActivity;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::session::{Process, Thread};

/// Part of a phase in which one of its workers works.
const NOTABLE: f64 = 0.1;

/// Returns the times in which workers of one script worked and the main thread did not.
pub(super) fn workers(process: &Process, activity: &ProcessActivity, least_us: i64) -> Vec<Phase> {
    let threads = &process.threads;
    let mut scripts = FxIndexSet::default();
    let scripts: Vec<usize> =
        threads.iter().map(|thread| scripts.insert_full(script(thread)).0).collect();
    // When which thread begins or ends to work.
    let mut changes: Vec<(i64, usize, bool)> = Vec::new();
    for (index, work) in activity.work_of_threads.iter().enumerate() {
        for (from_us, to_us) in work.list() {
            changes.extend([(*from_us, index, true), (*to_us, index, false)]);
        }
    }
    changes.sort_unstable();
    let mut working: BTreeSet<usize> = BTreeSet::new();
    let mut stretches = Stretches::new(least_us);
    let mut at_us = changes.first().map_or(0, |(us, ..)| *us);
    for (us, index, begins) in changes {
        let doing = match working.first() {
            Some(first) if !threads[*first].is_main() => Doing::This(scripts[*first]),
            _ => Doing::Other,
        };
        stretches.add(doing, at_us, us);
        at_us = us;
        if begins {
            working.insert(index)
        } else {
            working.remove(&index)
        };
    }
    let phase = |stretch: Stretch| {
        let Stretch { what, from_us, to_us, .. } = stretch;
        let part_us = (NOTABLE * to_us.saturating_sub(from_us) as f64) as i64;
        let works = |index: usize| {
            scripts[index] == what && activity.work_of_threads[index].us(from_us, to_us) > part_us
        };
        let at_work: Vec<&Thread> =
            (0..threads.len()).filter(|index| works(*index)).map(|index| &threads[index]).collect();
        let name = match at_work.as_slice() {
            [] => return None,
            [one] => one.name.clone(),
            [first, ..] => match script(first) {
                Some(script) => format!("{} workers: {script}", at_work.len()),
                None => format!("{} workers", at_work.len()),
            },
        };
        Some(Phase::new(&name, from_us, to_us))
    };
    stretches.finish().into_iter().filter_map(phase).collect()
}

/// Returns `task.js` of the worker `worker 1: task.js`.
fn script(thread: &Thread) -> Option<&str> {
    thread.name.split_once(": ").map(|(_, script)| script)
}
