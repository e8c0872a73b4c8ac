//! Spans and flows of other tools in slices.

use std::collections::BTreeMap;

use super::*;

fn event(phase: &str, name: &str, ts: i64, more: &Value) -> Value {
    let mut event = json!({ "ph": phase, "name": name, "cat": "c", "pid": 5, "tid": 6, "ts": ts });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

fn sliced_events(events: &[Value], options: &MergeOptions) -> Run {
    let text = json!({ "traceEvents": events }).to_string();
    run(&[text.as_bytes()], options)
}

/// Returns the phases, names and times of the events of a trace.
fn shown(trace: &Value) -> Vec<(String, String, i64)> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    events
        .map(|event| (text(event, "ph"), text(event, "name"), event["ts"].as_i64().unwrap()))
        .collect()
}

/// Returns the time of each span by its name. Checks that each begins and ends within the trace.
fn times(trace: &Value) -> BTreeMap<String, i64> {
    let mut times = BTreeMap::new();
    let mut open: BTreeMap<String, Vec<(String, i64)>> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let ts = event["ts"].as_i64().unwrap();
        let name = event["name"].as_str().unwrap().to_owned();
        let stack = open.entry(event["id"].to_string()).or_default();
        match event["ph"].as_str().unwrap() {
            "X" => *times.entry(name).or_default() += event["dur"].as_i64().unwrap(),
            "B" | "b" | "S" | "N" => stack.push((name, ts)),
            _ => {
                let (begun, from) = stack.pop().expect("an end without a beginning");
                assert_eq!(begun, name);
                assert!(from <= ts);
                *times.entry(name).or_default() += ts - from;
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "a beginning without an end: {open:?}");
    times
}

#[test]
fn spans_are_clipped_to_the_slice() {
    let second = 1_000_000;
    let none = json!({});
    let id = json!({ "id": "0x1" });
    let events = [
        event("B", "outer", second, &none),
        event("b", "async", second, &id),
        event("X", "before", second, &json!({ "dur": 100 })),
        event("X", "long", 2 * second, &json!({ "dur": 5 * second })),
        event("B", "inner", 3 * second, &none),
        event("E", "inner", 4 * second, &none),
        event("B", "open", 4 * second, &none),
        event("e", "async", 8 * second, &id),
        event("X", "after", 9 * second, &json!({ "dur": 100 })),
        event("I", "end", 11 * second, &none),
    ];
    let options = sliced(Some(2 * second + 500_000), Some(5 * second));
    let trace = sliced_events(&events, &options).trace();
    let expected = [
        ("X", "long", 3_500_000),
        ("B", "inner", 3_500_000),
        ("E", "inner", 4_000_000),
        ("B", "open", 4_000_000),
        ("b", "async", 3_500_000),
        ("e", "async", 6_000_000),
        ("B", "outer", 3_500_000),
    ];
    assert_eq!(
        shown(&trace),
        expected.map(|(phase, name, ts)| (phase.to_owned(), name.to_owned(), ts))
    );
    assert_eq!(named(&trace, "long")[0]["dur"], 2_500_000);
}

#[test]
fn an_arrow_has_two_ends_or_is_left_out() {
    let flow = |phase: &str, name: &str, ts: i64| event(phase, name, ts, &json!({ "id": 9 }));
    let events = [
        flow("s", "early", 1000),
        flow("s", "inside", 6000),
        flow("t", "early", 6500),
        flow("f", "early", 7000),
        flow("f", "inside", 8000),
        flow("s", "late", 8000),
        flow("f", "late", 30_000),
    ];
    let trace = sliced_events(&events, &sliced(Some(4000), Some(15_000))).trace();
    let left: Vec<_> = shown(&trace).into_iter().map(|(phase, name, _)| (phase, name)).collect();
    let expected = [("t", "early"), ("f", "early"), ("s", "inside"), ("f", "inside")];
    assert_eq!(left, expected.map(|(phase, name)| (phase.to_owned(), name.to_owned())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn slices_together_have_the_time_of_each_span(
        steps in vec((any::<bool>(), 0_i64..400_000, 0_u8..3), 1..60),
        cut_us in 1_i64..10_000_000,
    ) {
        let (mut events, mut now) = (Vec::new(), 1_000_000_000);
        let mut open: Vec<(u8, String)> = Vec::new();
        let phases = |kind: u8| [("B", "E"), ("b", "e"), ("N", "D")][usize::from(kind)];
        let id = |kind: u8| if kind == 0 { json!({}) } else { json!({ "id": kind }) };
        let end = |events: &mut Vec<Value>, open: &mut Vec<(u8, String)>, now| {
            if let Some((kind, name)) = open.pop() {
                events.push(event(phases(kind).1, &name, now, &id(kind)));
            }
        };
        for (is_begin, us, kind) in steps {
            now += us;
            if is_begin {
                let name = if kind == 2 { "object".to_owned() } else { format!("span {}", open.len()) };
                events.push(event(phases(kind).0, &name, now, &id(kind)));
                open.push((kind, name));
            } else {
                end(&mut events, &mut open, now);
                events.push(event("X", "whole", now - us, &json!({ "dur": us })));
            }
        }
        now += 10;
        while !open.is_empty() {
            end(&mut events, &mut open, now);
        }
        let whole = times(&sliced_events(&events, &MergeOptions::default()).trace());
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for options in [sliced(None, Some(cut_us)), sliced(Some(cut_us), None)] {
            let slice = sliced_events(&events, &options);
            // The cut can be behind the last event.
            if slice.result.is_err() {
                continue;
            }
            for (name, us) in times(&slice.trace()) {
                *sums.entry(name).or_default() += us;
            }
        }
        prop_assert_eq!(sums, whole);
    }
}
