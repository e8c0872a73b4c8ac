//! Tests the chain on processes with known times.

use super::*;
use cpu_prof_session::model::thread_profile::ThreadProfile;
use cpu_prof_session::model::{Clock, Thread};

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
    session.clocks.push(Clock { start_us: 0, end_us, ..Clock::default() });
    let parents: Vec<_> = written.iter().map(|(_, parent, ..)| *parent).collect();
    let parts = chain(&session, &parents, &activities);
    let label = |part: &ChainPart| part.label.clone().unwrap_or("idle".to_owned());
    assert_eq!(parts.iter().map(|part| part.us).sum::<i64>(), end_us);
    parts.iter().map(|part| (label(part), part.us, part.idle_us, part.processes.len())).collect()
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
fn of_two_rows_of_processes_the_end_waited_for_one() {
    // Each process of the second row has more work, but ends earlier; the next one starts at once.
    let chain = found(&[
        ("first", None, 1000, 10 * S, &[(1000, S), (2 * S, 10 * S)]),
        ("other", None, 0, 97 * S / 10, &[(0, 97 * S / 10)]),
        ("second", None, 10 * S, 20 * S, &[(10 * S, 11 * S), (12 * S, 20 * S)]),
        ("fourth", None, 97 * S / 10, 197 * S / 10, &[(97 * S / 10, 197 * S / 10)]),
    ]);
    assert_eq!(chain, [part("first", 10 * S, S + 1000, 1), part("second", 10 * S, S, 1)]);
}

#[test]
fn of_processes_that_end_together_the_one_with_the_work_counts() {
    let chain = found(&[
        ("build", None, 0, 97 * S / 10, &[(0, 97 * S / 10)]),
        ("helper", None, 0, 10 * S, &[(0, S)]),
    ]);
    assert_eq!(chain, [part("build", 97 * S / 10, 0, 1), part("idle", 3 * S / 10, 3 * S / 10, 0)]);
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
    assert_eq!(found(&[parent, idle]), [part("npm", 5 * S, 0, 1), part("idle", 5 * S, 5 * S, 0)]);
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
    assert_eq!(chain, [part("lerna", S, 0, 1), part("tsc", 8 * S, 0, 2), part("lerna", S, 0, 1)]);
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
