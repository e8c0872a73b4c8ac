use serde_json::{Value, json};

use super::*;
use crate::formats::trace::scan::{SoundItem, SoundItems};

/// Returns the events that a trace has.
fn events(trace: &Value) -> (Vec<Value>, SampleProblems) {
    let text = trace.to_string();
    let mut items = SoundItems::new(text.as_bytes());
    let mut events = Vec::new();
    while let Some(item) = items.next().unwrap() {
        if let SoundItem::Event { text, .. } = item {
            events.push(serde_json::from_slice(text).unwrap());
        }
    }
    (events, items.sample_problems())
}

/// Returns the leaf of each sample with the time before it, by the events of one profile.
fn leaves(events: &[Value]) -> Vec<(String, i64)> {
    let mut names = std::collections::HashMap::new();
    let mut leaves = Vec::new();
    for data in events.iter().map(|event| &event["args"]["data"]) {
        for node in data["cpuProfile"]["nodes"].as_array().into_iter().flatten() {
            names.insert(node["id"].as_u64(), node["callFrame"]["functionName"].to_string());
        }
        let samples = data["cpuProfile"]["samples"].as_array().into_iter().flatten();
        for (sample, delta) in samples.zip(data["timeDeltas"].as_array().into_iter().flatten()) {
            let name = names[&sample.as_u64()].trim_matches('"').to_owned();
            leaves.push((name, delta.as_i64().unwrap()));
        }
    }
    leaves
}

fn frames() -> Value {
    json!({ "1": { "name": "[root]", "category": "root" }, "2": { "name": "a(/a.js:1:1)", "parent": 1 },
        "3": { "name": "b(/a.js:5:1)", "parent": "2" } })
}

#[test]
fn samples_are_profiles_of_their_threads() {
    let sample = |ts: Value, tid: Value, sf: Value| json!({ "cpu": "-1", "ts": ts, "pid": 5, "tid": tid, "sf": sf });
    let samples = [
        sample(json!("3000"), json!("9"), json!("3")),
        sample(json!(1000), json!(9), json!(2)),
        sample(json!(2000.4), json!("9"), json!(3)),
        sample(json!("1500"), json!("8"), json!(1)),
        // Nothing was sampled for a while.
        sample(json!(90_000), json!(9), json!(2)),
        sample(json!(91_000), json!(9), json!(77)),
    ];
    let trace = json!({ "traceEvents": [], "samples": samples, "stackFrames": frames() });
    let (events, problems) = events(&trace);
    assert_eq!(problems, SampleProblems { without_stack: 1, ..SampleProblems::default() });
    let of = |tid: u32| -> Vec<Value> {
        events.iter().filter(|event| event["tid"] == tid && event["pid"] == 5).cloned().collect()
    };
    assert_eq!(leaves(&of(8)), [("(root)".to_owned(), 0)]);
    let expected =
        [("a", 0), ("b", 1000), ("b", 1000), ("(root)", 1000), ("a", 86_000), ("(unknown)", 1000)];
    assert_eq!(leaves(&of(9)), expected.map(|(name, delta)| (name.to_owned(), delta)));
    assert_eq!(of(9)[1]["args"]["data"]["endTime"], 92_000);
    assert_eq!(of(9)[0]["name"], "Profile");
    assert_ne!(of(9)[0]["id"], of(8)[0]["id"]);
}

#[test]
fn a_thread_has_the_process_of_its_events() {
    let event = json!({ "name": "x", "ph": "X", "pid": 4, "tid": 9, "ts": 1, "dur": 1 });
    let first = json!({ "name": "x", "ph": "X", "pid": 3, "tid": 1, "ts": 1, "dur": 1 });
    let samples = json!([{ "tid": 9, "ts": 5, "sf": 2 }, { "tid": 7, "ts": 5, "sf": 2 }]);
    let found = |events_before: Value| -> Vec<(Value, Value)> {
        let trace =
            json!({ "samples": samples, "traceEvents": events_before, "stackFrames": frames() });
        let profiles = events(&trace).0.into_iter().filter(|event| event["name"] == "Profile");
        profiles.map(|event| (event["pid"].clone(), event["tid"].clone())).collect()
    };
    assert_eq!(found(json!([first, event])), [(json!(3), json!(7)), (json!(4), json!(9))]);
    assert_eq!(found(json!([])), [(json!(7), json!(7)), (json!(7), json!(9))]);
}

#[test]
fn events_can_be_samples() {
    let event = |ts: i64, more: Value| {
        let mut event = json!({ "name": "tick", "ph": "P", "pid": 4, "tid": 9, "ts": ts });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let list = [
        event(1000, json!({ "stack": ["main", "work"] })),
        event(2000, json!({ "sf": 3 })),
        event(3000, json!({ "args": {} })),
        // The stack of a span is no sample.
        event(4000, json!({ "ph": "X", "dur": 1, "sf": 3 })),
    ];
    let (events, _) = events(&json!({ "traceEvents": list, "stackFrames": frames() }));
    assert_eq!(events.len(), list.len() + 2);
    assert_eq!(leaves(&events), [("work".to_owned(), 0), ("b".to_owned(), 1000)]);
}

#[test]
fn what_has_no_place_is_counted() {
    let samples = json!([{ "ts": 1, "sf": 2 }, { "tid": 1, "sf": 2 }, { "tid": 1, "ts": "soon", "sf": 2 },
        { "tid": 1, "ts": 1e300, "sf": 2 }, 5, { "tid": 1, "ts": 1 }, { "tid": 1, "ts": 1, "sf": 9 }]);
    let frames = json!({ "1": { "name": 5 }, "2": { "name": "a", "parent": 2 } });
    let trace = json!({ "traceEvents": [], "samples": samples, "stackFrames": frames });
    let problems = events(&trace).1;
    let expected = SampleProblems {
        lost: 6,
        without_stack: 1,
        broken_frames: 1,
        without_caller: 0,
        circles: 1,
    };
    assert_eq!(problems, expected);
}

#[test]
fn the_count_of_threads_is_limited() {
    let samples: Vec<Value> =
        (0..MAX_THREADS + 5).map(|tid| json!({ "tid": tid, "ts": 1, "sf": 2 })).collect();
    let trace = json!({ "traceEvents": [], "samples": samples, "stackFrames": frames() });
    let (events, problems) = events(&trace);
    assert_eq!((events.len(), problems.lost), (2 * MAX_THREADS, 5));
}

#[test]
fn other_members_are_no_samples() {
    for samples in [json!([1, 2]), json!({}), json!([]), json!("x")] {
        let trace = json!({ "traceEvents": [], "samples": samples, "stackFrames": 7 });
        assert_eq!(events(&trace).0, [] as [Value; 0]);
    }
}
