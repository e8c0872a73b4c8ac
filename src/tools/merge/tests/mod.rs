//! Merges of files in every state.

mod counts;
mod filtered;
mod joined;
mod labels;
mod named;
mod native;
mod rewritten;
mod spans;
mod whole_profiles;

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::merge::merge;
use super::options::{MergeOptions, MergeProgress};
use super::result::{MergeError, MergeResult};
use crate::read::slice::SliceLimits;

use cpu_prof_core::testing::traces::MAIN;
use cpu_prof_core::testing::traces::WORKER;

/// Returns the options of a slice.
fn sliced(from_us: Option<i64>, to_us: Option<i64>) -> MergeOptions {
    MergeOptions { slice: SliceLimits { from_us, to_us }, ..MergeOptions::default() }
}

struct Run {
    dir: tempfile::TempDir,
    result: Result<MergeResult, MergeError>,
}

/// Merges files of these contents, called `0.json`, `1.json` and so on.
fn run(contents: &[&[u8]], options: &MergeOptions) -> Run {
    let dir = tempfile::tempdir().unwrap();
    for (number, content) in contents.iter().enumerate() {
        fs::write(dir.path().join(format!("{number}.json")), content).unwrap();
    }
    let paths = [dir.path().to_owned()];
    let output = dir.path().join("out/trace.json");
    let result = merge(&paths, &output, options, &MergeProgress::default());
    Run { dir, result }
}

impl Run {
    /// Returns the trace that was written. Checks that each event stands in a line.
    fn trace(&self) -> Value {
        let text = fs::read_to_string(&self.result.as_ref().unwrap().files[0]).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap().len();
        let lines = text.lines().skip(1).take_while(|line| line.starts_with('{'));
        assert_eq!(lines.count(), events);
        trace
    }

    fn files(&self) -> usize {
        fs::read_dir(self.dir.path().join("out")).map_or(0, Iterator::count)
    }
}

fn named<'a>(trace: &'a Value, name: &str) -> Vec<&'a Value> {
    let events = trace["traceEvents"].as_array().unwrap();
    events.iter().filter(|event| event["name"] == name).collect()
}

/// Returns the time and the function of each sample of a thread.
fn samples(trace: &Value, tid: u32) -> Vec<(i64, String)> {
    let of_thread = |event: &&&Value| event["tid"] == tid;
    let start = named(trace, "Profile").iter().find(|event| event["tid"] == tid).copied().cloned();
    let Some(start) = start else { return Vec::new() };
    let mut time = start["args"]["data"]["startTime"].as_i64().unwrap();
    let mut nodes = std::collections::HashMap::new();
    let mut samples = Vec::new();
    for chunk in named(trace, "ProfileChunk").iter().filter(of_thread) {
        let data = &chunk["args"]["data"];
        for node in data["cpuProfile"]["nodes"].as_array().into_iter().flatten() {
            let id = node["id"].as_u64().unwrap();
            if let Some(parent) = node.get("parent") {
                assert!(nodes.contains_key(&parent.as_u64().unwrap()));
            }
            let name = node["callFrame"]["functionName"].as_str().unwrap();
            assert!(nodes.insert(id, name.to_owned()).is_none());
        }
        let ids = data["cpuProfile"]["samples"].as_array().unwrap();
        for (id, delta) in ids.iter().zip(data["timeDeltas"].as_array().unwrap()) {
            time += delta.as_i64().unwrap();
            samples.push((time, nodes[&id.as_u64().unwrap()].clone()));
        }
    }
    samples
}

#[test]
fn golden_merged_trace() {
    let run = run(&[WORKER.as_bytes(), MAIN.as_bytes()], &MergeOptions::default());
    let merged = run.result.as_ref().unwrap();
    assert_eq!((merged.inputs, merged.processes, merged.threads), (2, 1, 2));
    let text = fs::read_to_string(&merged.files[0]).unwrap();
    let golden =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../core/format/trace/golden/merged.trace.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(golden, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(golden).unwrap());
}

#[test]
fn lines_of_recordings_pass_unchanged() {
    let merged = run(&[WORKER.as_bytes(), MAIN.as_bytes()], &MergeOptions::default());
    let text = fs::read_to_string(&merged.result.as_ref().unwrap().files[0]).unwrap();
    for source in [MAIN, WORKER] {
        for line in source.lines().skip(2).filter(|line| *line != "]}") {
            assert!(text.contains(line.trim_end_matches(',')), "{line}");
        }
    }
}

#[test]
fn a_slice_announces_the_nodes_of_its_samples() {
    let whole = run(&[MAIN.as_bytes()], &MergeOptions::default()).trace();
    let all = samples(&whole, 0);
    for from_us in 0..10 {
        for to_us in from_us + 1..10 {
            let (from_us, to_us) = (from_us * 1000, to_us * 1000);
            let slice = run(&[MAIN.as_bytes()], &sliced(Some(from_us), Some(to_us)));
            let from_end = sliced(Some(from_us - 10_000), Some(to_us - 10_000));
            let from_end = run(&[MAIN.as_bytes()], &from_end);
            assert_eq!(from_end.result.is_ok(), slice.result.is_ok());
            if slice.result.is_ok() {
                assert_eq!(from_end.trace(), slice.trace());
            }
            let start = 522_975_545_427;
            let expected = within(&all, start + 10_000, start + from_us, start + to_us);
            match &slice.result {
                Ok(_) => assert_eq!(samples(&slice.trace(), 0), expected),
                Err(error) => {
                    assert!(expected.is_empty(), "{error}");
                    assert_eq!(slice.files(), 0);
                }
            }
        }
    }
}

#[test]
fn the_end_is_that_of_the_clock_of_most_recordings() {
    let other = MAIN.replace("4242", "4243").replace("5a1f", "ffff").replace("52297", "92297");
    let end = sliced(Some(-2500), None);
    let of_both = run(&[MAIN.as_bytes(), WORKER.as_bytes(), other.as_bytes()], &end).trace();
    let alone = run(&[MAIN.as_bytes(), WORKER.as_bytes()], &end).trace();
    let chunks = |trace| named(trace, "ProfileChunk").into_iter().filter(|e| e["pid"] == 4242);
    assert!(chunks(&alone).count() > 0);
    assert!(chunks(&of_both).eq(chunks(&alone)));
}

#[test]
fn a_slice_without_time_is_an_error_that_names_its_limits() {
    for (from_us, to_us, expected) in [
        (
            Some(8000),
            Some(-5000),
            "the slice ends before it starts: of recordings of 10 ms, from is at 8 ms and to at 5 ms",
        ),
        (
            Some(60_000),
            None,
            "the slice goes from 60 ms to the end, and the recordings from 0 to 10 ms",
        ),
        (None, Some(-60_000), "the slice goes from the start to -50 ms"),
    ] {
        let slice = run(&[MAIN.as_bytes()], &sliced(from_us, to_us));
        let error = slice.result.as_ref().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(slice.files(), 0);
    }
}

/// Returns the samples of a slice. The last sample of all ends at `end`.
fn within(all: &[(i64, String)], end: i64, from: i64, to: i64) -> Vec<(i64, String)> {
    let ends = all.iter().skip(1).map(|(time, _)| *time).chain([end]);
    let mut shown = Vec::new();
    for ((time, name), until) in all.iter().zip(ends) {
        if *time < to && until > from {
            shown.push((from.max(*time), name.clone()));
        }
        if *time < to && until >= to {
            shown.push((to, "(root)".to_owned()));
        }
    }
    shown
}

#[derive(Debug, Clone)]
enum Damage {
    Cut(usize),
    Hole(usize, usize),
    /// Only in traces of other tools: lines of recordings are copied unchecked.
    Byte(usize, u8),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        (any::<usize>(), 1_usize..5000).prop_map(|(at, length)| Damage::Hole(at, length)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
    ]
}

fn damaged(text: &str, is_ours: bool, damage: &[Damage]) -> Vec<u8> {
    let mut bytes = match is_ours {
        true => text.as_bytes().to_vec(),
        false => text.replacen("cpu-prof", "another", 1).into_bytes(),
    };
    for damage in damage {
        let length = bytes.len().max(1);
        match *damage {
            Damage::Cut(at) => bytes.truncate(at % length),
            Damage::Hole(at, size) => {
                let at = at % length;
                let end = (at + size).min(bytes.len());
                bytes[at.min(end)..end].fill(0);
            }
            Damage::Byte(at, byte) if !is_ours && !bytes.is_empty() => bytes[at % length] = byte,
            Damage::Byte(..) => {}
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_damage_leaves_a_valid_trace_or_nothing(
        files in vec((any::<bool>(), any::<bool>(), vec(any_damage(), 0..3)), 1..4),
        has_slice: bool,
    ) {
        let contents: Vec<Vec<u8>> = files
            .iter()
            .map(|(main, own, damage)| damaged(if *main { MAIN } else { WORKER }, *own, damage))
            .collect();
        let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let from_us = has_slice.then_some(2500);
        let run = run(&contents, &sliced(from_us, None));
        match &run.result {
            Ok(merged) => {
                prop_assert_eq!(run.files(), merged.files.len());
                // A byte that was changed can have made a text that is no UTF-8.
                for file in &merged.files {
                    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
                    // Nor is a number always one that fits.
                    prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
                }
            }
            Err(_) => prop_assert_eq!(run.files(), 0),
        }
    }

    #[test]
    fn any_bytes_are_taken(
        contents in vec(vec(prop_oneof!["[\\[\\]{}\",:0-9a-z]{0,30}".prop_map(String::into_bytes), any::<Vec<u8>>()], 0..4), 1..3),
    ) {
        let contents: Vec<Vec<u8>> = contents.into_iter().map(|pieces| pieces.concat()).collect();
        let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let run = run(&contents, &MergeOptions::default());
        prop_assert_eq!(run.files(), run.result.map_or(0, |merged| merged.files.len()));
    }

    #[test]
    fn any_cpuprofile_is_taken(
        nodes in vec((1_u8..6, vec(1_u8..6, 0..3), any::<bool>()), 0..6),
        samples in vec(0_u8..7, 0..9),
        deltas in vec(-50_i64..50, 0..9),
    ) {
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|(id, children, has_name)| {
                let frame = if *has_name { json!({ "functionName": "f" }) } else { json!({}) };
                json!({ "id": id, "children": children, "callFrame": frame })
            })
            .collect();
        let profile = format!(
            "{{\"nodes\":{},\"startTime\":1000,\"endTime\":2000,\"samples\":{},\"timeDeltas\":{}}}",
            json!(nodes), json!(samples), json!(deltas)
        );
        let run = run(&[profile.as_bytes()], &MergeOptions::default());
        super::tests::samples(&run.trace(), 0);
    }
}

#[test]
fn a_recording_that_another_tool_has_formatted_is_one_event_a_line_again() {
    let json: Value = serde_json::from_str(MAIN).unwrap();
    let pretty = serde_json::to_string_pretty(&json).unwrap();
    for options in [MergeOptions::default(), sliced(Some(0), None)] {
        let run = run(&[pretty.as_bytes()], &options);
        let trace = run.trace();
        let chunks = trace["traceEvents"].as_array().unwrap().iter();
        assert!(chunks.filter(|event| event["name"] == "ProfileChunk").count() > 0);
    }
}

#[test]
fn a_cpuprofile_that_cannot_be_read_gives_no_trace() {
    let text = r#"{"nodes":[{"id":1,"callFrame":{}},5],"startTime":1,"endTime":2,"samples":[1]}"#;
    let alone = run(&[text.as_bytes()], &MergeOptions::default());
    let reason = alone.result.as_ref().unwrap_err().to_string();
    assert!(reason.contains("0.json: its nodes"), "{reason}");
    assert_eq!(alone.files(), 0);
    let beside = run(&[text.as_bytes(), MAIN.as_bytes()], &MergeOptions::default());
    assert_eq!(beside.result.unwrap().failed.len(), 1);
}

#[test]
fn merged_traces_of_other_folders_are_merged_again() {
    let dir = tempfile::tempdir().unwrap();
    let [kept, removed] = ["kept", "removed"].map(|run| dir.path().join(run));
    for (run, text) in [(&kept, MAIN), (&removed, WORKER)] {
        fs::create_dir(run).unwrap();
        fs::write(run.join("recording.json"), text).unwrap();
        let inputs = [run.clone()];
        let options = MergeOptions::default();
        merge(&inputs, &run.join("trace.json"), &options, &MergeProgress::default()).unwrap();
    }
    fs::remove_file(removed.join("recording.json")).unwrap();
    let output = dir.path().join("out/all.json");
    let options = MergeOptions::default();
    let inputs = [dir.path().to_owned()];
    let result = merge(&inputs, &output, &options, &MergeProgress::default()).unwrap();
    assert_eq!((result.inputs, result.threads), (2, 2));
    let note = result.notes.iter().find(|note| note.contains("left out")).unwrap();
    assert!(note.contains("kept/trace.json") && !note.contains("removed"), "{note}");
}

#[test]
fn a_lost_byte_leaves_a_valid_trace() {
    // The names of members are at the start.
    for at in (0..300).chain((300..MAIN.len()).step_by(23)) {
        let run = run(&[&damaged(MAIN, false, &[Damage::Byte(at, 0)])], &MergeOptions::default());
        if run.result.is_ok() {
            run.trace();
        }
    }
}
