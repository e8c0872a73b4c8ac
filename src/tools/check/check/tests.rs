use serde_json::{Value, json};

use super::*;

/// Returns severity, line, field and the start of the message of each problem.
fn found(text: &str) -> Vec<(Severity, usize, String, String)> {
    let mut problems = Problems::default();
    contents(text.as_bytes(), &mut problems);
    let list = problems.into_list().into_iter();
    list.map(|Problem { severity, line, field, message, .. }| {
        (severity, line, field.unwrap_or_default(), message)
    })
    .collect()
}

/// Returns a trace with an event on each line, from line 2.
fn trace_of(events: &[Value]) -> String {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    format!("{{\"traceEvents\":[\n{}\n]}}", lines.join(",\n"))
}

/// Asserts that a problem is found in the last event, and none without this event.
fn assert_problem(events: &[Value], severity: Severity, field: &str, message: &str) {
    let found = found(&trace_of(events));
    let text = format!("{found:?}");
    let (found_severity, line, found_field, found_message) = found.first().expect(message);
    assert_eq!((*found_severity, found_field.as_str()), (severity, field), "{text}");
    assert!(found_message.contains(message), "{text}");
    assert_eq!(*line, events.len() + 1, "{text}");
    assert_eq!(found.len(), 1, "{text}");
}

fn event(phase: &str, more: Value) -> Value {
    let mut event = json!({ "ph": phase, "name": "a", "cat": "c", "pid": 1, "tid": 1, "ts": 5 });
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            event.as_object_mut().unwrap().remove(key);
        } else {
            event[key] = value.clone();
        }
    }
    event
}

#[test]
fn correct_files_have_no_problems() {
    let main = cpu_prof_core::testing::traces::MAIN;
    assert_eq!(found(main), []);
    let id = json!({ "id": "0x1" });
    let all = [
        event("B", json!({})),
        event("E", json!({})),
        event("X", json!({ "dur": 3 })),
        event("I", json!({ "s": "t" })),
        event("i", json!({})),
        event("C", json!({ "args": { "bytes": 7 } })),
        event("b", id.clone()),
        event("n", id.clone()),
        event("e", id.clone()),
        event("s", id.clone()),
        event("t", id.clone()),
        event("f", id.clone()),
        event("N", id.clone()),
        event("O", id.clone()),
        event("D", id.clone()),
        event("S", json!({ "id2": { "local": "0x2" } })),
        event("F", json!({ "id2": { "local": "0x2" } })),
        event("M", json!({ "name": "thread_name", "args": { "name": "x" }, "ts": null })),
        event("c", json!({ "args": { "sync_id": "s" } })),
        event("R", json!({})),
        event("(", id.clone()),
        event("V", id),
    ];
    assert_eq!(found(&trace_of(&all)), []);
    let events: Vec<String> = all.iter().map(Value::to_string).collect();
    assert_eq!(found(&format!("[{}]", events.join(","))), []);
    assert_eq!(found(&trace_of(&all).replacen('{', "{\"\\ud800\":7,", 1)), []);
}

#[test]
fn events_against_the_rules_are_found() {
    use Severity::{Error, Fatal, Warning};
    let x = |more: Value| [event("B", json!({})), event("E", json!({})), event("X", more)];
    assert_problem(&[json!(7)], Error, "", "has to be an object");
    assert_problem(&[event("Q", json!({}))], Error, "ph", "'Q' is not a phase");
    assert_problem(&[event("X", json!({ "ph": null }))], Error, "ph", "needs its phase");
    assert_problem(&x(json!({ "dur": 1, "name": null })), Fatal, "name", "needs a name");
    let nameless = [event("B", json!({})), event("E", json!({ "name": null }))];
    assert_problem(&nameless, Fatal, "name", "DevTools refuses the file");
    assert_problem(&x(json!({ "dur": 1, "ts": null })), Error, "ts", "needs a time");
    assert_problem(&x(json!({ "dur": 1, "ts": "5" })), Error, "ts", "is a text");
    assert_problem(&x(json!({ "dur": 1, "pid": "1" })), Warning, "pid", "whole number");
    assert_problem(&x(json!({ "dur": 1, "tid": null })), Warning, "tid", "belongs to no");
    assert_problem(&x(json!({})), Warning, "dur", "without a duration");
    assert_problem(&x(json!({ "dur": -1 })), Error, "dur", "negative");
    assert_problem(&x(json!({ "dur": 1, "args": 7 })), Warning, "args", "an object");
    assert_problem(&x(json!({ "dur": 1, "cat": 7 })), Warning, "cat", "one text");
    assert_problem(&x(json!({ "dur": 1, "id2": {} })), Error, "id2", "'local' or 'global'");
    assert_problem(&[event("I", json!({ "s": "x" }))], Error, "s", "not a scope");
    assert_problem(&[event("C", json!({ "args": { "a": "b" } }))], Warning, "args", "numbers");
    assert_problem(&[event("b", json!({}))][..], Error, "id", "needs an id");
    assert_problem(&[event("c", json!({}))], Error, "args.sync_id", "needs its id");
    let named = event("M", json!({ "name": "process_name", "args": {} }));
    assert_problem(&[event("R", json!({})), named], Error, "args.name", "a text");
    let unknown = event("M", json!({ "name": "colour" }));
    assert_problem(&[event("R", json!({})), unknown], Warning, "name", "no tool shows");
}

#[test]
fn spans_without_their_other_end_are_found() {
    use Severity::Warning;
    let one = json!({ "id": "1" });
    assert_problem(&[event("E", json!({}))], Warning, "ph", "without a start (B)");
    assert_problem(&[event("B", json!({}))], Warning, "ph", "never ends");
    let other = [event("B", json!({})), event("E", json!({ "name": "b" }))];
    assert_problem(&other, Warning, "name", "closes 'a', which started in line 2");
    let thread = [event("X", json!({ "dur": 1 })), event("E", json!({ "tid": 2 }))];
    assert_problem(&thread, Warning, "ph", "on its thread");
    assert_problem(&[event("e", one.clone())], Warning, "id", "a start (b)");
    assert_problem(&[event("b", one.clone())], Warning, "ph", "never ends");
    assert_problem(&[event("s", one.clone())], Warning, "ph", "no end (f)");
    assert_problem(&[event("f", one.clone())], Warning, "id", "a start (s)");
    assert_problem(&[event("D", one)], Warning, "id", "a creation (N)");
    let local =
        |pid: u32, phase: &str| event(phase, json!({ "pid": pid, "id2": { "local": "1" } }));
    assert_eq!(found(&trace_of(&[local(1, "b"), local(2, "b"), local(2, "e"), local(1, "e")])), []);
}

fn chunk(nodes: Value, samples: Value, deltas: Value) -> Value {
    let data =
        json!({ "cpuProfile": { "nodes": nodes, "samples": samples }, "timeDeltas": deltas });
    event("P", json!({ "name": "ProfileChunk", "id": "0x1", "args": { "data": data } }))
}

#[test]
fn profiles_that_do_not_fit_together_are_found() {
    use Severity::{Error, Warning};
    let start = json!({ "data": { "startTime": 1 } });
    let profile = event("P", json!({ "name": "Profile", "id": "0x1", "args": start }));
    let node = |id: u32, parent: u32| json!({ "id": id, "parent": parent, "callFrame": {} });
    let root = json!({ "id": 1, "callFrame": {} });
    let good = chunk(json!([root, node(2, 1)]), json!([1, 2]), json!([10, 10]));
    assert_eq!(found(&trace_of(&[profile.clone(), good.clone()])), []);
    let after = |last: Value| vec![profile.clone(), good.clone(), last];
    let samples = "args.data.cpuProfile.samples";
    let nodes = "args.data.cpuProfile.nodes";
    let deltas = "args.data.timeDeltas";
    let unknown = chunk(json!([]), json!([9]), json!([1]));
    assert_problem(&after(unknown), Error, samples, "unknown node 9");
    let orphan = chunk(json!([node(3, 9)]), json!([]), json!([]));
    assert_problem(&after(orphan), Error, nodes, "unknown parent 9");
    let again = chunk(json!([node(2, 1)]), json!([]), json!([]));
    assert_problem(&after(again), Warning, nodes, "announced before");
    let short = chunk(json!([]), json!([1, 2]), json!([1]));
    assert_problem(&after(short), Error, deltas, "1 times for 2 samples");
    let back = chunk(json!([]), json!([1]), json!([-1]));
    assert_problem(&after(back), Warning, deltas, "runs back");
    assert_problem(&[good], Error, "id", "without a Profile");
    let timeless = event("P", json!({ "name": "Profile", "id": "0x1" }));
    assert_problem(&[timeless], Error, "args.data.startTime", "its start");
}

#[test]
fn files_that_cannot_be_loaded_are_fatal() {
    for (text, line, message) in [
        ("{\"traceEvents\":[\n{\"ph\":", 2, "cut off"),
        ("{\"traceEvents\":[\n{\"ph\" \"X\"}]}", 2, "not JSON"),
        ("{}", 1, "neither a trace"),
        ("7", 1, "neither a trace"),
        ("{\"traceEvents\":7}", 1, "neither a trace"),
        ("{\"nodes\":7}", 1, "neither a trace"),
        ("", 1, "cut off"),
        ("{\"nodes\":[", 1, "cut off"),
    ] {
        let found = found(text);
        assert_eq!((found[0].0, found[0].1), (Severity::Fatal, line), "{text}: {found:?}");
        assert!(found[0].3.contains(message), "{text}: {found:?}");
    }
    for (bytes, line) in [(&b"{\n\"\xff\"}"[..], 2), (b"[\n{\"a\":\n\"\xc3\"}]", 3)] {
        let mut problems = Problems::default();
        contents(bytes, &mut problems);
        let list = problems.into_list();
        assert_eq!((list[0].line, &*list[0].message), (line, "the file is not UTF-8"));
    }
}

#[test]
fn profiles_in_files_are_checked() {
    let good = json!({
        "nodes": [{ "id": 1, "callFrame": {}, "children": [2] }, { "id": 2, "callFrame": {} }],
        "startTime": 1, "endTime": 9, "samples": [2, 2], "timeDeltas": [1, 1],
    });
    assert_eq!(found(&good.to_string()), []);
    for (pointer, value, message) in [
        ("/samples", json!([2, 7]), "unknown node 7"),
        ("/timeDeltas", json!([1]), "1 times for 2 samples"),
        ("/timeDeltas", json!([1, -1]), "runs back"),
        ("/endTime", json!(0), "before it starts"),
        ("/endTime", json!("x"), "needs this time"),
        ("/nodes/1/id", json!(1), "two nodes"),
        ("/nodes/0/children", json!([2, 3]), "3 is a child"),
        ("/nodes/0/children", json!([]), "2 roots"),
        ("/nodes/0/children", json!([2, 2]), "two parents"),
    ] {
        let mut profile = good.clone();
        *profile.pointer_mut(pointer).unwrap() = value;
        let found = found(&profile.to_string());
        assert!(found.iter().any(|problem| problem.3.contains(message)), "{message}: {found:?}");
    }
}

#[test]
fn many_problems_of_one_kind_are_counted() {
    let events: Vec<Value> = (0..100).map(|_| event("Q", json!({}))).collect();
    let mut problems = Problems::default();
    contents(trace_of(&events).as_bytes(), &mut problems);
    let list = problems.into_list();
    assert_eq!(list.len(), 5);
    assert_eq!(list[4].more, 95);
}

#[test]
fn labels_are_checked() {
    let chunk = |more: Value| {
        let mut data = json!({
            "cpuProfile": { "nodes": [{ "id": 1, "callFrame": {} }], "samples": [1, 1] },
            "timeDeltas": [1, 1],
        });
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let profile =
            json!({ "name": "Profile", "id": "0x1", "args": { "data": { "startTime": 5 } } });
        let chunk = json!({ "name": "ProfileChunk", "id": "0x1", "args": { "data": data } });
        found(&trace_of(&[event("P", profile), event("P", chunk)]))
    };
    let sets = json!({ "7": { "route": "/x" } });
    assert_eq!(chunk(json!({ "labels": [0, 7], "labelSets": sets })), []);
    for (more, message) in [
        (json!({ "labels": [7], "labelSets": sets }), "1 labels for 2 samples"),
        (json!({ "labels": [7, 8], "labelSets": sets }), "no label set has the id 8"),
        (json!({ "labels": [7, "7"], "labelSets": sets }), "a list of the ids"),
        (json!({ "labels": {}, "labelSets": sets }), "a list of the ids"),
        (json!({ "labelSets": [] }), "have to be an object"),
        (json!({ "labelSets": { "x": {} } }), "a number from 1"),
        (json!({ "labelSets": { "0": {} } }), "a number from 1"),
        (json!({ "labelSets": { "7": [] } }), "has to be an object of texts"),
        (json!({ "labelSets": { "7": { "route": 5 } } }), "has to be a text"),
    ] {
        let found = chunk(more.clone());
        let [(Severity::Warning, 3, _, text)] = &found[..] else { panic!("{more}: {found:?}") };
        assert!(text.contains(message), "{more}: {text}");
        let mut profile = json!({
            "nodes": [{ "id": 1, "callFrame": {} }],
            "samples": [1, 1],
            "timeDeltas": [1, 1],
            "startTime": 1,
            "endTime": 3,
        });
        profile.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let of_file = self::found(&profile.to_string());
        assert!(of_file.len() == 1 && of_file[0].3.contains(message), "{more}: {of_file:?}");
    }
}
