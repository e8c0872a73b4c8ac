use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read_value(profile: &Value) -> Result<Window, Error> {
    read(&profile.to_string())
}

fn node(id: u64, name: &str, children: &[u64]) -> Value {
    let meta = name.starts_with('(');
    json!({
        "id": id,
        "callFrame": {
            "functionName": name,
            "scriptId": if meta { "0" } else { "7" },
            "url": if meta { "" } else { "file:///a.js" },
            "lineNumber": if meta { -1 } else { 3 },
            "columnNumber": if meta { -1 } else { 4 },
        },
        "hitCount": 1,
        "children": children,
    })
}

fn small() -> Value {
    let mut work = node(3, "work", &[]);
    work["deoptReason"] = "too large".into();
    work["positionTicks"] = json!([{ "line": 4, "ticks": 2 }]);
    json!({
        "nodes": [node(1, "(root)", &[2, 3]), node(2, "(idle)", &[]), work],
        "startTime": 1000,
        "endTime": 5000,
        "samples": [2, 3, 3],
        "timeDeltas": [10, 1000, -5],
    })
}

#[test]
fn a_profile_becomes_a_window() {
    let window = read_value(&small()).unwrap();
    let meta = |name: &str| CallFrame { function_name: name.into(), ..CallFrame::root() };
    let work = CallFrame {
        function_name: "work".into(),
        url: "file:///a.js".into(),
        script_id: 7,
        line: 3,
        column: 4,
        ..CallFrame::root()
    };
    assert_eq!(window.frames, [meta("(root)"), meta("(idle)"), work]);
    let parents: Vec<u32> = window.nodes.iter().map(|node| node.parent).collect();
    assert_eq!(parents, [0, 0, 0]);
    // Samples of V8 can be out of order.
    let samples: Vec<(i64, u32)> =
        window.samples.iter().map(|sample| (sample.time_us, sample.node)).collect();
    assert_eq!(samples, [(1010, 1), (2005, 2), (2010, 2)]);
    let lines: Vec<u32> = window.samples.iter().map(|sample| sample.position.line).collect();
    assert_eq!(lines, [0, 4, 4]);
    assert_eq!(window.deopts, [(2, "too large".into())]);
    assert_eq!((window.start_us, window.end_us), (1000, 5000));
}

#[test]
fn frames_are_kept_once_and_children_after_their_parents() {
    // The root comes first; the others in any order.
    let nodes = json!([
        node(1, "(root)", &[5, 9]),
        node(4, "f", &[]),
        node(9, "f", &[]),
        node(5, "f", &[4]),
    ]);
    let window = read_value(&json!({ "nodes": nodes, "startTime": 0, "endTime": 0 })).unwrap();
    let parents: Vec<u32> = window.nodes.iter().map(|node| node.parent).collect();
    assert_eq!(parents, [0, 0, 1, 0]);
    assert_eq!(window.frames.len(), 2);
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    let json = small().to_string().replace("work", r"w\ud800k");
    let window = read(&json).unwrap();
    let name = &window.frames[2].function_name;
    assert!(name.starts_with("w\u{fffd}") && name.ends_with('k'), "{name}");
}

#[test]
fn a_malformed_tree_is_read_as_far_as_it_is_valid() {
    // A cycle, a child of two parents, an unknown child, a node without a parent, a repeated id.
    let nodes = json!([
        node(1, "(root)", &[2, 3, 77]),
        node(2, "a", &[1, 3]),
        node(3, "b", &[2]),
        node(4, "lost", &[]),
        node(3, "again", &[]),
    ]);
    let profile = json!({
        "nodes": nodes, "startTime": 0, "endTime": 9,
        "samples": [4, 3, 77], "timeDeltas": [1, 1, 1],
    });
    let window = read_value(&profile).unwrap();
    assert_eq!(window.nodes.len(), 3);
    assert_eq!(window.samples.len(), 1);
}

#[test]
fn text_that_is_not_a_profile_is_an_error_of_one_line() {
    for text in ["", "{", "null", "[]", "{}", r#"{"nodes":[{}],"startTime":0,"endTime":0}"#] {
        let line = read(text).unwrap_err().line();
        assert!(line.contains("cannot be read"), "{line}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn a_profile_with_one_wrong_value_is_parsed_or_refused(
        pointer in prop::sample::select(vec![
            "/nodes", "/nodes/0", "/nodes/1/id", "/nodes/1/callFrame", "/nodes/2/children",
            "/nodes/2/callFrame/functionName", "/nodes/2/callFrame/scriptId",
            "/nodes/2/callFrame/lineNumber", "/nodes/2/positionTicks", "/nodes/2/deoptReason",
            "/startTime", "/endTime", "/samples", "/samples/1", "/timeDeltas", "/timeDeltas/0",
        ]),
        value in any_json(),
    ) {
        let mut profile = small();
        *profile.pointer_mut(pointer).unwrap() = value;
        check(read_value(&profile));
    }

    #[test]
    fn any_tree_gives_a_consistent_window(
        nodes in proptest::collection::vec((0_u64..8, proptest::collection::vec(0_u64..8, 0..4)), 0..10),
        samples in proptest::collection::vec((0_u64..9, any::<i64>()), 0..10),
        start in any::<f64>(),
    ) {
        let nodes: Vec<Value> = nodes.iter().map(|(id, children)| node(*id, "f", children)).collect();
        let (ids, deltas): (Vec<u64>, Vec<i64>) = samples.into_iter().unzip();
        let start = if start.is_finite() { start } else { 0.0 };
        check(read_value(&json!({
            "nodes": nodes, "startTime": start, "endTime": 0, "samples": ids, "timeDeltas": deltas,
        })));
    }
}

/// Checks the promises of [`Window`].
fn check(window: Result<Window, Error>) {
    let Ok(window) = window else { return };
    for (index, node) in window.nodes.iter().enumerate() {
        assert!(index == 0 || (node.parent as usize) < index);
        assert!((node.frame as usize) < window.frames.len());
    }
    assert!(window.samples.iter().all(|sample| (sample.node as usize) < window.nodes.len()));
    assert!(window.samples.is_sorted_by_key(|sample| sample.time_us));
    assert!(window.samples.iter().all(|sample| (0..=MAX_TIME_US).contains(&sample.time_us)));
}
