//! Merges of some processes, threads, stacks and samples. Each holds for recordings, and for the
//! trace that they were merged into before.

use std::collections::BTreeMap;

use super::rewritten::times;
use super::*;
use crate::read::filter::{Filter, StackFilter};

/// Returns the recording of a thread in which `work` runs for 900 µs of each millisecond and
/// `helper` of the package `tool` below it for 100 µs. `cpu_us` is the thread's time on a core.
fn recording(pid: u32, tid: u32, script: &str, cpu_us: u32) -> String {
    const START: i64 = 5_000_000;
    let event = |name: &str, phase: &str, ts: i64, data: &Value| {
        format!(
            "{{\"cat\":\"c\",\"name\":\"{name}\",\"ph\":\"{phase}\",\"id\":\"{pid}-{tid}\",\"pid\":{pid},\
             \"tid\":{tid},\"ts\":{ts},\"args\":{{\"data\":{data}}}}}"
        )
    };
    let frame = |name: &str, url: &str| json!({ "functionName": name, "scriptId": "7", "url": url, "lineNumber": 4, "columnNumber": 0 });
    let nodes = json!([
        { "id": 1, "callFrame": frame("(root)", "") },
        { "id": 2, "parent": 1, "callFrame": frame("work", "file:///r/src/work.js") },
        { "id": 3, "parent": 2, "callFrame": frame("helper", "file:///r/node_modules/tool/index.js") },
    ]);
    let samples: Vec<u32> = [2, 3].repeat(100);
    let deltas: Vec<u32> = [100, 900].repeat(100);
    let chunk =
        json!({ "cpuProfile": { "nodes": nodes, "samples": samples }, "timeDeltas": deltas });
    let label = format!("{script}: (pid {pid})");
    let frames = json!({ "frames": [{ "frame": "NODE", "processId": pid, "url": label }] });
    let name = |kind: &str, name: &str| {
        format!(
            "{{\"cat\":\"__metadata\",\"name\":\"{kind}\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"ts\":1,\
             \"args\":{{\"name\":\"{name}\"}}}}"
        )
    };
    let process_name = format!("{script} (pid {pid})");
    let thread = if tid == 0 { "main".to_owned() } else { format!("worker {tid}: w.js") };
    let facts = json!({ "pid": pid, "threadId": tid, "argv": ["node", script], "cwd": "/r" });
    let lines = [
        event("TracingStartedInBrowser", "I", START, &frames),
        name("process_name", &process_name),
        name("thread_name", &format!("{process_name} - {thread}")),
        event("thread.start", "I", START, &json!({ "cpuUs": 100 })),
        event("Profile", "P", START, &json!({ "startTime": START })),
        event("ProfileChunk", "P", START + 100_000, &chunk),
        event("thread.flush", "I", START + 100_100, &json!({ "cpuUs": 100 + cpu_us / 2 })),
        event("trace.end", "I", START + 100_100, &json!({ "cpuUs": 100 + cpu_us })),
    ];
    format!(
        "{{\"metadata\":{{\"source\":\"cpu-prof\",\"cpu-prof\":{facts}}},\"traceEvents\":[\n{}\n]}}",
        lines.join(",\n")
    )
}

/// Merges four threads of three processes with these options; then without options, and the result
/// with these options.
fn both_ways(options: &MergeOptions) -> [Run; 2] {
    let texts = [
        recording(10, 0, "npm", 300),
        recording(20, 0, "build.js", 90_000),
        recording(20, 1, "build.js", 200),
        recording(30, 0, "test.js", 50_000),
    ];
    let files: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let whole = run(&files, &MergeOptions::default());
    let merged = fs::read(&whole.result.as_ref().unwrap().files[0]).unwrap();
    [run(&files, options), run(&[&merged], options)]
}

/// A process id and a thread id.
type ThreadKey = (u64, u64);

/// Returns the threads of a trace, each with the events of its process.
fn threads(trace: &Value) -> BTreeMap<ThreadKey, Value> {
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap_or_default();
    let profiles = named(trace, "Profile").into_iter();
    let ids = profiles.map(|event| (number(event, "pid"), number(event, "tid")));
    ids.map(|(pid, tid)| {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        let events: Vec<&Value> = events.filter(|event| number(event, "pid") == pid).collect();
        ((pid, tid), json!({ "traceEvents": events }))
    })
    .collect()
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn of_threads(processes: &[&str], threads: &[&str]) -> MergeOptions {
    let filter = Filter::new(&texts(processes), &texts(threads), StackFilter::default());
    MergeOptions { filter, ..MergeOptions::default() }
}

fn of_stacks(packages: &[&str], focus: &[&str], ignore: &[&str]) -> MergeOptions {
    let stacks = StackFilter::new(&texts(packages), &texts(focus), &texts(ignore));
    MergeOptions { filter: Filter::new(&[], &[], stacks), ..MergeOptions::default() }
}

#[test]
fn processes_and_threads_are_chosen_by_their_names() {
    for (options, expected) in [
        (of_threads(&["build"], &[]), vec![(20, 0), (20, 1)]),
        (of_threads(&["build.js", "30"], &["main"]), vec![(20, 0), (30, 0)]),
        (of_threads(&[], &["w.js"]), vec![(20, 1)]),
    ] {
        for run in both_ways(&options) {
            let trace = run.trace();
            assert_eq!(threads(&trace).into_keys().collect::<Vec<_>>(), expected);
            let pids: Vec<_> = expected.iter().map(|(pid, _)| *pid).collect();
            // Neither a name nor a frame is left of the other processes.
            for event in trace["traceEvents"].as_array().unwrap() {
                if event["name"] == "TimeStamp" {
                    let name = event["args"]["data"]["name"].to_string();
                    let is_of = |pid: &u64| name.contains(&format!("(pid {pid})"));
                    assert!(name.contains("worker") || pids.iter().any(is_of), "{event}");
                    continue;
                }
                let of_frame = event.pointer("/args/data/processId").and_then(Value::as_u64);
                let pid = of_frame.or_else(|| event["pid"].as_u64()).unwrap();
                assert!(pids.contains(&pid), "{event}");
            }
            let result = run.result.as_ref().unwrap();
            assert_eq!(result.threads, expected.len());
        }
    }
}

#[test]
fn main_threads_that_hardly_worked_are_named_as_workers() {
    let slice = sliced(Some(1_000), Some(99_000));
    for options in [MergeOptions::default(), slice] {
        for run in both_ways(&options) {
            let trace = run.trace();
            let [main] = named(&trace, "TracingStartedInBrowser")[..] else { panic!() };
            let frame = &main["args"]["data"]["frames"][0];
            assert_eq!((&frame["frame"], &frame["processId"]), (&json!("NODE"), &json!(20)));
            let names: Vec<_> = named(&trace, "thread_name")
                .iter()
                .filter(|event| event["tid"] == 0 && event["ts"] == 0)
                .map(|event| (&event["pid"], event["args"]["name"].as_str().unwrap().to_owned()))
                .collect();
            let is_as_worker = |pid: u64| {
                let last = names.iter().rfind(|(of, _)| **of == json!(pid));
                last.is_some_and(|(_, name)| name.ends_with(&format!("(pid {pid})")))
            };
            assert_eq!([10, 20, 30].map(is_as_worker), [true, false, false], "{names:?}");
            let mut others: Vec<(u64, &str, Option<&str>)> =
                named(&trace, "FrameCommittedInBrowser")
                    .iter()
                    .map(|event| &event["args"]["data"])
                    .map(|frame| {
                        let pid = frame["processId"].as_u64().unwrap();
                        (pid, frame["frame"].as_str().unwrap(), frame["parent"].as_str())
                    })
                    .collect();
            others.sort_unstable();
            assert_eq!(others, [(10, "NODE", None), (30, "NODE", None)]);
        }
    }
}

#[test]
fn a_filter_that_nothing_passes_is_an_error_that_names_the_processes() {
    for options in [of_threads(&["jest"], &[]), of_stacks(&["lodash"], &[], &[])] {
        for run in both_ways(&options) {
            let message = run.result.as_ref().unwrap_err().to_string();
            assert!(message.starts_with("nothing in the recordings matches "), "{message}");
            assert!(message.contains("build.js"), "{message}");
            assert_eq!(run.files(), 0);
        }
    }
}

#[test]
fn stacks_that_do_not_pass_leave_gaps() {
    let [work, helper] = [("work", 90_000), ("helper", 10_000)];
    for (options, expected) in [
        (of_stacks(&["tool"], &[], &[]), vec![helper]),
        (of_stacks(&[], &["src/work.js:5"], &[]), vec![work, helper]),
        (of_stacks(&[], &[], &["HELPER"]), vec![work]),
    ] {
        for run in both_ways(&options) {
            let trace = run.trace();
            let all = threads(&trace);
            assert_eq!(all.len(), 4);
            for ((_, tid), events) in &all {
                let times = times(events, *tid as u32);
                for (name, us) in &expected {
                    assert!((us - times[*name]).abs() <= 900, "{times:?}");
                }
                assert_eq!(times.len(), expected.len());
            }
            assert!(named(&trace, "thread.flush").is_empty());
        }
    }
}

#[test]
fn fewer_samples_have_the_same_times() {
    let options = MergeOptions { interval_us: Some(5000), ..MergeOptions::default() };
    for run in both_ways(&options) {
        let trace = run.trace();
        for ((_, tid), events) in threads(&trace) {
            let count = samples(&events, tid as u32).len();
            assert!(count < 50, "{count}");
            // A sample after the end would be another recording.
            let names = events["traceEvents"].as_array().unwrap().iter();
            let of_thread =
                names.filter(|event| event["tid"] == tid && event["name"] != "thread_name");
            let names: Vec<_> = of_thread.filter_map(|event| event["name"].as_str()).collect();
            let is_end = |name: &&str| *name == "trace.end";
            let after = names.iter().skip_while(|name| !is_end(name));
            assert!(!after.copied().any(|name| name == "ProfileChunk"), "{names:?}");
            let times = times(&events, tid as u32);
            for (name, us) in [("work", 90_000), ("helper", 10_000)] {
                assert!((times[name] - us).abs() <= 5000, "{times:?}");
            }
        }
    }
}

#[test]
fn categories_are_those_of_other_tools_events() {
    let event = |cat: &str, phase: &str| json!({ "cat": cat, "ph": phase, "name": cat, "pid": 1, "tid": 1, "ts": 5 });
    let events = ["a", "b,c", "c", "ca"].map(|cat| event(cat, "I"));
    let name =
        json!({ "ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": { "name": "x" } });
    let text = json!({ "traceEvents": events.iter().chain([&name]).collect::<Vec<_>>() });
    let options = MergeOptions { categories: texts(&["c"]), ..MergeOptions::default() };
    let run = run(&[text.to_string().as_bytes()], &options);
    let trace = run.trace();
    let names: Vec<_> = trace["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["b,c", "c", "process_name"]);
}
