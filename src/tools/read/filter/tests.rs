use super::*;
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::lists::sample_list::ProfileSample;
use cpu_prof_session::model::thread_profile::{ProfileLine, ProfileNode};

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn stacks(packages: &[&str], focus: &[&str], ignore: &[&str]) -> StackFilter {
    StackFilter::new(&texts(packages), &texts(focus), &texts(ignore))
}

fn frame(name: &str, url: &str) -> CallFrame {
    let function_name = name.to_owned();
    CallFrame {
        function_name,
        url: url.to_owned(),
        script_id: 7,
        line: 11,
        column: 0,
        ..CallFrame::root()
    }
}

/// Returns a session of one process with two threads. In each, the package `tool` works for 10 µs
/// below `main`, and `main` itself for 30.
fn session() -> Session {
    let mut frames = FrameTable::default();
    let main = frames.number(frame("main", "file:///r/src/main.js"));
    let tool = frames.number(frame("lint", "/r/node_modules/tool/index.js"));
    let thread = |id: i64, name: &str| {
        let node = |parent, frame| ProfileNode::new(parent, frame);
        let sample =
            |time_us, node| ProfileSample { time_us, node, position: SourcePosition::line(3) };
        let line = |node, self_us| ProfileLine {
            node,
            position: SourcePosition::line(3),
            self_us,
            samples: 1,
        };
        let mut profile = ThreadProfile {
            nodes: vec![node(NONE, FrameTable::ROOT), node(0, main), node(1, tool)],
            samples: [sample(0, 1), sample(10, 2), sample(20, 1), sample(30, 1)]
                .into_iter()
                .collect(),
            lines: vec![line(1, 30), line(2, 10)],
            end_us: 40,
            ..ThreadProfile::default()
        };
        profile.times_mut(1).self_us = 30;
        profile.times_mut(2).self_us = 10;
        Thread { id, name: name.to_owned(), profiles: vec![profile], ..Thread::default() }
    };
    let process = Process {
        pid: 42,
        name: "nx".to_owned(),
        command: "nx run-many".to_owned(),
        threads: vec![thread(0, "main"), thread(3, "worker 3: lint.js")],
        ..Process::default()
    };
    Session { frames, processes: vec![process], ..Session::default() }
}

/// Returns the thread ids that a filter leaves, with the times of their nodes.
fn left(filter: &Filter) -> Vec<(i64, Vec<u64>)> {
    let mut session = session();
    filter.apply(&mut session);
    let threads = session.processes.iter().flat_map(|process| &process.threads);
    let times =
        |thread: &Thread| thread.profiles[0].all_times().map(|times| times.self_us).collect();
    threads.map(|thread| (thread.id, times(thread))).collect()
}

#[test]
fn a_process_is_named_by_a_part_of_its_command_or_its_pid() {
    for (process, is_left) in
        [("NX RUN", true), ("42", true), ("4", false), ("jest", false), ("n", true)]
    {
        let filter = Filter::new(&texts(&[process]), &[], StackFilter::default());
        assert_eq!(!left(&filter).is_empty(), is_left, "{process}");
    }
    let several = Filter::new(&texts(&["jest", "nx"]), &[], StackFilter::default());
    assert_eq!(left(&several).len(), 2);
}

#[test]
fn a_thread_is_named_by_a_part_of_its_name_or_its_id() {
    for (thread, expected) in
        [("main", vec![0]), ("0", vec![0]), ("Lint", vec![3]), ("worker", vec![3]), ("x", vec![])]
    {
        let filter = Filter::new(&[], &texts(&[thread]), StackFilter::default());
        let ids: Vec<i64> = left(&filter).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, expected, "{thread}");
    }
}

#[test]
fn stacks_that_do_not_pass_have_no_time() {
    let (all, tool, main, none) =
        (Some([0, 30, 10]), Some([0, 0, 10]), Some([0, 30, 0]), None::<[u64; 3]>);
    for (filter, expected) in [
        (stacks(&["Tool"], &[], &[]), tool),
        (stacks(&["too"], &[], &[]), none),
        (stacks(&["(own code)"], &[], &[]), all),
        (stacks(&[], &["lint"], &[]), tool),
        (stacks(&[], &["src/MAIN.js"], &[]), all),
        (stacks(&[], &["tool/index.js:12"], &[]), tool),
        (stacks(&[], &["lint", "main"], &[]), all),
        (stacks(&[], &[], &["lint"]), main),
        (stacks(&[], &["lint"], &["main"]), none),
        (stacks(&["tool"], &["lint"], &[]), tool),
        (stacks(&["tool"], &["elsewhere"], &[]), none),
    ] {
        let times = left(&Filter::new(&[], &texts(&["main"]), filter.clone()));
        let expected: Vec<_> = expected.iter().map(|times| (0, times.to_vec())).collect();
        assert_eq!(times, expected, "{filter:?}");
    }
}

#[test]
fn samples_that_do_not_pass_are_one_gap() {
    let mut session = session();
    Filter::new(&[], &[], stacks(&[], &["lint"], &[])).apply(&mut session);
    let profile = &session.processes[0].threads[0].profiles[0];
    let samples: Vec<_> =
        profile.samples.iter().map(|sample| (sample.time_us, sample.node)).collect();
    assert_eq!(samples, [(0, NONE), (10, 2), (20, NONE)]);
    assert_eq!((profile.sample_count, profile.lines.len()), (1, 1));
}

#[test]
fn the_reason_names_the_filter_and_the_processes() {
    let filter = Filter::new(&texts(&["jest"]), &[], stacks(&["a", "b"], &[], &[]));
    let names: Vec<_> = (1..=12).map(|pid| format!("nx (pid {pid})")).collect();
    let reason = filter.nothing_left(&names);
    assert!(reason.starts_with(
        "nothing in the recordings matches process jest with package a, b; the processes are: nx \
         (pid 1), nx (pid 2), "
    ));
    assert!(reason.ends_with("nx (pid 10) and 2 more"), "{reason}");
}
