//! Profiles that are rewritten: several recordings of a thread, and slices.

use std::collections::BTreeMap;

use super::*;

fn from_0() -> MergeOptions {
    sliced(Some(0), None)
}

/// Returns the time of each function, microseconds. The last sample has no time.
pub(super) fn times(trace: &Value, tid: u32) -> BTreeMap<String, i64> {
    let mut times = BTreeMap::new();
    for pair in samples(trace, tid).windows(2) {
        if pair[0].1 != "(root)" {
            *times.entry(pair[0].1.clone()).or_default() += pair[1].0 - pair[0].0;
        }
    }
    times
}

fn taking<const N: usize>(times: [(&str, i64); N]) -> BTreeMap<String, i64> {
    times.map(|(name, us)| (name.to_owned(), us)).into()
}

fn node(id: u32, parent: Option<u32>, name: &str) -> Value {
    let frame = json!({ "functionName": name, "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1 });
    match parent {
        Some(parent) => json!({ "id": id, "parent": parent, "callFrame": frame }),
        None => json!({ "id": id, "callFrame": frame }),
    }
}

fn event(name: &str, ts: i64, data: &Value) -> Value {
    json!({ "ph": "P", "name": name, "id": "0x1", "pid": 50, "tid": 51, "ts": ts, "args": { "data": data } })
}

/// Merges a trace of another tool.
fn foreign(events: &[Value], options: &MergeOptions) -> Run {
    let first = json!({ "ph": "X", "name": "RunTask", "pid": 50, "tid": 51, "ts": 1000, "dur": 9 });
    let events: Vec<&Value> = std::iter::once(&first).chain(events).collect();
    run(&[json!({ "traceEvents": events }).to_string().as_bytes()], options)
}

/// Returns a root with the children `a` and `c`; `b` is a child of `a`.
fn nodes() -> [Value; 4] {
    [node(1, None, "(root)"), node(2, Some(1), "a"), node(3, Some(2), "b"), node(4, Some(1), "c")]
}

#[test]
fn each_root_keeps_its_time() {
    let nodes = [node(2, None, "a"), node(3, None, "b"), node(4, None, "c")];
    let profile = json!({
        "nodes": nodes, "startTime": 1000, "endTime": 1600,
        "samples": [2, 3, 4, 99, 2, 4], "timeDeltas": [100, 100, 100, 100, 100, 50],
    });
    let run = run(&[profile.to_string().as_bytes()], &MergeOptions::default());
    let trace = run.trace();
    let expected = taking([("a", 150), ("b", 100), ("c", 100), ("(unknown)", 100)]);
    assert_eq!(times(&trace, 0), expected);
    let chunks = named(&trace, "ProfileChunk");
    let nodes = chunks[0]["args"]["data"]["cpuProfile"]["nodes"].as_array().unwrap();
    assert_eq!(nodes[0]["callFrame"]["functionName"], "(root)");
    assert_eq!(nodes.iter().filter(|node| node.get("parent").is_none()).count(), 1);
}

/// Returns the line of each sample with a line, and the reasons of functions.
fn details(trace: &Value) -> (Vec<u64>, Vec<(String, String)>) {
    let (mut lines, mut deopts) = (Vec::new(), Vec::new());
    for chunk in named(trace, "ProfileChunk") {
        let data = &chunk["args"]["data"];
        let of_chunk = data["lines"].as_array().map_or(0, Vec::len);
        assert_eq!(of_chunk, data["columns"].as_array().map_or(0, Vec::len));
        if of_chunk > 0 {
            assert_eq!(of_chunk, data["cpuProfile"]["samples"].as_array().unwrap().len());
        }
        let known = data["lines"].as_array().into_iter().flatten().map(|line| line.as_u64());
        lines.extend(known.flatten().filter(|line| *line > 0));
        for node in data["cpuProfile"]["nodes"].as_array().into_iter().flatten() {
            if let Some(reason) = node.get("deoptReason") {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                deopts.push((text(&node["callFrame"]["functionName"]), text(reason)));
            }
        }
    }
    (lines, deopts)
}

/// Returns nodes of which `b` has a reason.
fn nodes_with_reason() -> [Value; 4] {
    let mut nodes = nodes();
    nodes[2]["deoptReason"] = "too larg\u{e9}".into();
    nodes
}

fn reason_of_b() -> Vec<(String, String)> {
    vec![("b".to_owned(), "too larg\u{e9}".to_owned())]
}

#[test]
fn lines_and_reasons_are_kept_in_slices() {
    let start = event("Profile", 1000, &json!({ "startTime": 1000 }));
    let data = json!({
        "cpuProfile": { "nodes": nodes_with_reason(), "samples": [3, 2, 3, 4] },
        "timeDeltas": [10, 10, 10, 10], "lines": [5, 6, 7, 0], "columns": [1, 4, 9, 0],
    });
    let events = [start, event("ProfileChunk", 1040, &data)];
    assert_eq!(details(&foreign(&events, &from_0()).trace()), (vec![5, 6, 7], reason_of_b()));
    let columns = |run: &Run| -> Vec<Value> {
        let trace = run.trace();
        let chunks = named(&trace, "ProfileChunk");
        chunks.iter().map(|chunk| chunk["args"]["data"]["columns"].clone()).collect()
    };
    assert_eq!(columns(&foreign(&events, &from_0())), [json!([1, 4, 9, 0])]);
    // The slice begins within the third sample, which begins again with its line.
    let late = foreign(&events, &sliced(Some(35), None));
    assert_eq!(details(&late.trace()), (vec![7], reason_of_b()));
    // A slice without lines has none, and needs no reason.
    let last = foreign(&events, &sliced(Some(40), None));
    assert_eq!(details(&last.trace()), (vec![], vec![]));
    assert_eq!(columns(&last), [Value::Null]);
}

#[test]
fn lines_and_reasons_of_a_cpuprofile_are_kept() {
    let mut nodes = nodes_with_reason();
    nodes[2]["callFrame"]["url"] = "/b.js".into();
    nodes[2]["positionTicks"] = json!([{ "line": 7, "ticks": 1 }, { "line": 5, "ticks": 1 }]);
    let profile = json!({
        "nodes": nodes, "startTime": 1000, "endTime": 1100,
        "samples": [3, 2, 3, 4], "timeDeltas": [10, 10, 10, 10],
    });
    let run = run(&[profile.to_string().as_bytes()], &MergeOptions::default());
    let (mut lines, deopts) = details(&run.trace());
    lines.sort_unstable();
    assert_eq!((lines, deopts), (vec![5, 7], reason_of_b()));
}

#[test]
fn an_end_before_the_last_sample_is_none() {
    let profile = json!({
        "nodes": nodes(), "startTime": 1000, "endTime": 1015,
        "samples": [2, 3, 4], "timeDeltas": [10, 10, 10],
    });
    let run = run(&[profile.to_string().as_bytes()], &MergeOptions::default());
    assert_eq!(named(&run.trace(), "trace.end")[0]["ts"], 1040);
}

#[test]
fn samples_of_missing_nodes_keep_their_time() {
    let nodes = [node(3, Some(2), "b"), node(1, None, "(root)"), node(4, Some(1), "c")];
    let data = json!({
        "cpuProfile": { "nodes": nodes, "samples": [3, 4, 7, 1] }, "timeDeltas": [0, 10, 10, 10],
    });
    let start = event("Profile", 1000, &json!({ "startTime": 1000 }));
    let run = foreign(&[start, event("ProfileChunk", 1030, &data)], &from_0());
    let expected = taking([("b", 10), ("c", 10), ("(unknown)", 10)]);
    assert_eq!(times(&run.trace(), 51), expected);
    assert_eq!(run.result.unwrap().repaired.len(), 0);
}

#[test]
fn chromes_chunks_are_read_as_for_a_report() {
    let start = |start_us: i64| event("Profile", 1000, &json!({ "startTime": start_us }));
    let tree = json!({ "nodes": nodes(), "samples": [2, 3, 4, 4] });
    let deltas = json!([10, 10, 10, 20]);
    let mut inner = tree.clone();
    inner["timeDeltas"] = deltas.clone();
    let chunk = |data: Value| event("ProfileChunk", 1050, &data);
    let plain = chunk(json!({ "cpuProfile": tree, "timeDeltas": deltas }));
    let fractions = chunk(json!({ "cpuProfile": tree, "timeDeltas": [10.2, 10, 9.8, 20.4] }));
    let even = chunk(json!({ "cpuProfile": { "nodes": nodes(), "samples": [2, 3, 4, 4, 4] } }));
    let expected = taking([("a", 10), ("b", 10), ("c", 20)]);
    for (case, events) in [
        ("plain", vec![start(1000), plain.clone()]),
        ("another clock", vec![start(500_000), plain.clone()]),
        ("no Profile", vec![plain.clone()]),
        ("Profile later", vec![plain.clone(), start(1000)]),
        ("deltas inside", vec![start(1000), chunk(json!({ "cpuProfile": inner }))]),
        ("fractions", vec![start(1000), fractions]),
        ("no deltas", vec![start(1000), even]),
    ] {
        let run = foreign(&events, &from_0());
        let trace = run.trace();
        assert_eq!(times(&trace, 51), expected, "{case}");
        let first = if case == "no deltas" { 1000 } else { 1010 };
        assert_eq!(samples(&trace, 51)[0].0, first, "{case}");
        assert_eq!(run.result.unwrap().repaired.len(), 0, "{case}");
    }
}

#[test]
fn the_end_time_of_a_chunk_ends_its_last_sample() {
    let start = event("Profile", 1000, &json!({ "startTime": 100 }));
    let data = json!({
        "cpuProfile": { "nodes": nodes(), "samples": [2, 3] }, "timeDeltas": [0, 10], "endTime": 150,
    });
    let events = [start, event("ProfileChunk", 1050, &data)];
    let until = |to_us| foreign(&events, &sliced(Some(0), to_us));
    assert_eq!(times(&until(None).trace(), 51), taking([("a", 10), ("b", 40)]));
    assert_eq!(times(&until(Some(30)).trace(), 51), taking([("a", 10), ("b", 20)]));
}

#[test]
fn times_may_count_from_zero() {
    let at = |ts: i64| json!({ "ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": ts, "dur": 100 });
    let merged = |events: &[Value], from_us| {
        let text = json!(events).to_string();
        let run = run(&[text.as_bytes()], &sliced(from_us, None));
        let trace = run.trace();
        let events = named(&trace, "x");
        events.iter().map(|event| event["ts"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let times = [at(0), at(500_000), at(900_000)];
    assert_eq!(merged(&times, Some(300_000)), [500_000, 900_000]);
    assert_eq!(merged(&times, Some(0)), [0, 500_000, 900_000]);
    // The last event ends at 900,100.
    assert_eq!(merged(&times, Some(-399_950)), [900_000]);
    assert_eq!(merged(&times, Some(-400_200)), [500_000, 900_000]);
    assert_eq!(merged(&times[..1], None), [0]);
    // Beside a clock's times, 0 is none.
    let times = [at(0), at(900_000_000), at(900_500_000)];
    assert_eq!(merged(&times, Some(300_000)), [0, 900_500_000]);
}

#[test]
fn a_frame_of_a_process_without_an_id_passes() {
    let data = json!({ "frame": "F", "url": "https://x/", "name": "", "processPseudoId": "0x12" });
    let run = foreign(&[event("FrameCommittedInBrowser", 1000, &data)], &MergeOptions::default());
    let trace = run.trace();
    let frames = named(&trace, "FrameCommittedInBrowser");
    assert_eq!(frames[0]["args"]["data"]["processPseudoId"], "0x12");
}

#[test]
fn a_profile_that_cannot_be_read_is_reported() {
    let start = event("Profile", 1000, &json!({ "startTime": 1000 }));
    let strange = json!({ "cpuProfile": { "nodes": nodes(), "samples": ["x"] } });
    for strange in [strange, json!(5)] {
        let run = foreign(&[start.clone(), event("ProfileChunk", 1050, &strange)], &from_0());
        assert_eq!(run.result.unwrap().repaired.len(), 1);
    }
}

#[test]
fn slices_together_have_the_time_of_the_whole() {
    let start = event("Profile", 1000, &json!({ "startTime": 1000 }));
    let data = json!({
        "cpuProfile": { "nodes": nodes(), "samples": [2, 3, 1, 4, 2] },
        "timeDeltas": [5, 30, 40, 10, 7],
        "endTime": 1100,
    });
    let events = [start, event("ProfileChunk", 1092, &data)];
    let expected = taking([("a", 38), ("b", 40), ("c", 7)]);
    for step_us in 1..50 {
        let mut sum = BTreeMap::new();
        for from_us in (0..110).step_by(step_us as usize) {
            let slice = foreign(&events, &sliced(Some(from_us), Some(from_us + step_us)));
            if slice.result.is_err() {
                continue;
            }
            let trace = slice.trace();
            let range = 1000 + from_us..=1000 + from_us + step_us;
            assert!(samples(&trace, 51).iter().all(|(time, _)| range.contains(time)));
            for (name, us) in times(&trace, 51) {
                *sum.entry(name).or_default() += us;
            }
        }
        assert_eq!(sum, expected, "{step_us}");
    }
}
