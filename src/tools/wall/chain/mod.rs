//! What the end of a run waited for: processes one after the other, with their phases.

mod part;
mod phases;
mod shortened;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub use self::part::ChainPart;
use self::phases::{Phase, PhaseFinder};
use self::shortened::shortened;
use self::walk::{Link, walk};
use super::activity::ProcessActivity;
use cpu_prof_core::base::path_text::{below, with_slashes};
use cpu_prof_session::model::{Process, Session};

/// Part of the run that idle time at the end of a process needs for a part of its own, and time of a process
/// beside its phases.
const NOTABLE: f64 = 0.02;
/// Part of the run that a phase needs for a part of its own.
const NOTABLE_PHASE: f64 = 0.05;

/// Returns the chain of the first clock's processes. `parents` are the indices of the recorded processes
/// above, `activities` what each process did.
pub fn chain(
    session: &Session,
    parents: &[Option<usize>],
    activities: &[ProcessActivity],
) -> Vec<ChainPart> {
    let Some(clock) = session.clocks.first() else { return Vec::new() };
    let length_us = clock.end_us.saturating_sub(clock.start_us) as f64;
    let [notable_us, phase_us] = [NOTABLE, NOTABLE_PHASE].map(|part| (part * length_us) as i64);
    let finder = PhaseFinder::of(session, phase_us, notable_us);
    let mut known: BTreeMap<usize, Vec<Phase>> = BTreeMap::new();
    let mut parts = Vec::new();
    for link in walk(session, parents, activities, notable_us) {
        let Link { process: index, from_us, to_us } = link;
        let Some(index) = index else {
            let us = to_us.saturating_sub(from_us);
            parts.push(ChainPart { us, idle_us: us, ..ChainPart::default() });
            continue;
        };
        let process = &session.processes[index];
        let phases =
            known.entry(index).or_insert_with(|| finder.phases(process, &activities[index]));
        for Phase { name, from_us, to_us } in finder.parted(phases, from_us, to_us) {
            let us = to_us.saturating_sub(from_us);
            parts.push(ChainPart {
                label: Some(label(process, session)),
                phase: name,
                us,
                idle_us: us.saturating_sub(activities[index].called.us(from_us, to_us)),
                processes: BTreeSet::from([index]),
            });
        }
    }
    shortened(parts)
}

/// Returns `eslint · packages/app`, or `eslint` in the folder of the run.
fn label(process: &Process, session: &Session) -> String {
    let cwd = |process: &Process| process.cwd.as_deref().map(with_slashes).map(Cow::into_owned);
    let (cwd, first) = (cwd(process), session.processes.first().and_then(cwd));
    match cwd.zip(first).as_ref().and_then(|(cwd, first)| below(cwd, first)) {
        Some(folder) => format!("{} · {folder}", process.name),
        None => process.name.clone(),
    }
}
