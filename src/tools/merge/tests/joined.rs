//! Traces of other tools about processes that were recorded.

use super::*;

/// A time within the recordings.
const NOW: i64 = 522_975_546_000;

/// Merges these events beside the recordings of a main thread and of a worker.
fn beside(events: &[Value]) -> Value {
    let text = json!({ "traceEvents": events }).to_string();
    let contents = [MAIN.as_bytes(), WORKER.as_bytes(), text.as_bytes()];
    run(&contents, &MergeOptions::default()).trace()
}

fn event(phase: &str, name: &str, pid: i64, tid: i64, ts: i64) -> Value {
    json!({ "ph": phase, "name": name, "cat": "node", "pid": pid, "tid": tid, "ts": ts, "args": { "name": "foreign" } })
}

/// Returns pid and thread id of each event of a name.
fn ids(trace: &Value, name: &str) -> Vec<(i64, i64)> {
    let id = |event: &Value, key: &str| event[key].as_i64().unwrap();
    named(trace, name).into_iter().map(|event| (id(event, "pid"), id(event, "tid"))).collect()
}

#[test]
fn events_of_the_same_pid_and_time_belong_to_the_recording() {
    let read = |tid| event("X", "fs.sync.read", 4242, tid, NOW);
    let names = ["process_name", "thread_name"].map(|name| event("M", name, 4242, 4242, 0));
    let native = event("M", "thread_name", 4242, 4250, 0);
    let trace =
        beside(&[read(4242), read(4245), read(4250), names[0].clone(), names[1].clone(), native]);
    // The main thread has the id of the process; the header of the worker's recording tells its id.
    assert_eq!(ids(&trace, "fs.sync.read"), [(4242, 0), (4242, 3), (4242, 4250)]);
    let foreign = |name| {
        named(&trace, name).into_iter().filter(|event| event["args"]["name"] == "foreign").count()
    };
    assert_eq!((foreign("process_name"), foreign("thread_name")), (0, 1));
    let labels = named(&trace, "process_labels");
    assert_eq!(labels.len(), 1, "{labels:?}");
}

#[test]
fn events_of_another_time_are_of_another_process() {
    for ts in [1000, NOW - 3_600_000_000, NOW + 3_600_000_000] {
        let trace = beside(&[event("X", "fs.sync.read", 4242, 4242, ts)]);
        assert_eq!(ids(&trace, "fs.sync.read"), [(10_000_000, 4242)], "{ts}");
    }
}

#[test]
fn times_that_count_from_zero_are_said_and_out_of_view() {
    let text = json!({ "traceEvents": [event("X", "check", 1, 1, 5000)] }).to_string();
    let run = run(&[MAIN.as_bytes(), text.as_bytes()], &MergeOptions::default());
    let notes = run.result.as_ref().unwrap().notes.join("\n");
    assert!(notes.contains("count from 0") && notes.contains("1.json"), "{notes}");
    let trace = run.trace();
    let breadcrumb = &trace["metadata"]["modifications"]["initialBreadcrumb"];
    assert_eq!(breadcrumb["window"]["min"], 5000);
    assert!(breadcrumb["child"]["window"]["min"].as_i64().unwrap() > NOW - 1_000_000);
}

#[test]
fn the_logs_of_one_process_have_one_pid_and_the_same_ids() {
    let dir = tempfile::tempdir().unwrap();
    let span = |phase: &str, pid: i64, ts: i64| {
        let mut span = event(phase, "TIMER", pid, pid, ts);
        span["id"] = "0x7".into();
        json!({ "traceEvents": [span] }).to_string()
    };
    for (folder, pid) in [("a", 7), ("b", 7)] {
        fs::create_dir(dir.path().join(folder)).unwrap();
        for (number, phase) in [(1, "b"), (2, "e")] {
            let file = format!("{folder}/node_trace.{number}.log");
            fs::write(dir.path().join(file), span(phase, pid, NOW + number)).unwrap();
        }
    }
    let output = dir.path().join("out/trace.json");
    let paths = [dir.path().to_owned()];
    let result = merge(&paths, &output, &MergeOptions::default(), &MergeProgress::default());
    let run = Run { dir, result };
    let trace = run.trace();
    let spans: Vec<_> = named(&trace, "TIMER")
        .into_iter()
        .map(|event| (event["pid"].as_i64().unwrap(), event["id"].to_string()))
        .collect();
    let [first, second, third, last] = spans.as_slice() else { panic!("{spans:?}") };
    assert_eq!((first, third), (second, last));
    assert_ne!(first, third);
    assert_ne!(first.1, third.1);
    let result = run.result.as_ref().unwrap();
    assert_eq!((result.processes, result.threads), (2, 2));
}

#[test]
fn ids_of_a_process_with_another_pid_stay_those_of_its_events() {
    let other = MAIN.replace("\"processStartMs\":522975430", "\"processStartMs\":522970000");
    let other = other.replace("00c0ffee00c0ffee", "00c0ffee00c0fff0");
    let mut begin = event("b", "fetch", 4242, 0, NOW);
    begin["id"] = "0x7".into();
    let other = other.replace("\n]}", &format!(",\n{begin}\n]}}"));
    assert!(other.contains("522970000") && other.contains("0x7"));
    for interval_us in [None, Some(1)] {
        let options = MergeOptions { interval_us, ..MergeOptions::default() };
        let trace = run(&[MAIN.as_bytes(), other.as_bytes()], &options).trace();
        let fetch = named(&trace, "fetch");
        assert_eq!((fetch.len(), &fetch[0]["id"]), (1, &json!("0x7")));
        assert_ne!(fetch[0]["pid"], 4242);
        let mut profiles: Vec<String> =
            named(&trace, "Profile").iter().map(|event| event["id"].to_string()).collect();
        profiles.dedup();
        assert_eq!(profiles.len(), 2);
    }
}
