use serde_json::{Value, json};

use super::report::{ReportOptions, report};
use crate::read::load::{self, Loaded};
use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::cpu_use::CpuUse;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::builder::ProfileBuilder;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};
use cpu_prof_session::model::{Process, Thread};

fn frame(name: &str, url: &str) -> CallFrame {
    let script_id = if url.is_empty() { 0 } else { 5 };
    let line = if url.is_empty() { -1 } else { 9 };
    let is_module = url.starts_with("/usr/");
    let origin =
        if is_module { FrameOrigin::Module(BuildId::new(&[1])) } else { FrameOrigin::Executed };
    CallFrame {
        function_name: name.into(),
        origin,
        url: url.into(),
        script_id,
        line,
        column: line,
        ..CallFrame::root()
    }
}

/// One thread with samples of stacks, each a millisecond.
fn loaded(stacks: &[&[(&str, &str)]]) -> Loaded {
    let mut loaded = Loaded::default();
    let frames = &mut loaded.session.frames;
    let mut building = ProfileBuilder::new(0, ReadScope::LINES);
    let mut ids: Vec<Vec<(&str, &str)>> = Vec::new();
    building.announce(0, None, frames.number(CallFrame::root()));
    for stack in stacks {
        let mut parent = 0;
        for depth in 1..=stack.len() {
            let path = stack[..depth].to_vec();
            let known = ids.iter().position(|known| *known == path);
            let id = known.unwrap_or_else(|| {
                ids.push(path);
                ids.len() - 1
            }) as u64
                + 1;
            let (name, url) = stack[depth - 1];
            building.announce(id, Some(parent), frames.number(frame(name, url)));
            parent = id;
        }
        // All but `b` are on the line of their number of frames.
        let line = if stack.last() == Some(&B) { 0 } else { 11 + stack.len() as u32 };
        building.sample(parent, 1000, SourcePosition::line(line));
    }
    let threads = vec![Thread {
        id: 0,
        name: "main".into(),
        profiles: vec![building.finish()],
        ..Thread::default()
    }];
    let (name, command) = ("nx".to_owned(), "nx run".to_owned());
    loaded.session.processes.push(Process { pid: 7, name, command, threads, ..Process::default() });
    load::sort(&mut loaded.session, Process::recorded_us);
    loaded.inputs = 1;
    loaded
}

fn computed(loaded: &Loaded, top: usize) -> Value {
    serde_json::from_str(
        &report(loaded, &ReportOptions { top, ..ReportOptions::default() }).unwrap(),
    )
    .unwrap()
}

const A: (&str, &str) = ("a", "/r/a.js");
const B: (&str, &str) = ("b", "/r/node_modules/b/b.js");
const C: (&str, &str) = ("", "/r/node_modules/b/c.js");
const FS: (&str, &str) = ("readFileSync", "node:fs");
const NATIVE: (&str, &str) = ("open", "");

#[test]
fn a_whole_report() {
    let stacks: &[&[_]] = &[
        &[A],
        &[A, B],
        &[A, B, C],
        &[A, FS, NATIVE],
        &[("(idle)", "")],
        &[("(idle)", "")],
        &[("(garbage collector)", "")],
        &[("(program)", "")],
    ];
    let expected = json!({
        "version": 2,
        "durationMs": 9.0,
        "totals": { "javascriptMs": 3.0, "nativeMs": 2.0, "gcMs": 1.0, "idleMs": 2.0 },
        "programMs": 1.0,
        "chain": [],
        "labels": [],
        "labelKeys": [],
        "processes": [{
            "pid": 7, "name": "nx", "command": "nx run", "launcher": false,
            "startMs": 0.0, "durationMs": 9.0,
            "threads": [{
                "threadId": 0, "name": "main", "startMs": 0.0, "durationMs": 9.0,
                "javascriptMs": 3.0, "nativeMs": 2.0, "gcMs": 1.0, "idleMs": 2.0, "samples": 8, "ownFile": "/r/a.js",
            }],
        }],
        "functions": [
            { "name": "a", "file": "/r/a.js", "line": 10, "column": 10, "package": "(own code)",
              "selfMs": 1.0, "totalMs": 4.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "name": "b", "file": "/r/node_modules/b/b.js", "line": 10, "column": 10,
              "package": "b", "selfMs": 1.0, "totalMs": 2.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "name": "(anonymous)", "file": "/r/node_modules/b/c.js", "line": 10, "column": 10,
              "package": "b", "selfMs": 1.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "name": "open", "file": "", "line": 0, "column": 0, "package": "(native)",
              "selfMs": 1.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "name": "readFileSync", "file": "node:fs", "line": 10, "column": 10,
              "package": "node:", "selfMs": 0.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
        ],
        "lines": [
            { "name": "a", "file": "/r/a.js", "line": 12, "package": "(own code)",
              "selfMs": 1.0, "samples": 1 },
            { "name": "b", "file": "/r/node_modules/b/b.js", "line": 0, "package": "b",
              "selfMs": 1.0, "samples": 1 },
            { "name": "(anonymous)", "file": "/r/node_modules/b/c.js", "line": 14, "package": "b",
              "selfMs": 1.0, "samples": 1 },
            { "name": "open", "file": "", "line": 0, "package": "(native)",
              "selfMs": 1.0, "samples": 1 },
        ],
        "files": [
            { "file": "/r/a.js", "package": "(own code)", "selfMs": 1.0, "totalMs": 4.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "file": "/r/node_modules/b/b.js", "package": "b", "selfMs": 1.0, "totalMs": 2.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "file": "", "package": "(native)", "selfMs": 1.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "file": "/r/node_modules/b/c.js", "package": "b", "selfMs": 1.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
            { "file": "node:fs", "package": "node:", "selfMs": 0.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0, "trunk": false },
        ],
        "packages": [
            { "name": "b", "selfMs": 2.0, "totalMs": 2.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
            { "name": "(own code)", "selfMs": 1.0, "totalMs": 4.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
            { "name": "(native)", "selfMs": 1.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
            { "name": "node:", "selfMs": 0.0, "totalMs": 1.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
        ],
        "scripts": [],
        "owners": [
            { "kind": "own code", "name": "(own code)", "selfMs": 2.0, "totalMs": 4.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
            { "kind": "package", "name": "b", "selfMs": 2.0, "totalMs": 2.0, "blockedMs": 0.0, "waitingMs": 0.0, "criticalMs": 0.0 },
        ],
        "counts": { "functions": 5, "lines": 4, "files": 5, "packages": 4 },
        "inputs": 1, "repaired": [], "failed": [], "notes": [],
    });
    assert_eq!(computed(&loaded(stacks), 20), expected);
}

#[test]
fn native_functions_are_summed_by_their_modules() {
    let v8 = ("v8::internal::JsonParser<…>::Parse", "/usr/bin/node");
    let node = ("node::Start", "/usr/bin/node");
    let memcpy = ("memcpy", "/usr/lib/libc.so.6");
    let report = computed(&loaded(&[&[A, v8, memcpy], &[A, v8, v8], &[A, node, B], &[A]]), 20);
    let rows = report["modules"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.map(|row| (&row["name"], &row["selfMs"], &row["totalMs"])).collect();
    let expected = [("V8", 1.0, 2.0), ("libc", 1.0, 1.0), ("node", 0.0, 1.0)];
    let expected = expected.map(|(name, own, total)| (json!(name), json!(own), json!(total)));
    assert_eq!(rows, expected.each_ref().map(|(name, own, total)| (name, own, total)));
    assert_eq!(computed(&loaded(&[&[A, B]]), 20).get("modules"), None);
}

#[test]
fn recursion_counts_once() {
    let report = computed(&loaded(&[&[A, B, A, B], &[A, B, A], &[A], &[B, B]]), 20);
    let costs: Vec<_> = report["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["name"].as_str().unwrap(), f["selfMs"].as_f64(), f["totalMs"].as_f64()))
        .collect();
    // Four samples of a millisecond each.
    assert_eq!(costs, [("a", Some(2.0), Some(3.0)), ("b", Some(2.0), Some(3.0))]);
}

#[test]
fn a_line_is_that_of_a_function_in_all_stacks() {
    let report =
        computed(&loaded(&[&[A], &[B, A], &[FS, A], &[A, FS], &[B], &[("(idle)", "")]]), 2);
    let lines: Vec<_> = report["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| (at["name"].as_str().unwrap(), at["line"].as_u64(), at["samples"].as_u64()))
        .collect();
    assert_eq!(lines, [("a", Some(13), Some(2)), ("a", Some(12), Some(1))]);
    assert_eq!(report["lines"][0]["selfMs"], 2.0);
    assert_eq!(report["counts"]["lines"], 4);
}

#[test]
fn the_top_is_by_either_time() {
    // `a` is only ever a caller; the rest take less and less by themselves.
    let stacks: &[&[_]] =
        &[&[A, B], &[A, B], &[A, B], &[A, C], &[A, C], &[A, FS], &[A, B], &[A, B]];
    let names = |top| -> Vec<String> {
        let report = computed(&loaded(stacks), top);
        assert_eq!(report["counts"]["functions"], 4);
        let names = report["functions"].as_array().unwrap().iter();
        names.map(|function| function["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(1), ["b", "a"]);
    assert_eq!(names(2), ["b", "(anonymous)", "a"]);
    assert_eq!(names(20), ["b", "(anonymous)", "readFileSync", "a"]);
    assert!(names(0).is_empty());
}

/// Returns a process with a main thread that has used so much CPU time: microseconds.
fn counted(pid: i64, ancestors: &[i64], cpu: [i64; 3]) -> Process {
    let [thread_us, process_us, children_us] = cpu;
    let last = CpuTimes {
        process_cpu_us: Some(process_us),
        children_cpu_us: Some(children_us),
        ..CpuTimes::default()
    };
    let cpu = CpuUse {
        cpu_us: thread_us as f64,
        wait_us: Some(0.0),
        process_cpu_us: Some(process_us as f64),
        last,
    };
    let end_us = 10_000_000 - pid;
    let profile = ThreadProfile { start_us: pid, end_us, cpu: Some(cpu), ..Default::default() };
    let threads =
        vec![Thread { id: 0, name: "main".into(), profiles: vec![profile], ..Thread::default() }];
    Process { pid, ancestors: ancestors.to_vec(), threads, ..Process::default() }
}

#[test]
fn the_time_of_other_programs_is_without_recorded_children() {
    let mut loaded = Loaded::default();
    loaded.session.processes = vec![
        // 7 starts 9 through a shell, and a program that uses 300 ms.
        counted(7, &[1], [40_000, 100_000, 700_000]),
        counted(9, &[8, 7, 1], [250_000, 260_000, 120_000]),
        counted(10, &[9, 8, 7, 1], [90_000, 105_000, 0]),
    ];
    load::sort(&mut loaded.session, Process::recorded_us);
    let ms = |report: &Value| {
        let cpu = |index: usize| report["processes"][index]["cpu"].clone();
        [cpu(0), cpu(1), cpu(2)]
    };
    assert_eq!(
        ms(&computed(&loaded, 9)),
        [
            json!({ "javascriptMs": 40.0, "nativeMs": 60.0, "othersMs": 305.0 }),
            json!({ "javascriptMs": 250.0, "nativeMs": 10.0, "othersMs": 0.0 }),
            json!({ "javascriptMs": 90.0, "nativeMs": 15.0, "othersMs": 0.0 }),
        ]
    );
    // The time of a child is counted at its end, which can be outside of a slice.
    loaded.is_slice = true;
    let slice = ms(&computed(&loaded, 9));
    assert_eq!(slice[0], json!({ "javascriptMs": 40.0, "nativeMs": 60.0 }));
}

#[test]
fn the_trunk_ends_where_the_tree_branches() {
    const MAIN: (&str, &str) = ("main", "/r/main.js");
    const RUN: (&str, &str) = ("run", "/r/run.js");
    let stacks: &[&[_]] = &[&[MAIN, RUN, A], &[MAIN, RUN, A], &[MAIN, RUN, B], &[MAIN, RUN, B]];
    let report = computed(&loaded(stacks), 20);
    let trunk = |list: &str| -> Vec<_> {
        let items = report[list].as_array().unwrap().iter();
        items.filter(|item| item["trunk"] == true).map(|item| item["file"].clone()).collect()
    };
    assert_eq!(trunk("functions"), ["/r/main.js"]);
    assert_eq!(trunk("files"), ["/r/main.js"]);
}

#[test]
fn a_caller_of_shared_code_is_no_trunk() {
    const FIRST: (&str, &str) = ("first", "/r/first.test.js");
    const SECOND: (&str, &str) = ("second", "/r/second.test.js");
    let report = computed(&loaded(&[&[FIRST, A], &[FIRST, A], &[SECOND, A]]), 20);
    let files = report["files"].as_array().unwrap();
    assert!(files.iter().all(|file| file["trunk"] == false), "{files:?}");
}

#[test]
fn threads_of_a_pool_are_told_apart_by_their_files() {
    const FIRST: (&str, &str) = ("first", "/r/first.test.js");
    const SECOND: (&str, &str) = ("second", "/r/second.test.js");
    const SHORT: (&str, &str) = ("short", "/r/short.js");
    let stacks: &[&[_]] =
        &[&[FIRST, A], &[FIRST, SHORT], &[SECOND, A], &[SECOND, A], &[SECOND, A], &[SECOND, A]];
    let mut loaded = loaded(stacks);
    let own_files = |loaded: &Loaded| -> Vec<_> {
        let processes = computed(loaded, 9)["processes"].clone();
        let threads = processes.as_array().unwrap().iter().map(|process| &process["threads"][0]);
        threads.map(|thread| thread["ownFile"].clone()).collect()
    };
    // The file of all tests has the most time.
    assert_eq!(own_files(&loaded), ["/r/a.js"]);
    let [mut first, mut second] = [vec![5], vec![2, 3]].map(|absent: Vec<usize>| {
        let mut process = Process { pid: 9, name: "nx".into(), ..Process::default() };
        let mut profile = ThreadProfile { end_us: 6000, ..ThreadProfile::default() };
        let of_loaded = &loaded.session.processes[0].threads[0].profiles[0];
        (profile.nodes, profile.times) = (of_loaded.nodes.clone(), of_loaded.times.clone());
        for node in absent {
            profile.nodes[node].times = NONE;
        }
        process.threads = vec![Thread { profiles: vec![profile], ..Thread::default() }];
        process
    });
    (first.threads[0].name, second.threads[0].name) = ("worker 1".into(), "worker 2".into());
    loaded.session.processes = vec![first, second];
    assert_eq!(own_files(&loaded), ["/r/first.test.js", "/r/second.test.js"]);
}

#[test]
fn launchers_are_not_in_the_tables() {
    let mut loaded = loaded(&[&[A], &[A, B]]);
    let mut tool = loaded.session.processes.pop().unwrap();
    tool.ancestors = vec![7, 1];
    tool.pid = 9;
    loaded.session.processes = vec![counted(7, &[1], [0, 0, 0]), tool];
    (loaded.session.processes[0].name, loaded.session.processes[0].command) =
        ("npm".into(), "npm run build".into());
    loaded.session.processes[0].threads[0].profiles[0].start_us = -5;
    let of_tool = &loaded.session.processes[1].threads[0].profiles[0];
    let (nodes, times) = (of_tool.nodes.clone(), of_tool.times.clone());
    let of_npm = &mut loaded.session.processes[0].threads[0].profiles[0];
    (of_npm.nodes, of_npm.times) = (nodes, times);
    load::sort(&mut loaded.session, Process::recorded_us);
    let report = computed(&loaded, 9);
    assert_eq!(report["processes"][0]["launcher"], true);
    assert_eq!(report["totals"]["javascriptMs"], 4.0);
    assert_eq!(report["functions"][0]["totalMs"], 2.0);
}
