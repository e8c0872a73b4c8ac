//! When workers and native threads worked while the main thread did not.

use std::collections::BTreeSet;

use super::phase::Phase;
use super::stretches::{Doing, Stretch, Stretches};
use crate::wall::activity::ProcessActivity;
use cpu_prof_core::base::native_thread::UNNAMED;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_session::model::{Process, Thread};

/// Part of a phase in which one of its workers works.
const NOTABLE: f64 = 0.1;

/// Returns the times in which workers of one script, or native threads of one name, worked and the main thread did
/// not.
pub(super) fn workers(process: &Process, activity: &ProcessActivity, least_us: i64) -> Vec<Phase> {
    let threads = &process.threads;
    let mut groups = FxIndexSet::default();
    let groups: Vec<usize> =
        threads.iter().map(|thread| groups.insert_full(group(thread)).0).collect();
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
            Some(first) if !threads[*first].is_main() => Doing::This(groups[*first]),
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
            groups[index] == what && activity.work_of_threads[index].us(from_us, to_us) > part_us
        };
        let at_work: Vec<&Thread> =
            (0..threads.len()).filter(|index| works(*index)).map(|index| &threads[index]).collect();
        let name = match at_work.as_slice() {
            [] => return None,
            [one] => one.name.clone(),
            [first, ..] => {
                let kind = if first.is_native() { "native threads" } else { "workers" };
                let count = at_work.len();
                match group(first) {
                    Some(group) if group != UNNAMED => format!("{count} {kind}: {group}"),
                    _ => format!("{count} {kind}"),
                }
            }
        };
        Some(Phase::new(&name, from_us, to_us))
    };
    stretches.finish().into_iter().filter_map(phase).collect()
}

/// Returns `task.js` of the worker `worker 1: task.js`, and `libuv-worker` of the native thread
/// `libuv-worker (1234)`.
fn group(thread: &Thread) -> Option<&str> {
    let script = || thread.name.split_once(": ").map(|(_, script)| script);
    thread.native_name().or_else(script)
}
