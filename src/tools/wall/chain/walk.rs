//! Walks through processes from the end of a run to its start.
//!
//! A process waits for the child that ended last, unless the process worked most of the time that the
//! child ran. Of children that ended together, the one with the most work counts, its own children's
//! included, as helpers that idle in the background end with the process; but a child that works on after
//! the others have ended is the last. Before the child started, the process
//! waits for the child that had ended last by then, and so on.
//!
//! A process that outlives its parent is a background process, which nothing waits for: its time is idle, but
//! for one that works most of the time after its parent's end, which the end of the run waits for.

use std::cmp::Reverse;

use super::super::activity::ProcessActivity;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::{Process, Session};

/// Time by which a child's recorded end can be after the end of what waited for the child, microseconds.
const TOLERANCE_US: i64 = 20_000;
/// Time within which children end together, microseconds, and as part of the run.
const TOGETHER_US: i64 = 100_000;
const TOGETHER: f64 = 0.03;

/// A time of one process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// Index of the process; none where no process ran or all were idle.
    pub process: Option<usize>,
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
}

/// Returns what the end of the run waited for, from the start on. Idle time at the end of a process is a
/// link of its own from `notable_us` on, microseconds.
pub(super) fn walk(
    session: &Session,
    parents: &[Option<usize>],
    activities: &[ProcessActivity],
    notable_us: i64,
) -> Vec<Link> {
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
        notable_us,
        found: Vec::new(),
    };
    walk.children = walk.waited_for();
    walk.work_us = walk.work_with_children();
    walk.back(clock.start_us, clock.end_us);
    walk.found.reverse();
    walk.found
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
    /// Length from which on idle time is a link of its own, microseconds.
    notable_us: i64,
    /// Links from the end to the start.
    found: Vec<Link>,
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
            list.cold_sort_by_key(|child| Reverse(processes[*child].end_us()));
        }
        children
    }

    /// Returns [`ChainWalk::work_us`].
    fn work_with_children(&self) -> Vec<i64> {
        let work = |activity: &ProcessActivity| activity.work.us(i64::MIN, i64::MAX);
        let mut work_us: Vec<i64> = self.activities.iter().map(work).collect();
        // Parents start earlier, so that a sum is complete once its process is reached from the end.
        let mut order: Vec<usize> = (0..work_us.len()).collect();
        order.cold_sort_by_key(|index| self.session.processes[*index].start_us());
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
        while let Some(current) = next {
            if let Some(child) = self.next_child(current, &mut late[current], at_us) {
                self.is_visited[child] = true;
                let process = &self.session.processes[child];
                let child_end_us = process.end_us().min(at_us);
                self.add(current, child_end_us, at_us);
                at_us = child_end_us;
                next = Some(child);
                continue;
            }
            let from_us = self.session.processes.get(current).map_or(start_us, Process::start_us);
            self.add(current, from_us, at_us);
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
        let better = |best: usize, child: usize| {
            let is_better = self.work_us[child] > self.work_us[best]
                && !self.works_on(best, end_us(child), end_us(best));
            if is_better { child } else { best }
        };
        Some(together.fold(first, better))
    }

    /// Returns whether a process works most of the time between the end of another and its own: the two do not
    /// end together.
    fn works_on(&self, index: usize, from_us: i64, to_us: i64) -> bool {
        let us = to_us.saturating_sub(from_us);
        us > TOLERANCE_US && self.activities[index].called.us(from_us, to_us) > us / 2
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
    fn add(&mut self, process: usize, from_us: i64, to_us: i64) {
        let end_us = match self.activities.get(process) {
            None => from_us,
            Some(activity) => {
                let last_us = activity.called.last_us(from_us, to_us).unwrap_or(from_us);
                let is_notable = to_us.saturating_sub(last_us) >= self.notable_us;
                if is_notable { last_us } else { to_us }
            }
        };
        let mut add = |process, from_us, to_us| {
            if from_us < to_us {
                self.found.push(Link { process, from_us, to_us });
            }
        };
        add(None, end_us, to_us);
        add(Some(process), from_us, end_us);
    }
}
