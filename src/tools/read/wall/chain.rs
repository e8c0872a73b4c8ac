//! What the end of a run waited for: the processes one after the other, backwards from the end.
//!
//! A process waits for the child that ended last, unless the process worked most of the time that the
//! child ran. Of children that ended together, the one with the most work counts, its own children's
//! included: helpers that idle in the background end with the process. Before the child started, the process
//! waits for the child that had ended last by then, and so on.
//!
//! A process that outlives its parent is a background process, which nothing waits for: its time is idle, but
//! for one that works most of the time after its parent's end, which the end of the run waits for.

use std::collections::BTreeSet;

use super::activity::ProcessActivity;
use cpu_prof_core::profile::session::{Process, Session};

/// Time by which a child's recorded end can be after the end of what waited for the child, microseconds.
const TOLERANCE_US: i64 = 20_000;
/// Time within which children end together, microseconds, and as part of the run.
const TOGETHER_US: i64 = 100_000;
const TOGETHER: f64 = 0.03;
/// Part of the run that idle time at the end of a process needs for a part of its own.
const NOTABLE: f64 = 0.02;
/// Parts that a reader can take in.
const MAX_PARTS: usize = 8;

/// A part of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainPart {
    /// Name of the process, with the folder if processes ran in several; none where no process ran or all
    /// were idle.
    pub label: Option<String>,
    /// Length, microseconds.
    pub us: i64,
    /// Time of the length in which no thread of the process worked or was blocked, microseconds.
    pub idle_us: i64,
    /// Indices of the processes that the part stands for.
    pub processes: BTreeSet<usize>,
}

/// Returns the chain of the first clock's processes. `parents` are the indices of the recorded processes
/// above, `activities` what each process did.
pub(crate) fn chain(
    session: &Session,
    parents: &[Option<usize>],
    activities: &[ProcessActivity],
) -> Vec<ChainPart> {
    let Some(clock) = session.clocks.first() else { return Vec::new() };
    let length_us = clock.end_us.saturating_sub(clock.start_us) as f64;
    let mut walk = ChainWalk {
        session,
        activities,
        parents,
        children: Vec::new(),
        work_us: Vec::new(),
        is_visited: vec![false; session.processes.len()],
        together_us: TOGETHER_US.max((TOGETHER * length_us) as i64),
        found: Vec::new(),
    };
    walk.children = walk.waited_for();
    walk.work_us = walk.work_with_children();
    walk.back(clock.start_us, clock.end_us);
    let mut parts = walk.found;
    parts.reverse();
    shortened(parts)
}

struct ChainWalk<'a> {
    session: &'a Session,
    activities: &'a [ProcessActivity],
    parents: &'a [Option<usize>],
    /// Indices of the processes that each process can wait for, the last to end first; at the end those that
    /// the end of the run can wait for.
    children: Vec<Vec<usize>>,
    /// Work of each process with that of all processes below, microseconds.
    work_us: Vec<i64>,
    is_visited: Vec<bool>,
    /// Time within which children end together, microseconds.
    together_us: i64,
    /// Parts from the end to the start.
    found: Vec<ChainPart>,
}

impl ChainWalk<'_> {
    /// Returns [`ChainWalk::children`].
    fn waited_for(&self) -> Vec<Vec<usize>> {
        let processes = &self.session.processes;
        let mut children = vec![Vec::new(); processes.len() + 1];
        for (index, process) in processes.iter().enumerate() {
            if process.clock == 0 {
                children[self.waiter(index).unwrap_or(processes.len())].push(index);
            }
        }
        for list in &mut children {
            list.sort_by_key(|child| std::cmp::Reverse(processes[*child].end_us()));
        }
        children
    }

    /// Returns [`ChainWalk::work_us`].
    fn work_with_children(&self) -> Vec<i64> {
        let work = |activity: &ProcessActivity| activity.work.us(i64::MIN, i64::MAX);
        let mut work_us: Vec<i64> = self.activities.iter().map(work).collect();
        // Parents start earlier, so that a sum is complete once its process is reached from the end.
        let mut order: Vec<usize> = (0..work_us.len()).collect();
        order.sort_by_key(|index| self.session.processes[*index].start_us());
        for index in order.into_iter().rev() {
            if let Some(parent) = self.parents[index] {
                work_us[parent] = work_us[parent].saturating_add(work_us[index]);
            }
        }
        work_us
    }

    /// Returns the process that can wait for a process; none for the end of the run.
    fn waiter(&self, index: usize) -> Option<usize> {
        let end_us = self.session.processes[index].end_us();
        let mut waiter = self.parents[index];
        // Pids of hostile recordings can name each other.
        for _ in 0..self.parents.len() {
            let Some(above) = waiter else { break };
            let above_end_us = self.session.processes[above].end_us();
            let longer_us = end_us.saturating_sub(above_end_us);
            let works = self.activities[index].called.us(above_end_us, end_us) > longer_us / 2;
            if longer_us <= TOLERANCE_US || !works {
                break;
            }
            waiter = self.parents[above];
        }
        waiter
    }

    /// Walks from the end of the run to its start, microseconds.
    fn back(&mut self, start_us: i64, end_us: i64) {
        // No process is above the first.
        let none = self.session.processes.len();
        let mut next = Some(none);
        // How many children of each process had ended too late already.
        let mut late = vec![0; none + 1];
        let mut is_left = vec![false; none];
        let mut at_us = end_us;
        let notable_us = (NOTABLE * end_us.saturating_sub(start_us) as f64) as i64;
        while let Some(current) = next {
            if let Some(child) = self.next_child(current, &mut late[current], at_us) {
                self.is_visited[child] = true;
                let process = &self.session.processes[child];
                let child_end_us = process.end_us().min(at_us);
                self.part(current, child_end_us, at_us, notable_us);
                at_us = child_end_us;
                next = Some(child);
                continue;
            }
            let from_us = self.session.processes.get(current).map_or(start_us, Process::start_us);
            self.part(current, from_us, at_us, notable_us);
            at_us = at_us.min(from_us);
            // The process that started this one, which can have ended before.
            next = (current != none).then(|| {
                is_left[current] = true;
                self.parents[current].filter(|parent| !is_left[*parent]).unwrap_or(none)
            });
        }
    }

    /// Returns the child that had ended last before a time, if the process waited for the child.
    fn next_child(&self, current: usize, late: &mut usize, at_us: i64) -> Option<usize> {
        let children = &self.children[current];
        let end_us = |child: usize| self.session.processes[child].end_us();
        let is_late = |child: usize| end_us(child) > at_us.saturating_add(TOLERANCE_US);
        while children.get(*late).is_some_and(|child| self.is_visited[*child] || is_late(*child)) {
            *late += 1;
        }
        let mut awaited = children[*late..]
            .iter()
            .copied()
            .filter(|child| self.is_awaited(current, *child, at_us));
        let first = awaited.next()?;
        let together = awaited
            .take_while(|child| end_us(first).saturating_sub(end_us(*child)) <= self.together_us);
        // Of equals, the last to end.
        let better =
            |best, child| if self.work_us[child] > self.work_us[best] { child } else { best };
        Some(together.fold(first, better))
    }

    /// Returns whether a process can have waited for a child until a time.
    fn is_awaited(&self, current: usize, child: usize, at_us: i64) -> bool {
        let process = &self.session.processes[child];
        let (start_us, end_us) = (process.start_us(), process.end_us());
        let work_us = self.activities.get(current).map(|own| own.work.us(start_us, end_us));
        !self.is_visited[child]
            && start_us < at_us
            && work_us.is_none_or(|us| us < end_us.saturating_sub(start_us) / 2)
    }

    /// Adds a time of a process, and what is idle at its end.
    fn part(&mut self, process: usize, from_us: i64, to_us: i64, notable_us: i64) {
        let us = to_us.saturating_sub(from_us);
        if us <= 0 {
            return;
        }
        let idle = |us| ChainPart { label: None, us, idle_us: us, processes: BTreeSet::new() };
        let Some(activity) = self.activities.get(process) else {
            return self.found.push(idle(us));
        };
        let last_us = activity.called.last_us(from_us, to_us).unwrap_or(from_us);
        let end_us = if to_us.saturating_sub(last_us) >= notable_us { last_us } else { to_us };
        if end_us < to_us {
            self.found.push(idle(to_us - end_us));
        }
        if end_us > from_us {
            let us = end_us - from_us;
            let idle_us = us - activity.called.us(from_us, end_us);
            let label = Some(label(&self.session.processes[process], self.session));
            let processes = BTreeSet::from([process]);
            self.found.push(ChainPart { label, us, idle_us, processes });
        }
    }
}

/// Returns `eslint · packages/app`, or `eslint` in the folder of the run.
fn label(process: &Process, session: &Session) -> String {
    let first = session.processes.first().and_then(|first| first.cwd.as_deref());
    let folder = process.cwd.as_deref().zip(first).and_then(|(cwd, first)| {
        let inner = cwd.strip_prefix(first)?.trim_start_matches(['/', '\\']);
        (!inner.is_empty()).then_some(inner)
    });
    match folder {
        Some(folder) => format!("{} · {folder}", process.name),
        None => process.name.clone(),
    }
}

/// Joins parts of one label in a row, and short parts with the part before. Where many are left, each label
/// has one part.
fn shortened(parts: Vec<ChainPart>) -> Vec<ChainPart> {
    let whole_us: i64 = parts.iter().map(|part| part.us).sum();
    let mut short = joined(parts, |part| part.us.saturating_mul(200) < whole_us);
    if short.len() > MAX_PARTS {
        let mut labels: Vec<ChainPart> = Vec::new();
        for part in short {
            match labels.iter_mut().find(|known| known.label == part.label) {
                Some(known) => known.add(&part),
                None => labels.push(part),
            }
        }
        short = labels;
    }
    if short.len() > MAX_PARTS {
        let mut lengths: Vec<i64> = short.iter().map(|part| part.us).collect();
        lengths.sort_unstable_by_key(|us| std::cmp::Reverse(*us));
        let least_us = lengths[MAX_PARTS - 2];
        let mut rest =
            ChainPart { label: Some(String::new()), us: 0, idle_us: 0, processes: BTreeSet::new() };
        short.retain(|part| {
            let is_shown = part.us >= least_us;
            if !is_shown {
                rest.add(part);
            }
            is_shown
        });
        rest.label = Some(format!("{} others", rest.processes.len()));
        short.push(rest);
    }
    short
}

fn joined(parts: Vec<ChainPart>, is_short: impl Fn(&ChainPart) -> bool) -> Vec<ChainPart> {
    let mut list: Vec<ChainPart> = Vec::new();
    for part in parts {
        match list.last_mut() {
            Some(last) if part.label == last.label => last.add(&part),
            Some(last) if is_short(&part) => last.add_time(&part),
            _ => list.push(part),
        }
    }
    list
}

impl ChainPart {
    fn add(&mut self, other: &Self) {
        self.add_time(other);
        self.processes.extend(&other.processes);
    }

    fn add_time(&mut self, other: &Self) {
        self.us = self.us.saturating_add(other.us);
        self.idle_us = self.idle_us.saturating_add(other.idle_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::session::thread_profile::ThreadProfile;
    use cpu_prof_core::profile::session::{Clock, Thread};

    /// A process: name, parent, start, end, and the times in which the process works.
    type Written<'a> = (&'a str, Option<usize>, i64, i64, &'a [(i64, i64)]);

    /// Returns the parts of the chain: label, length, idle time of it, processes.
    fn found(written: &[Written]) -> Vec<(String, i64, i64, usize)> {
        let mut session = Session::default();
        let mut activities = Vec::new();
        for (name, _, start_us, end_us, work) in written {
            let profile =
                ThreadProfile { start_us: *start_us, end_us: *end_us, ..ThreadProfile::default() };
            let threads = vec![Thread { profiles: vec![profile], ..Thread::default() }];
            let name = (*name).to_owned();
            session.processes.push(Process { name, threads, ..Process::default() });
            let mut activity = ProcessActivity::default();
            for (from_us, to_us) in *work {
                activity.work.add(*from_us, *to_us);
                activity.called.add(*from_us, *to_us);
            }
            activities.push(activity);
        }
        let end_us = session.processes.iter().map(Process::end_us).max().unwrap_or(0);
        session.clocks.push(Clock { boot: None, start_us: 0, end_us });
        let parents: Vec<_> = written.iter().map(|(_, parent, ..)| *parent).collect();
        let parts = chain(&session, &parents, &activities);
        let label = |part: &ChainPart| part.label.clone().unwrap_or("idle".to_owned());
        assert_eq!(parts.iter().map(|part| part.us).sum::<i64>(), end_us);
        parts
            .iter()
            .map(|part| (label(part), part.us, part.idle_us, part.processes.len()))
            .collect()
    }

    fn part(label: &str, us: i64, idle_us: i64, processes: usize) -> (String, i64, i64, usize) {
        (label.to_owned(), us, idle_us, processes)
    }

    const S: i64 = 1_000_000;

    #[test]
    fn processes_wait_for_one_another() {
        let chain = found(&[
            ("npm", None, 0, 10 * S, &[(0, S)]),
            ("nx", Some(0), S, 10 * S, &[(S, 3 * S)]),
            ("eslint", Some(1), 3 * S, 10 * S, &[(3 * S, 8 * S)]),
        ]);
        assert_eq!(
            chain,
            [
                part("npm", S, 0, 1),
                part("nx", 2 * S, 0, 1),
                part("eslint", 5 * S, 0, 1),
                part("idle", 2 * S, 2 * S, 0)
            ]
        );
    }

    #[test]
    fn the_child_that_ends_last_counts() {
        let chain = found(&[
            ("nx", None, 0, 10 * S, &[(0, S), (9 * S, 10 * S)]),
            ("a", Some(0), S, 5 * S, &[(S, 5 * S)]),
            ("b", Some(0), S, 9 * S, &[(S, 9 * S)]),
        ]);
        assert_eq!(chain, [part("nx", S, 0, 1), part("b", 8 * S, 0, 1), part("nx", S, 0, 1)]);
    }

    #[test]
    fn a_process_that_works_does_not_wait() {
        let chain = found(&[
            ("build", None, 0, 10 * S, &[(0, 10 * S)]),
            ("helper", Some(0), S, 9 * S, &[(S, 9 * S)]),
        ]);
        assert_eq!(chain, [part("build", 10 * S, 0, 1)]);
    }

    #[test]
    fn a_background_process_counts_for_its_work_after_its_parents_end() {
        let parent: Written = ("npm", None, 0, 5 * S, &[(0, 5 * S)]);
        let idle: Written = ("daemon", Some(0), S, 10 * S, &[(S, 3 * S)]);
        assert_eq!(
            found(&[parent, idle]),
            [part("npm", 5 * S, 0, 1), part("idle", 5 * S, 5 * S, 0)]
        );
        let works: Written = ("server", Some(0), S, 10 * S, &[(S, 10 * S)]);
        assert_eq!(found(&[parent, works]), [part("npm", S, 0, 1), part("server", 9 * S, 0, 1)]);
    }

    #[test]
    fn parts_of_one_label_stand_for_their_processes() {
        let chain = found(&[
            ("lerna", None, 0, 10 * S, &[(0, S), (9 * S, 10 * S)]),
            ("tsc", Some(0), S, 5 * S, &[(S, 5 * S)]),
            ("tsc", Some(0), 5 * S, 9 * S, &[(5 * S, 9 * S)]),
        ]);
        assert_eq!(
            chain,
            [part("lerna", S, 0, 1), part("tsc", 8 * S, 0, 2), part("lerna", S, 0, 1)]
        );
    }

    #[test]
    fn a_hostile_recording_ends_the_walk() {
        let work: &[_] = &[(0, S)];
        found(&[("a", Some(1), 0, S, work), ("b", Some(0), 0, S, work)]);
        found(&[("a", Some(0), 0, S, work)]);
        found(&[
            ("a", Some(1), 0, S, work),
            ("b", Some(2), 0, S, work),
            ("c", Some(0), 0, 9 * S, &[(0, 9 * S)]),
        ]);
    }
}
