use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::formats::trace::scan::{SoundItem, SoundItems};

use cpu_prof_core::testing::traces::MAIN as OWN;
use cpu_prof_core::testing::traces::WORKER;

fn events(text: &str) -> Vec<serde_json::Value> {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    json["traceEvents"].as_array().unwrap().clone()
}

fn read_event(reader: &mut TraceReader, text: &str, frames: &mut FrameTable) {
    if let Some(head) = EventHead::of_any(text.as_bytes()) {
        reader.event(text.as_bytes(), &head, false, frames);
    }
}

fn read(events: &[serde_json::Value]) -> (Vec<Process>, FrameTable) {
    let mut frames = FrameTable::new();
    let mut reader = TraceReader::new(ReadScope::SAMPLES);
    for event in events {
        read_event(&mut reader, &event.to_string(), &mut frames);
    }
    assert_eq!(reader.unreadable_events(), 0);
    (reader.finish(), frames)
}

/// Self times with the names of functions.
fn times(profile: &ThreadProfile, frames: &FrameTable) -> Vec<(String, u64)> {
    let name = |node: &crate::model::thread_profile::ProfileNode| {
        frames.list()[node.frame as usize].function_name.clone()
    };
    profile.nodes.iter().map(|node| (name(node), profile.times(node).self_us)).collect()
}

#[test]
fn own_traces_are_read() {
    let (processes, frames) = read(&events(OWN));
    let [process] = processes.as_slice() else { panic!("{processes:?}") };
    assert_eq!((process.pid, &*process.name, &*process.command), (4242, "nx.js", "nx.js run-many"));
    let [thread] = process.threads.as_slice() else { panic!("{process:?}") };
    assert_eq!((thread.id, &*thread.name), (0, "main"));
    let [profile] = thread.profiles.as_slice() else { panic!("{thread:?}") };
    assert_eq!(profile.end_us - profile.start_us, 10_000);
    // The last sample lasts until trace.end.
    let sum: u64 = profile.all_times().map(|times| times.self_us).sum();
    let first = profile.samples.first().unwrap().time_us - profile.start_us;
    assert_eq!(sum as i64, 10_000 - first, "{:?}", times(profile, &frames));

    let (processes, _) = read(&events(WORKER));
    assert_eq!(processes[0].threads[0].name, "worker 3: crunch.js");
}

#[test]
fn metadata_describes_the_process() {
    let json: serde_json::Value = serde_json::from_str(OWN).unwrap();
    let mut reader = TraceReader::new(ReadScope::TIMES);
    let mut frames = FrameTable::new();
    reader.member("metadata", json["metadata"].to_string().as_bytes());
    for event in events(OWN) {
        read_event(&mut reader, &event.to_string(), &mut frames);
    }
    let processes = reader.finish();
    assert_eq!(processes[0].cwd.as_deref(), Some("/r/naïve"));
    assert_eq!(processes[0].node.as_deref(), Some("v24.0.0"));
    assert_eq!(processes[0].parent_pid, Some(1));
}

#[test]
fn the_last_counters_are_those_of_the_end() {
    let mut all = events(OWN);
    for event in all.iter_mut().filter(|event| event["name"] == "trace.end") {
        event["args"] = json!({ "data": { "cpuUs": 9_000_000, "processCpuUs": 700_000_000 } });
    }
    let mut reader = TraceReader::new(ReadScope::LINES);
    let mut frames = FrameTable::new();
    for event in all {
        read_event(&mut reader, &event.to_string(), &mut frames);
    }
    let processes = reader.finish();
    let cpu = processes[0].threads[0].profiles[0].cpu.as_ref().unwrap();
    assert_eq!(cpu.last.process_cpu_us, Some(700_000_000));
}

/// Returns an event of a profile. `ids` are `id`, `pid` and `tid`; `data` is `args.data`.
fn event(name: &str, ids: (u32, i64, i64), ts: i64, data: &serde_json::Value) -> serde_json::Value {
    let (id, pid, tid) = ids;
    json!({ "name": name, "ph": "P", "cat": "disabled-by-default-v8.cpu_profiler",
            "id": format!("0x{id:x}"), "pid": pid, "tid": tid, "ts": ts, "args": { "data": data } })
}

fn node(id: u32, parent: Option<u32>, name: &str) -> serde_json::Value {
    let frame = json!({ "functionName": name, "scriptId": 0, "codeType": "other" });
    match parent {
        Some(parent) => json!({ "id": id, "parent": parent, "callFrame": frame }),
        None => json!({ "id": id, "callFrame": frame }),
    }
}

fn chunk(nodes: &[serde_json::Value], samples: &[u32], deltas: &[i64]) -> serde_json::Value {
    let lines: Vec<u32> = samples.iter().map(|_| 0).collect();
    json!({ "cpuProfile": { "nodes": nodes, "samples": samples }, "lines": lines,
            "timeDeltas": deltas })
}

/// A recording's functions with their times.
type Times = Vec<(String, u64)>;

/// Each thread's recordings: process, thread, and times.
fn threads(events: &[serde_json::Value]) -> Vec<(i64, i64, Vec<Times>)> {
    let (processes, frames) = read(events);
    let mut threads = Vec::new();
    for process in processes {
        for thread in process.threads {
            let profiles = thread.profiles.iter().map(|profile| times(profile, &frames));
            threads.push((process.pid, thread.id, profiles.collect()));
        }
    }
    threads
}

fn owned(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(name, us)| ((*name).to_owned(), *us)).collect()
}

/// A trace as Chrome's DevTools record it: chunks come from another thread, and ids are unique only
/// in a process.
#[test]
fn chromes_traces_are_read() {
    let nodes = [node(1, None, "(root)"), node(2, Some(1), "a")];
    let events = [
        event("Profile", (1, 10, 5), 1000, &json!({ "startTime": 77, "source": "Internal" })),
        event("Profile", (1, 20, 6), 1000, &json!({ "startTime": 77, "source": "Internal" })),
        event("ProfileChunk", (1, 10, 99), 1010, &chunk(&nodes, &[2], &[10])),
        event("ProfileChunk", (1, 20, 98), 1010, &chunk(&nodes, &[2], &[10])),
        event(
            "ProfileChunk",
            (1, 10, 99),
            1040,
            &chunk(&[node(3, Some(2), "b")], &[3, 2], &[10, 20]),
        ),
        event("ProfileChunk", (1, 10, 99), 1050, &json!({ "endTime": 137 })),
    ];
    assert_eq!(
        threads(&events),
        [
            (10, 5, vec![owned(&[("(root)", 0), ("a", 10 + 20), ("b", 20)])]),
            (20, 6, vec![owned(&[("(root)", 0), ("a", 0)])]),
        ]
    );
}

#[test]
fn lines_and_reasons_are_read() {
    let mut slow = node(2, Some(1), "a");
    slow["deoptReason"] = "too large".into();
    let nodes = [node(1, None, "(root)"), slow];
    let chunk = |lines: serde_json::Value| {
        let mut data = chunk(&nodes, &[2, 2, 2], &[10, 10, 10]);
        data["lines"] = lines;
        data["columns"] = json!([1, 1, 1]);
        let start = event("Profile", (1, 10, 5), 1000, &json!({ "startTime": 1000 }));
        read(&[start, event("ProfileChunk", (1, 10, 5), 1030, &data)])
    };
    let lines = |lines| -> Vec<u32> {
        let (processes, _) = chunk(lines);
        let [profile] = &*processes[0].threads[0].profiles else { panic!("{processes:?}") };
        assert_eq!(profile.deopts, [(1, "too large".to_owned())]);
        profile.samples.iter().map(|sample| sample.position.line).collect()
    };
    assert_eq!(lines(json!([7, 0, 9])), [7, 0, 9]);
    assert_eq!(lines(json!([7])), [7, 0, 0]);
    for strange in [json!(null), json!(5), json!(["x", 1, 2]), json!([-1, 0, -9]), json!([])] {
        assert_eq!(lines(strange), [0, 0, 0]);
    }
}

#[test]
fn a_chunk_may_come_before_its_profile() {
    let nodes = [node(2, Some(1), "a"), node(1, None, "(root)")];
    let events = [
        event("ProfileChunk", (1, 10, 99), 1030, &chunk(&nodes, &[2, 2], &[20, 10])),
        event("Profile", (1, 10, 5), 1000, &json!({ "startTime": 1000 })),
    ];
    let (processes, _) = read(&events);
    let thread = &processes[0].threads[0];
    assert_eq!((thread.id, thread.profiles.len()), (5, 1));
    let times: Vec<_> = thread.profiles[0].samples.iter().map(|sample| sample.time_us).collect();
    assert_eq!((thread.profiles[0].start_us, times), (1000, vec![1020, 1030]));
}

#[test]
fn a_second_profile_of_an_id_is_another_recording() {
    let recording = |start: i64, name: &str| {
        let nodes = [node(1, None, "(root)"), node(2, Some(1), name)];
        [
            event("Profile", (1, 10, 5), start, &json!({ "startTime": start })),
            event("ProfileChunk", (1, 10, 5), start + 20, &chunk(&nodes, &[2, 2], &[10, 10])),
        ]
    };
    let events = [recording(1000, "a"), recording(5000, "b")].concat();
    let expected = vec![owned(&[("(root)", 0), ("a", 20)]), owned(&[("(root)", 0), ("b", 20)])];
    assert_eq!(threads(&events), [(10, 5, expected)]);
}

#[test]
fn of_several_recorders_of_a_thread_one_counts() {
    let recorder = |id, source: &str, name: &str| {
        let nodes = [node(1, None, "(root)"), node(2, Some(1), name)];
        [
            event("Profile", (id, 10, 5), 0, &json!({ "startTime": 0, "source": source })),
            event("ProfileChunk", (id, 10, 5), 20, &chunk(&nodes, &[2, 2], &[10, 10])),
        ]
    };
    let events =
        [recorder(1, "Inspector", "a"), recorder(2, "Internal", "b"), recorder(3, "New", "c")];
    assert_eq!(threads(&events.concat()), [(10, 5, vec![owned(&[("(root)", 0), ("b", 20)])])]);
}

#[test]
fn of_profiles_side_by_side_the_one_with_most_samples_counts() {
    let recording = |id, start: i64, samples: &[u32]| {
        let nodes = [node(1, None, "(root)"), node(2, Some(1), "a")];
        let deltas = vec![10_000; samples.len()];
        let end = start + 10_000 * samples.len() as i64;
        [
            event("Profile", (id, 10, 5), start, &json!({ "startTime": start })),
            event("ProfileChunk", (id, 10, 5), end, &chunk(&nodes, samples, &deltas)),
        ]
    };
    let events = [
        recording(1, 0, &[2, 2, 2]),
        recording(2, 5000, &[2, 2, 2, 2]),
        recording(3, 200_000, &[2, 2]),
    ];
    let expected = [40_000, 20_000].map(|us| owned(&[("(root)", 0), ("a", us)])).to_vec();
    assert_eq!(threads(&events.concat()), [(10, 5, expected)]);
}

#[test]
fn children_can_replace_parents_and_times_can_be_missing() {
    let mut root = node(1, None, "(root)");
    root["children"] = json!([2, 3]);
    let data = json!({ "cpuProfile":
        { "nodes": [root, node(2, None, "a"), node(3, None, "b")], "samples": [2, 3, 3, 2] } });
    let events = [
        event("Profile", (1, 10, 5), 1000, &json!({ "startTime": 1000 })),
        event("ProfileChunk", (1, 10, 5), 1040, &data),
        // The event of older versions.
        event(
            "CpuProfile",
            (2, 10, 6),
            1040,
            &json!({ "cpuProfile": {
            "nodes": [node(1, None, "(root)"), node(2, Some(1), "c")], "samples": [2, 2],
            "timeDeltas": [0, 10], "startTime": 1000, "endTime": 1030 } }),
        ),
    ];
    assert_eq!(
        threads(&events),
        [
            (10, 5, vec![owned(&[("(root)", 0), ("a", 20), ("b", 20)])]),
            (10, 6, vec![owned(&[("(root)", 0), ("c", 30)])]),
        ]
    );
    let (processes, _) = read(&events);
    let nodes = &processes[0].threads[0].profiles[0].nodes;
    assert_eq!(nodes.iter().map(|node| node.parent).collect::<Vec<_>>(), [u32::MAX, 0, 0]);
}

#[test]
fn unreadable_profile_events_are_counted() {
    let mut reader = TraceReader::new(ReadScope::TIMES);
    let mut frames = FrameTable::new();
    for text in [
        r#"{"name":"ProfileChunk","pid":1,"args":{"data":{"cpuProfile":5}}}"#,
        r#"{"name":"ProfileChunk","pid":1,"args":7}"#,
        r#"{"name":"thread_name","pid":1,"args":[]}"#,
        r#"{"name":"ProfileChunk"}"#,
        "{}",
        "no",
    ] {
        read_event(&mut reader, text, &mut frames);
    }
    assert_eq!(reader.unreadable_events(), 2);
    assert!(reader.finish().is_empty());
}

/// Reads the text of a file.
fn read_text(text: &[u8]) -> Vec<Process> {
    let (mut reader, mut frames) = (TraceReader::new(ReadScope::SAMPLES), FrameTable::new());
    let mut scanner = SoundItems::new(text);
    while let Ok(Some(item)) = scanner.next() {
        match item {
            SoundItem::Event { text, head } => reader.event(text, head, false, &mut frames),
            SoundItem::Member { key, value } => reader.member(key, value),
        }
    }
    reader.finish()
}

proptest! {
    #[test]
    fn a_damaged_trace_gives_valid_profiles(
        damages in vec((any::<Index>(), prop_oneof!["[0-9\"\\\\\\[\\]{},:-]{0,3}", ".{0,3}"], 0_usize..9), 1..20),
        cut in any::<Index>(),
    ) {
        let mut text = OWN.as_bytes().to_vec();
        for (place, put, taken) in damages {
            let at = place.index(text.len());
            let end = (at + taken).min(text.len());
            text.splice(at..end, put.into_bytes());
        }
        text.truncate(cut.index(text.len()).max(text.len() / 2));
        for thread in read_text(&text).iter().flat_map(|process| &process.threads) {
            for profile in &thread.profiles {
                prop_assert!(profile.start_us <= profile.end_us);
                let all = profile.samples.iter().all(|sample| {
                    sample.node == u32::MAX || (sample.node as usize) < profile.nodes.len()
                });
                prop_assert!(all);
            }
        }
    }

    #[test]
    fn any_order_of_events_gives_valid_profiles(order in vec(any::<Index>(), 0..30)) {
        let nodes = [node(1, None, "(root)"), node(2, Some(1), "a"), node(3, Some(2), "b")];
        let mut all = events(OWN);
        for id in 1..3 {
            for (ts, tid) in [(10, 5), (20, 6)] {
                all.push(event("Profile", (id, 4242, tid), ts, &json!({ "startTime": 7 })));
                let data = chunk(&nodes[..id as usize], &[2, 9], &[-5, 10]);
                all.push(event("ProfileChunk", (id, 4242, tid), ts + 5, &data));
                all.push(event("trace.end", (id, 4242, tid), ts + 7, &json!({})));
            }
        }
        let chosen: Vec<_> = order.iter().map(|index| index.get(&all).clone()).collect();
        for thread in read(&chosen).0.iter().flat_map(|process| &process.threads) {
            for profile in &thread.profiles {
                prop_assert!(profile.start_us <= profile.end_us);
            }
        }
    }
}
