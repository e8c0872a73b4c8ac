//! Profiles that are one file or one event.

use super::*;
use crate::read::load::{Loaded, load_slice_uncorrected, load_uncorrected};
use cpu_prof_core::profile::read_scope::ReadScope;

const NODES: &str = r#"[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3],"hitCount":0},
    {"id":2,"callFrame":{"functionName":"a"},"hitCount":3},
    {"id":3,"callFrame":{"functionName":"b"},"hitCount":1}]"#;

/// Returns the self times of functions in a trace.
fn self_times(run: &Run) -> Vec<(String, u64)> {
    let files = &run.result.as_ref().unwrap().files;
    self_times_of(&load_uncorrected(&files[..1], ReadScope::TIMES))
}

fn self_times_of(loaded: &Loaded) -> Vec<(String, u64)> {
    let frames = loaded.session.frames.list();
    let mut times: Vec<(String, u64)> = loaded
        .session
        .processes
        .iter()
        .flat_map(|process| &process.threads)
        .flat_map(|thread| &thread.profiles)
        .flat_map(|profile| profile.timed_nodes())
        .filter(|(_, times)| times.self_us > 0)
        .map(|(node, times)| (frames[node.frame as usize].function_name.clone(), times.self_us))
        .collect();
    times.sort();
    times
}

fn expected(times: &[(&str, u64)]) -> Vec<(String, u64)> {
    times.iter().map(|(name, us)| ((*name).to_owned(), *us)).collect()
}

/// A trace of webpack's ProfilingPlugin: a whole profile in one event.
fn legacy_trace() -> String {
    format!(
        r#"{{"traceEvents":[
        {{"ph":"I","name":"TracingStartedInPage","cat":"c","pid":7,"tid":8,"ts":1000000,"args":{{}}}},
        {{"ph":"I","name":"CpuProfile","cat":"disabled-by-default-devtools.timeline","pid":7,"tid":8,
          "ts":1400000,"args":{{"data":{{"cpuProfile":{{"nodes":{NODES},"startTime":1000000,
          "endTime":1400000,"samples":[2,3,2],"timeDeltas":[0,100000,200000]}}}}}}}}]}}"#
    )
}

#[test]
fn a_slice_has_its_part_of_a_whole_profile() {
    let trace = legacy_trace();
    let whole = run(&[trace.as_bytes()], &MergeOptions::default());
    assert_eq!(self_times(&whole), expected(&[("a", 200_000), ("b", 200_000)]));
    let first = run(&[trace.as_bytes()], &sliced(Some(0), Some(150_000)));
    assert_eq!(self_times(&first), expected(&[("a", 100_000), ("b", 50_000)]));
    let second = run(&[trace.as_bytes()], &sliced(Some(150_000), None));
    assert_eq!(self_times(&second), expected(&[("a", 100_000), ("b", 150_000)]));
    assert!(named(&second.trace(), "CpuProfile").is_empty());
}

#[test]
fn a_profile_of_hits_alone_has_time_in_a_trace() {
    let profile = format!(r#"{{"nodes":{NODES},"startTime":1000,"endTime":41000}}"#);
    let merged = run(&[profile.as_bytes()], &MergeOptions::default());
    assert_eq!(self_times(&merged), expected(&[("a", 30_000), ("b", 10_000)]));
}

#[test]
fn a_name_that_is_not_utf_8_does_not_cost_its_samples() {
    let profile = format!(
        r#"{{"nodes":{NODES},"startTime":1000,"endTime":5000,"samples":[2,3],"timeDeltas":[0,3000]}}"#
    );
    let trace = legacy_trace();
    for (text, times) in [(profile.as_str(), [3_000, 1_000]), (trace.as_str(), [200_000, 200_000])]
    {
        let mut bytes = text.as_bytes().to_vec();
        let at = text.find("\"b\"").unwrap() + 1;
        bytes[at] = 0xff;
        for options in [MergeOptions::default(), sliced(Some(0), None)] {
            let merged = run(&[&bytes], &options);
            assert_eq!(self_times(&merged), expected(&[("a", times[0]), ("\u{fffd}", times[1])]));
        }
    }
}

#[test]
fn a_profile_that_is_cut_off_is_refused_with_the_reason() {
    let profile = format!(
        r#"{{"nodes":{NODES},"startTime":1000,"endTime":5000,"samples":[2,3],"timeDeltas":[0,3000]}}"#
    );
    for end in ["\"samples\"", "\"timeDeltas\"", "3000]"] {
        let cut = &profile[..profile.find(end).unwrap()];
        let merged = run(&[cut.as_bytes()], &MergeOptions::default());
        let error = merged.result.as_ref().unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
        let error = load_uncorrected(&[merged.dir.path().join("0.json")], ReadScope::TIMES).check();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
    }
}

#[test]
fn a_limit_is_the_same_moment_for_all_tools() {
    // The profile begins half a second after the first event, and ends before the last.
    let chrome = r#"[
        {"ph":"X","name":"early","cat":"c","pid":4242,"tid":9,"ts":522975045427,"dur":100},
        {"ph":"P","name":"Profile","cat":"c","id":"0x1","pid":4242,"tid":9,"ts":522975545427,
         "args":{"data":{"startTime":5}}},
        {"ph":"P","name":"ProfileChunk","cat":"c","id":"0x1","pid":4242,"tid":9,"ts":522975745427,
         "args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},
         {"id":2,"parent":1,"callFrame":{"functionName":"a"}}],"samples":[2,2]},
         "timeDeltas":[0,200000]}}},
        {"ph":"X","name":"late","cat":"c","pid":4242,"tid":9,"ts":522976045427,"dur":1000000}]"#;
    let legacy = legacy_trace();
    let slices = [(0, 510_000), (510_000, -1_400_000), (-1_950_000, -1_000_000)];
    for files in [&[chrome][..], &[legacy.as_str()][..], &[chrome, MAIN][..], &[MAIN, WORKER][..]] {
        let bytes: Vec<&[u8]> = files.iter().map(|file| file.as_bytes()).collect();
        for (from_us, to_us) in slices {
            let limits = SliceLimits { from_us: Some(from_us), to_us: Some(to_us) };
            let merged = run(&bytes, &sliced(limits.from_us, limits.to_us));
            let read =
                (0..files.len()).map(|number| merged.dir.path().join(format!("{number}.json")));
            let read: Vec<_> = read.collect();
            let report = self_times_of(&load_slice_uncorrected(&read, limits, ReadScope::TIMES));
            let merge = if merged.result.is_ok() { self_times(&merged) } else { Vec::new() };
            assert_eq!(merge, report, "{from_us}..{to_us} of {files:?}");
        }
    }
    let both = run(&[chrome.as_bytes(), MAIN.as_bytes()], &sliced(Some(499_999), Some(500_002)));
    assert!(!self_times(&both).is_empty());
}

#[test]
fn the_tree_of_old_profiles_is_read() {
    let mut node =
        r#"{"id":300,"functionName":"deep","url":"/a.js","lineNumber":7,"columnNumber":3,
        "hitCount":1,"children":[]}"#
            .to_owned();
    for id in (2..300).rev() {
        node = format!(
            r#"{{"id":{id},"functionName":"f","lineNumber":1,"hitCount":0,"children":[{node}]}}"#
        );
    }
    let text = format!(
        r#"{{"typeId":"CPU","head":{{"id":1,"functionName":"(root)","children":[{node}]}},
        "startTime":1,"endTime":1,"samples":[300,2,300],"timestamps":[1000000,1030000,1040000,1060000]}}"#
    );
    let expected = expected(&[("deep", 50_000), ("f", 10_000)]);
    let merged = run(&[text.as_bytes()], &MergeOptions::default());
    assert_eq!(self_times(&merged), expected);
    let loaded = load_uncorrected(&[merged.dir.path().join("0.json")], ReadScope::TIMES);
    assert_eq!(self_times_of(&loaded), expected);
    let frames = loaded.session.frames.list();
    let deep = frames.iter().find(|frame| frame.function_name == "deep").unwrap();
    assert_eq!((deep.line, deep.column, deep.url.as_str()), (6, 2, "/a.js"));
}
