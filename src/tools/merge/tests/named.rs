//! Inputs that are named.

use super::*;

/// Returns the start of each process's profile by its label.
fn starts(trace: &Value) -> Vec<(String, i64)> {
    let frames = ["TracingStartedInBrowser", "FrameCommittedInBrowser"];
    let mut starts: Vec<_> = frames
        .iter()
        .flat_map(|name| named(trace, name))
        .map(|event| {
            let data = &event["args"]["data"];
            let frame = data["frames"].get(0).unwrap_or(data);
            let of_process = |event: &&&Value| event["pid"] == frame["processId"];
            let profile = named(trace, "Profile");
            let profile = profile.iter().find(of_process).unwrap();
            assert_eq!(profile["ts"], profile["args"]["data"]["startTime"]);
            (frame["url"].as_str().unwrap().to_owned(), profile["ts"].as_i64().unwrap())
        })
        .collect();
    starts.sort();
    starts
}

#[test]
fn runs_have_names() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // The same command, in a run of a day before on a machine with another start.
    let earlier = MAIN.replace("52297554", "40000000").replace("\"5a1f\"", "\"77\"");
    let earlier = earlier.replace("00c0ffee00c0ffee", "0000000000000077");
    for (folder, file) in [("base", &earlier), ("head", &MAIN.to_owned())] {
        fs::create_dir(at(folder)).unwrap();
        fs::write(at(folder).join("main.trace.json"), file).unwrap();
    }
    let names = vec![("base".to_owned(), at("base")), ("head".to_owned(), at("head"))];
    let options = MergeOptions { names, ..MergeOptions::default() };
    merge(&[], &at("trace.json"), &options, &MergeProgress::default()).unwrap();
    let text = fs::read_to_string(at("trace.json")).unwrap();
    let found = starts(&serde_json::from_str(&text).unwrap());
    let labels = ["nx.js: run-many [base] (pid 4242)", "nx.js: run-many [head] (pid 4242) #2"];
    assert_eq!(found.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(), labels);
    assert_eq!(found[1].1 - found[0].1, 122_975_540_000);
}

#[test]
fn a_name_is_that_of_any_input() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let foreign = r#"[{"ph":"X","name":"x","cat":"c","pid":5,"tid":6,"ts":9,"dur":100}]"#;
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"a"}}],"startTime":1,
        "endTime":9,"samples":[1],"timeDeltas":[1]}"#;
    fs::write(at("other.json"), foreign).unwrap();
    fs::write(at("p.cpuprofile"), profile).unwrap();
    let names = vec![("one".to_owned(), at("other.json")), ("two".to_owned(), at("p.cpuprofile"))];
    let options = MergeOptions { names, ..MergeOptions::default() };
    merge(&[], &at("trace.json"), &options, &MergeProgress::default()).unwrap();
    let text = fs::read_to_string(at("trace.json")).unwrap();
    assert!(text.contains("other.json: [one] (pid 5)"), "{text}");
    assert!(text.contains("p.cpuprofile: [two] (pid unknown)"), "{text}");
}

#[test]
fn many_processes_with_other_pids_are_one_note() {
    let trace = r#"[{"ph":"X","name":"x","cat":"c","pid":5,"tid":6,"ts":9,"dur":1}]"#;
    for (files, notes) in [(3, 2), (9, 1)] {
        let files = vec![trace.as_bytes(); files];
        let merged = run(&files, &MergeOptions::default());
        let found = &merged.result.as_ref().unwrap().notes;
        let about = found.iter().filter(|note| note.contains("in the trace, because"));
        assert_eq!(about.count(), notes, "{found:?}");
    }
}
