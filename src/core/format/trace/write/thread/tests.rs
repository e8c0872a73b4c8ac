use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::base::native_code::BuildId;
use crate::profile::ending::ProcessEnding;
use crate::profile::frame::CallFrame;
use crate::profile::label_table::LabelSet;
use crate::profile::position::{PositionTicks, SourcePosition};
use crate::profile::window::call_tree::CallTree;
use crate::testing::windows::made::{self, START_US, assert_golden, frame, ticks};

pub fn info(thread_id: u32, node_modules: NodeModules) -> ThreadInfo {
    let program = Program {
        pid: 4242,
        ppid: Some(1),
        ancestors: if thread_id == 0 { vec![1] } else { Vec::new() },
        argv: vec!["/usr/bin/node".into(), "/r/nx.js".into(), "run-many".into()],
        cluster_worker: None,
        exec_argv: vec!["--require".into(), "@org/cpu-prof".into()],
        cwd: "/r/naïve".into(),
        node: "v24.0.0".into(),
        process_start_ms: Some(522_975_430),
        boot: Some("5a1f".into()),
        process_key: Some("00c0ffee00c0ffee".into()),
        pid_namespace: Some(4_026_531_836),
        run: None,
    };
    ThreadInfo {
        program,
        thread_id,
        os_thread_id: Some(4242 + thread_id),
        node_modules,
        shows_bare: false,
        finds_leaves: false,
        interval_us: 1000,
        started: "2026-03-04T05:06:07.089Z".into(),
        cpu: Some(CPU),
        segment: None,
        recording_label: None,
        start: None,
    }
}

const CPU: CpuTimes = CpuTimes {
    switches: Some(40),
    cpu_us: Some(7000),
    wait_us: Some(800),
    process_cpu_us: Some(9000),
    children_cpu_us: Some(0),
};

fn window(nodes: &[(u32, CallFrame)], samples: &[(i64, u32)], end: i64) -> Window {
    let made = made::window(nodes, samples);
    Window { start_us: START_US, end_us: START_US + end, ..made }
}

/// Returns the file of a recording with these windows.
fn file(info: ThreadInfo, windows: &[Window]) -> String {
    let mut trace = ThreadTrace::new(info, START_US);
    let mut tree = CallTree::new(1000);
    let head = trace.head();
    let mut events = Events::default();
    for window in windows {
        // The writer does the same: nodes are written with samples only.
        let placed =
            if window.samples.is_empty() { PlacedWindow::default() } else { tree.place(window) };
        let flush = Flush { pause_us: Some(42), cpu: CPU, ..Flush::default() };
        trace.window(&mut events, window, &placed, flush);
    }
    if trace.info.thread_id != 0 {
        trace.rename_worker(&mut events, "crunch.js");
    }
    let end = TraceEnd { cpu: CPU, ending: ProcessEnding::of_exit(0), collections: None };
    trace.close(&mut events, START_US + 10_000, Some(end));
    let text = [&head, b",\n".as_slice(), events.as_bytes(), b"\n]}"].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn golden_main_thread() {
    let root = (0, frame("(root)", "", 0));
    let main = (0, frame("main", "/r/nx.js", 17));
    let tool = (1, frame("naïve \"😀\"", "/r/node_modules/tool/i.js", 18));
    let mut first = window(&[root.clone(), main.clone(), tool], &[(1000, 1), (2000, 2)], 2500);
    let position = SourcePosition { line: 31, column: 9 };
    let of_tool = PositionTicks { node: 2, position, ticks: 1 };
    first.set_positions([ticks(&[(1, 14, 1)]), vec![of_tool]].concat());
    first.deopts = vec![(1, "Optimization is always disabled".into())];
    let fs = (1, frame("", "node:fs", 3));
    let mut second = window(&[root, main, fs], &[(3000, 2), (4000, 1)], 5000);
    second.set_positions(ticks(&[(0, 3, 1), (1, 15, 1)]));
    assert_golden(
        "format/trace/golden/main.trace.json",
        &file(info(0, NodeModules::Foldable), &[first, second]),
    );
}

#[test]
fn golden_labels() {
    let set = |labels: &[(&str, &str)]| labels.iter().copied().collect::<LabelSet>();
    let nodes = [(0, frame("(root)", "", 0)), (0, frame("main", "/r/server.js", 17))];
    let mut first = window(&nodes, &[(1000, 1), (2000, 1), (3000, 1)], 3500);
    for (sample, labels) in first.samples.iter_mut().zip([7, 0, 2]) {
        sample.labels = labels;
    }
    let route = ("route", "/users/:id");
    first.label_sets = vec![
        (7, set(&[("tenant", "naïve \"😀\""), route])),
        (2, set(&[route, ("(too\nmany)", "true")])),
    ];
    let without = window(&nodes, &[(4000, 1)], 4500);
    let mut last = window(&nodes, &[(5000, 1), (6000, 1)], 6500);
    last.samples[1].labels = 7;
    assert_golden(
        "format/trace/golden/labels.trace.json",
        &file(info(0, NodeModules::Foldable), &[first, without, last]),
    );
}

#[test]
fn a_label_is_in_the_metadata_and_in_the_last_name() {
    for (tid, url, expected) in [
        (
            0,
            "nx.js: run-many [big \"file\"] (pid 4242)",
            [(1, "nx.js (pid 4242) - main"), (3, "nx.js (pid 4242) - main: big \"file\"")]
                .as_slice(),
        ),
        (
            3,
            "nx.js: run-many (pid 4242)",
            &[
                (1, "nx.js (pid 4242) - worker 3"),
                (3, "nx.js (pid 4242) - worker 3: big \"file\""),
                (2, "nx.js (pid 4242) - worker 3: crunch.js"),
                (3, "nx.js (pid 4242) - worker 3: crunch.js: big \"file\""),
            ],
        ),
    ] {
        let label = Some("big \"file\"".to_owned());
        let text =
            file(ThreadInfo { recording_label: label, ..info(tid, NodeModules::Foldable) }, &[]);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["metadata"]["cpu-prof"]["recordingLabel"], "big \"file\"");
        let events = json["traceEvents"].as_array().unwrap();
        assert_eq!(events[0]["args"]["data"]["frames"][0]["url"], url);
        let names = events.iter().filter(|event| event["name"] == "thread_name");
        let names: Vec<_> = names
            .map(|event| (event["ts"].as_i64().unwrap(), event["args"]["name"].as_str().unwrap()))
            .collect();
        let own = names.iter().filter(|(_, name)| *name != "CrRendererMain");
        assert_eq!(own.copied().collect::<Vec<_>>(), expected);
        // DevTools knows a main thread by the last name in the file.
        assert_eq!(names.last().unwrap().1 == "CrRendererMain", tid == 0);
    }
}

#[test]
fn golden_worker_of_a_tool() {
    let root = (0, frame("(root)", "", 0));
    let idle = (0, frame("(idle)", "", 0));
    let tool = (0, frame("lint", "/r/node_modules/tool/i.js", 18));
    let window = window(&[root, idle, tool], &[(900, 2), (1900, 1)], 2000);
    assert_golden(
        "format/trace/golden/worker.trace.json",
        &file(info(3, NodeModules::Shown), &[window]),
    );
}

#[test]
fn nothing_is_folded_as_long_as_a_thread_has_no_own_function() {
    let root = (0, frame("(root)", "", 0));
    let load = (0, frame("load", "node:internal/modules", 3));
    let dependency = (1, frame("parse", "/r/node_modules/x/i.js", 4));
    let own = (1, frame("main", "/r/a.js", 5));
    let read = (3, frame("read", "node:fs", 6));
    let all = [root, load, dependency, own, read];
    let first = || window(&all[..3], &[(1000, 1), (2000, 2)], 2500);
    let second = || window(&all, &[(3000, 4)], 5000);
    let urls = |form, shows_bare, windows: &[Window]| {
        let text = file(ThreadInfo { shows_bare, ..info(0, form) }, windows);
        let nodes = text.matches("\"callFrame\"").count();
        let url = |name: &str| text.contains(&format!("\"url\":\"{name}\""));
        let names = ["Node:internal/modules", "file:///r/node_modules\\\\x/i.js", "Node:fs"];
        (nodes, names.map(url))
    };
    let form = NodeModules::Foldable;
    assert_eq!(urls(form, true, &[first()]), (3, [true, true, false]));
    // The frames that stand in the file already stay as they are.
    assert_eq!(urls(form, true, &[first(), second()]), (5, [true, true, false]));
    assert_eq!(urls(form, true, &[second()]), (5, [false; 3]));
    assert_eq!(urls(form, false, &[first()]), (3, [false; 3]));
    // The tool is not folded.
    assert_eq!(urls(NodeModules::Shown, true, &[first()]), (3, [false, true, false]));
}

#[test]
fn native_modules_are_not_folded() {
    let path = "/r/node_modules/x/x.node";
    let module = CallFrame::in_module(path, BuildId::new(&[7]), 99_000, 0x40);
    let nodes = [(0, frame("(root)", "", 0)), (0, module)];
    let has = |shows_bare, url: &str| {
        let info = ThreadInfo { shows_bare, ..info(0, NodeModules::Foldable) };
        file(info, &[window(&nodes, &[(10, 1)], 20)]).contains(&format!("\"url\":\"{url}\""))
    };
    assert!(has(true, "file:///r/node_modules\\\\x/x.node"));
    assert!(has(false, "file:///r/node_modules/x/x.node"));
}

#[test]
fn chunks_are_small_and_time_never_runs_back() {
    let nodes = [(0, frame("(root)", "", 0)), (0, frame("main", "/r/nx.js", 17))];
    let mut samples: Vec<(i64, u32)> = (1..=2500).map(|i| (i * 100, 1)).collect();
    // A sample before the start of the recording, and a sample before its predecessor.
    samples[0].0 = -5;
    samples[1500].0 = 7;
    let text = file(info(0, NodeModules::Foldable), &[window(&nodes, &samples, 250_000)]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut time = START_US;
    let mut count = 0;
    for event in json["traceEvents"].as_array().unwrap() {
        if event["name"] != "ProfileChunk" {
            continue;
        }
        let deltas = event["args"]["data"]["timeDeltas"].as_array().unwrap();
        assert!(deltas.len() <= SAMPLES_PER_CHUNK);
        for delta in deltas {
            assert!(delta.as_i64().unwrap() >= 0);
            time += delta.as_i64().unwrap();
        }
        assert_eq!(event["ts"].as_i64().unwrap(), time);
        count += deltas.len();
    }
    assert_eq!((count, time), (2500, START_US + 250_000));
}

proptest! {
    #[test]
    fn any_windows_make_a_whole_file(
        windows in crate::testing::windows::any::windows(START_US),
        thread_id in 0_u32..3,
    ) {
        let text = file(info(thread_id, NodeModules::Shown), &windows);
        prop_assert!(text.is_ascii());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        prop_assert_eq!(text.lines().count(), events.len() + 2);
        prop_assert_eq!(&events[events.len() - 1]["name"], "trace.end");
        let mut nodes = HashSet::new();
        let (mut time, mut samples) = (START_US, 0);
        let mut all_samples = windows.iter().flat_map(|window| &window.samples);
        for event in events.iter().filter(|event| event["ph"] != "M") {
            let ts = event["ts"].as_i64().unwrap();
            prop_assert!(ts >= time);
            if event["name"] != "ProfileChunk" {
                continue;
            }
            let data = &event["args"]["data"];
            for node in data["cpuProfile"]["nodes"].as_array().into_iter().flatten() {
                let parent = node.get("parent").map(|parent| parent.as_u64().unwrap());
                prop_assert_eq!(parent.is_none(), nodes.is_empty());
                prop_assert!(parent.is_none_or(|parent| nodes.contains(&parent)));
                prop_assert!(nodes.insert(node["id"].as_u64().unwrap()));
            }
            let deltas = data["timeDeltas"].as_array().unwrap();
            let ids = data["cpuProfile"]["samples"].as_array().unwrap();
            prop_assert_eq!(deltas.len(), ids.len());
            let numbers = |key| data[key].as_array().map(|list| {
                list.iter().map(|number| number.as_u64().unwrap()).collect::<Vec<u64>>()
            });
            let given: Vec<_> = all_samples.by_ref().take(ids.len()).map(|at| at.position).collect();
            if given.iter().all(|at| at.line == 0) {
                prop_assert!(numbers("lines").is_none() && numbers("columns").is_none());
            } else {
                let lines = given.iter().map(|at| u64::from(at.line));
                prop_assert_eq!(numbers("lines"), Some(lines.collect()));
                let column = |at: &SourcePosition| if at.line > 0 { u64::from(at.column.max(1)) } else { 0 };
                prop_assert_eq!(numbers("columns"), Some(given.iter().map(column).collect()));
            }
            for (delta, id) in deltas.iter().zip(ids) {
                prop_assert!(delta.as_i64().unwrap() >= 0);
                time += delta.as_i64().unwrap();
                prop_assert!(nodes.contains(&id.as_u64().unwrap()));
            }
            prop_assert_eq!(ts, time);
            samples += ids.len();
        }
        prop_assert_eq!(samples, windows.iter().map(|window| window.samples.len()).sum::<usize>());
        let end = events[events.len() - 1]["ts"].as_i64().unwrap();
        prop_assert_eq!(end, time.max(START_US + 10_000));
    }
}
