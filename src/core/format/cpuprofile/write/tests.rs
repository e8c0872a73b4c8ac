use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::format::trace::write::thread::tests::info;
use crate::profile::window::WindowNode;
use crate::profile::window::call_tree::CallTree;
use crate::testing::windows::made::{START_US, assert_golden, frame, ticks, window};

/// Adds windows as the writer does: a window without samples is not placed.
fn profile(windows: &[Window], limit: usize) -> CpuProfile {
    let mut tree = CallTree::new(limit);
    let mut profile = CpuProfile::new(START_US, None);
    for window in windows {
        let placed =
            if window.samples.is_empty() { PlacedWindow::default() } else { tree.place(window) };
        profile.window(window, &placed);
    }
    profile
}

fn written(profile: &CpuProfile, end: i64) -> String {
    let mut out = Vec::new();
    profile.write(&mut out, START_US + end).unwrap();
    String::from_utf8(out).unwrap()
}

fn numbers(json: &Value) -> Vec<i64> {
    json.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

#[test]
fn golden_thread() {
    let root = (0, CallFrame::root());
    let main = (0, frame("main", "/r/naïve/nx.js", 17));
    let tool = (1, frame("naïve \"😀\"", "/r/node_modules/tool/i.js", 18));
    let mut first = window(&[root.clone(), main.clone(), tool], &[(1000, 1), (2000, 2), (3000, 2)]);
    first.set_positions(ticks(&[(2, 31, 1), (2, 14, 1)]));
    let fs = (1, frame("", "node:fs", 3));
    let idle = (0, frame("(idle)", "", 0));
    let mut second = window(&[root, main, fs, idle], &[(4000, 2), (5000, 1), (6000, 3), (7000, 1)]);
    second.set_positions(ticks(&[(1, 12, 2), (2, 40, 1), (2, 41, 1)]));
    second.deopts = vec![(1, "Optimization is always disabled".into())];
    let mut profile = profile(&[first, second], 1000);
    let mut facts = ProfileFacts::of_recording(&info(3, NodeModules::Foldable));
    facts.name_worker("crunch.js");
    profile.facts = Some(facts);
    let text = written(&profile, 7500);

    assert_golden("format/cpuprofile/golden/thread.cpuprofile", &text);
}

/// A file in the form in which Node 24 writes it, with invented names and numbers.
const BUILT_IN: &str = concat!(
    r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","#,
    r#""lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2]},"#,
    r#"{"id":2,"callFrame":{"functionName":"\u65e5\u672c","scriptId":"88","#,
    r#""url":"file:///r/na%C3%AFve/a.js","lineNumber":11,"columnNumber":11},"hitCount":2,"#,
    r#""children":[3],"deoptReason":"Optimization is always disabled","#,
    r#""positionTicks":[{"line":12,"ticks":1},{"line":14,"ticks":1}]},"#,
    r#"{"id":3,"callFrame":{"functionName":"","scriptId":"89","url":"","lineNumber":11,"#,
    r#""columnNumber":11},"hitCount":1}],"#,
    r#""startTime":522975545427,"endTime":522975549427,"#,
    r#""samples":[2,3,2],"timeDeltas":[1000,1100,900]}"#,
);

#[test]
fn the_file_equals_one_of_node() {
    let nodes =
        [(0, CallFrame::root()), (0, frame("日本", "/r/naïve/a.js", 88)), (1, frame("", "", 89))];
    let mut window = window(&nodes, &[(1000, 1), (2100, 2), (3000, 1)]);
    window.set_positions(ticks(&[(1, 14, 1), (1, 12, 1)]));
    window.deopts = vec![(1, "Optimization is always disabled".into())];
    assert_eq!(written(&profile(&[window], 1000), 4000), BUILT_IN);
}

#[test]
fn a_recording_without_samples_has_a_root() {
    let mut empty = window(&[(0, CallFrame::root())], &[]);
    empty.set_positions(ticks(&[(0, 1, 1)]));
    empty.deopts = vec![(0, "none".into())];
    let json: Value = serde_json::from_str(&written(&profile(&[empty], 1000), -5)).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(json["nodes"][0]["callFrame"]["functionName"], "(root)");
    assert_eq!(json["endTime"], START_US);
    assert!(numbers(&json["samples"]).is_empty());
}

#[test]
fn line_counts_are_at_most_the_count_of_samples() {
    let nodes = [(0, CallFrame::root()), (0, frame("f", "/a.js", 1))];
    let mut window = window(&nodes, &[(1000, 1), (2000, 1), (3000, 1)]);
    window.set_positions(ticks(&[(1, 5, 4), (1, 6, 1), (1, 5, 1)]));
    let json: Value = serde_json::from_str(&written(&profile(&[window], 1000), 4000)).unwrap();
    assert_eq!(
        json["nodes"][1]["positionTicks"],
        serde_json::json!([{ "line": 5, "ticks": 2 }, { "line": 6, "ticks": 1 }])
    );
}

#[test]
fn a_long_recording_is_whole() {
    let nodes = [(0, CallFrame::root()), (0, frame("f", "/a.js", 1))];
    let samples: Vec<(i64, u32)> = (1..=50_000).map(|i| (i * 1000, 1)).collect();
    let profile = profile(&[window(&nodes, &samples)], 1000);
    let json: Value = serde_json::from_str(&written(&profile, 0)).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(numbers(&json["samples"]), [2; 50_000]);
    assert_eq!(numbers(&json["timeDeltas"]), [1000; 50_000]);
}

#[test]
fn a_full_disk_is_an_error() {
    let mut small = [0; 10];
    let error = profile(&[], 1000).write(&mut small.as_mut_slice(), 0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}

/// Returns each node's path as text, by id. The lists of children have to make a tree.
fn paths(json: &Value) -> HashMap<i64, String> {
    let nodes = json["nodes"].as_array().unwrap();
    let mut paths = HashMap::from([(1, String::new())]);
    for (id, node) in (1..).zip(nodes) {
        assert_eq!(node["id"], id);
        // A parent stands before its children, so that its own path is known.
        let above = paths[&id].clone();
        let path = format!("{above}{}", node["callFrame"]);
        for child in node.get("children").map(numbers).unwrap_or_default() {
            assert!(child > id);
            assert!(paths.insert(child, path.clone()).is_none(), "two parents");
        }
        paths.insert(id, path);
    }
    assert_eq!(paths.len(), nodes.len());
    paths
}

fn path_in(window: &Window, node: u32) -> String {
    let WindowNode { parent, frame } = window.nodes[node as usize];
    let above = if node == 0 { String::new() } else { path_in(window, parent) };
    let frame = &window.frames[frame as usize];
    let frame = serde_json::json!({
        "functionName": frame.function_name,
        "scriptId": frame.script_id.to_string(),
        "url": frame_url(&frame.url, NodeModules::Foldable),
        "lineNumber": frame.line,
        "columnNumber": frame.column,
    });
    format!("{above}{frame}")
}

proptest! {
    #[test]
    fn any_windows_make_a_consistent_file(
        windows in crate::testing::windows::any::windows(START_US),
        limit in prop_oneof![0_usize..20, Just(usize::MAX)],
        end in -2000_i64..2_000_000,
    ) {
        let profile = profile(&windows, limit);
        let text = written(&profile, end);
        prop_assert!(text.is_ascii() && !text.contains('\n'));
        let json: Value = serde_json::from_str(&text).unwrap();
        let samples = numbers(&json["samples"]);
        let deltas = numbers(&json["timeDeltas"]);
        prop_assert_eq!(samples.len(), deltas.len());

        // Each sample keeps its node and its time.
        let paths = paths(&json);
        let mut time = START_US;
        let all = windows.iter().flat_map(|window| {
            window.samples.iter().map(move |sample| (window, sample))
        });
        prop_assert_eq!(all.clone().count(), samples.len());
        for ((window, sample), (id, delta)) in all.zip(samples.iter().zip(&deltas)) {
            prop_assert!(*delta >= 0);
            let before = time;
            time += delta;
            prop_assert_eq!(time, sample.time_us.max(before));
            prop_assert_eq!(&paths[id], &path_in(window, sample.node));
        }
        prop_assert_eq!(&json["startTime"], START_US);
        prop_assert_eq!(&json["endTime"], time.max(START_US + end));

        // Sums agree.
        let mut sum = 0;
        let mut ticks: BTreeMap<(String, i64), i64> = BTreeMap::new();
        for window in windows.iter().filter(|window| !window.samples.is_empty()) {
            for sample in window.samples.iter().filter(|sample| sample.position.line > 0) {
                let key = (path_in(window, sample.node), sample.position.line.into());
                *ticks.entry(key).or_default() += 1;
            }
        }
        let nodes = json["nodes"].as_array().unwrap();
        for node in nodes {
            let id = node["id"].as_i64().unwrap();
            let hits = node["hitCount"].as_i64().unwrap();
            prop_assert_eq!(hits, samples.iter().filter(|sample| **sample == id).count() as i64);
            let mut last = 0;
            for line in node.get("positionTicks").map_or(&vec![], |t| t.as_array().unwrap()) {
                let (line, count) = (line["line"].as_i64().unwrap(), line["ticks"].as_i64().unwrap());
                prop_assert!(line > last && count > 0);
                if limit == usize::MAX {
                    prop_assert_eq!(count, ticks[&(paths[&id].clone(), line)]);
                }
                last = line;
                sum += count;
            }
            if let Some(reason) = node.get("deoptReason") {
                let given = windows.iter().any(|window| {
                    window.deopts.iter().any(|(at, given)| {
                        reason == given && path_in(window, *at) == paths[&id]
                    })
                });
                prop_assert!(given);
            }
        }
        prop_assert_eq!(sum, ticks.values().sum::<i64>());
    }
}
