use serde_json::{Value, json};

use super::build::report;
use crate::profile::builder::ProfileBuilder;
use crate::profile::frame::CallFrame;
use crate::profile::session::{Process, Thread};
use crate::profile::thread_profile::ReadScope;
use crate::read::load::{self, Loaded};

fn frame(name: &str, url: &str) -> CallFrame {
    let script_id = if url.is_empty() { 0 } else { 5 };
    let line = if url.is_empty() { -1 } else { 9 };
    CallFrame { function_name: name.into(), url: url.into(), script_id, line, column: line }
}

/// One thread with samples of stacks, each a millisecond.
fn loaded(stacks: &[&[(&str, &str)]]) -> Loaded {
    let mut loaded = Loaded::default();
    let frames = &mut loaded.session.frames;
    let mut building = ProfileBuilder::new(0, ReadScope::LINES);
    let mut ids: Vec<Vec<(&str, &str)>> = Vec::new();
    building.announce(0, None, frames.number(CallFrame::root()));
    for stack in stacks {
        let mut parent = 0;
        for depth in 1..=stack.len() {
            let path = stack[..depth].to_vec();
            let known = ids.iter().position(|known| *known == path);
            let id = known.unwrap_or_else(|| {
                ids.push(path);
                ids.len() - 1
            }) as u64
                + 1;
            let (name, url) = stack[depth - 1];
            building.announce(id, Some(parent), frames.number(frame(name, url)));
            parent = id;
        }
        // All but `b` are on the line of their number of frames.
        let line = if stack.last() == Some(&B) { 0 } else { 11 + stack.len() as u32 };
        building.sample(parent, 1000, line);
    }
    let threads = vec![Thread { id: 0, name: "main".into(), profiles: vec![building.finish()] }];
    let (name, command) = ("nx".to_owned(), "nx run".to_owned());
    loaded.session.processes.push(Process { pid: 7, name, command, threads, ..Process::default() });
    load::sort(&mut loaded.session);
    loaded.inputs = 1;
    loaded
}

fn computed(loaded: &Loaded, top: usize) -> Value {
    serde_json::from_str(&report(loaded, top).unwrap()).unwrap()
}

const A: (&str, &str) = ("a", "/r/a.js");
const B: (&str, &str) = ("b", "/r/node_modules/b/b.js");
const C: (&str, &str) = ("", "/r/node_modules/b/c.js");
const FS: (&str, &str) = ("readFileSync", "node:fs");
const NATIVE: (&str, &str) = ("open", "");

#[test]
fn a_whole_report() {
    let stacks: &[&[_]] = &[
        &[A],
        &[A, B],
        &[A, B, C],
        &[A, FS, NATIVE],
        &[("(idle)", "")],
        &[("(idle)", "")],
        &[("(garbage collector)", "")],
        &[("(program)", "")],
    ];
    let expected = json!({
        "version": 1,
        "durationMs": 9.0,
        "totals": { "busyMs": 4.0, "idleMs": 2.0, "gcMs": 1.0, "programMs": 1.0 },
        "processes": [{
            "pid": 7, "name": "nx", "command": "nx run", "startMs": 0.0, "durationMs": 9.0,
            "threads": [{
                "threadId": 0, "name": "main", "startMs": 0.0, "durationMs": 9.0, "busyMs": 4.0,
                "idleMs": 2.0, "gcMs": 1.0, "programMs": 1.0, "samples": 8,
            }],
        }],
        "functions": [
            { "name": "a", "file": "/r/a.js", "line": 10, "column": 10, "package": "(own code)",
              "selfMs": 1.0, "totalMs": 4.0 },
            { "name": "b", "file": "/r/node_modules/b/b.js", "line": 10, "column": 10,
              "package": "b", "selfMs": 1.0, "totalMs": 2.0 },
            { "name": "(anonymous)", "file": "/r/node_modules/b/c.js", "line": 10, "column": 10,
              "package": "b", "selfMs": 1.0, "totalMs": 1.0 },
            { "name": "open", "file": "", "line": 0, "column": 0, "package": "(native)",
              "selfMs": 1.0, "totalMs": 1.0 },
            { "name": "readFileSync", "file": "node:fs", "line": 10, "column": 10,
              "package": "node:", "selfMs": 0.0, "totalMs": 1.0 },
        ],
        "lines": [
            { "name": "a", "file": "/r/a.js", "line": 12, "package": "(own code)",
              "selfMs": 1.0, "samples": 1 },
            { "name": "b", "file": "/r/node_modules/b/b.js", "line": 0, "package": "b",
              "selfMs": 1.0, "samples": 1 },
            { "name": "(anonymous)", "file": "/r/node_modules/b/c.js", "line": 14, "package": "b",
              "selfMs": 1.0, "samples": 1 },
            { "name": "open", "file": "", "line": 0, "package": "(native)",
              "selfMs": 1.0, "samples": 1 },
        ],
        "files": [
            { "file": "/r/a.js", "package": "(own code)", "selfMs": 1.0, "totalMs": 4.0 },
            { "file": "/r/node_modules/b/b.js", "package": "b", "selfMs": 1.0, "totalMs": 2.0 },
            { "file": "", "package": "(native)", "selfMs": 1.0, "totalMs": 1.0 },
            { "file": "/r/node_modules/b/c.js", "package": "b", "selfMs": 1.0, "totalMs": 1.0 },
            { "file": "node:fs", "package": "node:", "selfMs": 0.0, "totalMs": 1.0 },
        ],
        "packages": [
            { "name": "b", "selfMs": 2.0, "totalMs": 2.0 },
            { "name": "(own code)", "selfMs": 1.0, "totalMs": 4.0 },
            { "name": "(native)", "selfMs": 1.0, "totalMs": 1.0 },
            { "name": "node:", "selfMs": 0.0, "totalMs": 1.0 },
        ],
        "counts": { "functions": 5, "lines": 4, "files": 5, "packages": 4 },
        "inputs": 1, "repaired": [], "failed": [], "notes": [],
    });
    assert_eq!(computed(&loaded(stacks), 20), expected);
}

#[test]
fn recursion_counts_once() {
    let report = computed(&loaded(&[&[A, B, A, B], &[A, B, A], &[A], &[B, B]]), 20);
    let costs: Vec<_> = report["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["name"].as_str().unwrap(), f["selfMs"].as_f64(), f["totalMs"].as_f64()))
        .collect();
    // Four samples of a millisecond each.
    assert_eq!(costs, [("a", Some(2.0), Some(3.0)), ("b", Some(2.0), Some(3.0))]);
}

#[test]
fn a_line_is_that_of_a_function_in_all_stacks() {
    let report =
        computed(&loaded(&[&[A], &[B, A], &[FS, A], &[A, FS], &[B], &[("(idle)", "")]]), 2);
    let lines: Vec<_> = report["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| (at["name"].as_str().unwrap(), at["line"].as_u64(), at["samples"].as_u64()))
        .collect();
    assert_eq!(lines, [("a", Some(13), Some(2)), ("a", Some(12), Some(1))]);
    assert_eq!(report["lines"][0]["selfMs"], 2.0);
    assert_eq!(report["counts"]["lines"], 4);
}

#[test]
fn the_top_is_by_either_time() {
    // `a` is only ever a caller; the rest take less and less by themselves.
    let stacks: &[&[_]] =
        &[&[A, B], &[A, B], &[A, B], &[A, C], &[A, C], &[A, FS], &[A, B], &[A, B]];
    let names = |top| -> Vec<String> {
        let report = computed(&loaded(stacks), top);
        assert_eq!(report["counts"]["functions"], 4);
        let names = report["functions"].as_array().unwrap().iter();
        names.map(|function| function["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(1), ["b", "a"]);
    assert_eq!(names(2), ["b", "(anonymous)", "a"]);
    assert_eq!(names(20), ["b", "(anonymous)", "readFileSync", "a"]);
    assert!(names(0).is_empty());
}
