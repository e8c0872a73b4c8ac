use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;

use super::convert::ConvertError;
use crate::read::load::load_uncorrected;
use crate::read::selection::Selection;
use cpu_prof_core::format::cpuprofile::CpuProfile;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_core::profile::window::Window;
use cpu_prof_core::profile::window::call_tree::CallTree;
use cpu_prof_core::testing::windows::any;
use cpu_prof_core::testing::windows::made::START_US;
use cpu_prof_session::model::Process;

use cpu_prof_core::testing::traces::MAIN;
use cpu_prof_core::testing::traces::WORKER;

/// A folder with these files in it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A frame of a stack with its place, and the reason why V8 does not optimize the function.
type StackFrame = (String, String, u32, i32, i32, Option<String>);

/// Every sample of a file: its time, its stack from the top, and its line; and the start and end.
type Samples = (i64, i64, Vec<(i64, Vec<StackFrame>, u32)>);

fn samples(file: &Path) -> Samples {
    let loaded = load_uncorrected(&[file.to_owned()], ReadScope::SAMPLES);
    assert!(loaded.failed.is_empty() && loaded.notes.is_empty(), "{loaded:?}");
    let thread = &loaded.session.processes[0].threads[0];
    let [profile] = thread.profiles.as_slice() else { panic!("{thread:?}") };
    let stack = |node: u32| {
        let mut stack = Vec::new();
        let mut at = profile.nodes.get(node as usize);
        let mut index = node;
        while let Some(node) = at {
            let frame = &loaded.session.frames.list()[node.frame as usize];
            let (name, url) = (frame.function_name.clone(), frame.url.clone());
            let deopt = profile.deopts.iter().find(|(node, _)| *node == index);
            let deopt = deopt.map(|(_, reason)| reason.clone());
            stack.push((name, url, frame.script_id, frame.line, frame.column, deopt));
            index = node.parent;
            at = profile.nodes.get(node.parent as usize);
        }
        stack
    };
    let samples = profile
        .samples
        .iter()
        .map(|sample| (sample.time_us, stack(sample.node), sample.position.line));
    (profile.start_us, profile.end_us, samples.collect())
}

fn convert(input: &Path, output: &Path) -> Result<Vec<PathBuf>, ConvertError> {
    crate::convert::convert::convert(&[input.to_owned()], output, &Selection::default())
        .map(|result| result.files)
}

#[test]
fn a_recording_converts_there_and_back() {
    let dir = folder(&[("a.trace.json", MAIN)]);
    let at = |name: &str| dir.path().join(name);
    let written = convert(&at("a.trace.json"), &at("b.cpuprofile")).unwrap();
    assert_eq!(written, [at("b.cpuprofile")]);
    convert(&at("b.cpuprofile"), &at("c.json.gz")).unwrap();
    convert(&at("c.json.gz"), &at("d.cpuprofile")).unwrap();
    let before = samples(&at("a.trace.json"));
    assert!(before.2.len() > 3);
    assert_eq!(before.2.iter().map(|(_, _, line)| *line).collect::<Vec<_>>(), [14, 31, 0, 15]);
    assert_eq!(samples(&at("b.cpuprofile")), before);
    assert_eq!(samples(&at("c.json.gz")), before);
    assert_eq!(fs::read(at("b.cpuprofile")).unwrap(), fs::read(at("d.cpuprofile")).unwrap());
    let facts = |name: &str| {
        let process = load_uncorrected(&[at(name)], ReadScope::TIMES).session.processes.remove(0);
        let Process { pid, command, url_label, cwd, parent_pid, node, identity, threads, .. } =
            process;
        let threads: Vec<_> = threads.into_iter().map(|thread| (thread.id, thread.name)).collect();
        (pid, command, url_label, cwd, parent_pid, node, identity, threads)
    };
    assert!(facts("a.trace.json").6.is_some());
    for name in ["b.cpuprofile", "c.json.gz"] {
        assert_eq!(facts(name), facts("a.trace.json"), "{name}");
    }
}

#[test]
fn a_version_in_a_name_is_not_a_process() {
    const PROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"a"}}],"startTime":1,
        "endTime":9,"samples":[1],"timeDeltas":[1]}"#;
    let names = ["react-18.2.0.cpuprofile", "react-18.2.1.cpuprofile", "app.2024.11.cpuprofile"];
    let dir = folder(&names.map(|name| (name, PROFILE)));
    let at = |name: &str| dir.path().join(name);
    let loaded = |paths: &[PathBuf]| load_uncorrected(paths, ReadScope::TIMES).session.processes;
    let found: Vec<_> = loaded(&names.map(at)).into_iter().map(|one| (one.pid, one.name)).collect();
    assert_eq!(found, names.map(|name| (0, name.to_owned())));
    let written =
        crate::convert::convert::convert(&names.map(at), &at("all.json"), &Selection::default());
    let merged = loaded(&written.unwrap().files);
    assert_eq!(merged.len(), 3);
    let found: Vec<_> = merged.iter().map(|one| (one.pid, one.label())).collect();
    assert_eq!(found, names.map(|name| (0, format!("{name} (pid unknown)"))));
    assert!(merged.iter().all(|process| process.threads.len() == 1 && process.threads[0].id == 0));
}

#[test]
fn each_thread_gets_a_file() {
    let both =
        format!("{},\n{}", MAIN.strip_suffix("\n]}").unwrap(), WORKER.split_once("[\n").unwrap().1);
    let both = both.replacen("\"threadId\"", "\"x\"", 1);
    let dir = folder(&[("both.json", &both)]);
    let written = convert(&dir.path().join("both.json"), &dir.path().join("x.cpuprofile")).unwrap();
    let expected = ["x.4242.0.cpuprofile", "x.4242.3.cpuprofile"];
    assert_eq!(written, expected.map(|name| dir.path().join(name)));
    assert_eq!(names(dir.path()), ["both.json", expected[0], expected[1]]);
    let loaded = load_uncorrected(&written, ReadScope::TIMES);
    let [process] = loaded.session.processes.as_slice() else { panic!("{loaded:?}") };
    assert_eq!((process.pid, process.threads.len()), (4242, 2));
}

#[test]
fn a_failed_conversion_gives_its_reason_and_leaves_nothing() {
    let dir =
        folder(&[("a.trace.json", MAIN), ("b.json", "{}"), ("c.json", "no"), ("d.json", "[]")]);
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("folder.collapsed")).unwrap();
    for (input, output, reason) in [
        ("missing", "x.txt", "does not exist"),
        ("b.json", "x.txt", "no CPU profile"),
        ("c.json", "x.txt", "not a JSON object"),
        ("d.json", "x.txt", "no CPU profile"),
        ("a.trace.json", "x", "no ending that convert knows"),
        ("a.trace.json", "b.json/x.txt", "could not make the folder of"),
        ("a.trace.json", "folder.collapsed", "could not write"),
    ] {
        let before = names(dir.path());
        let error = convert(&at(input), &at(output)).unwrap_err().to_string();
        assert!(error.contains(reason), "{input} {output}: {error}");
        assert_eq!(names(dir.path()), before, "{input} {output}");
    }
}

/// Returns the `.cpuprofile` that a recording of these windows would have written.
fn cpuprofile(windows: &[Window]) -> Vec<u8> {
    let (mut tree, mut profile) = (CallTree::new(usize::MAX), CpuProfile::new(START_US, None));
    for window in windows {
        profile.window(window, &tree.place(window));
    }
    let mut out = Vec::new();
    profile.write(&mut out, START_US + 3_000_000).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_recording_converts_there_and_back(windows in any::windows(START_US)) {
        let dir = folder(&[]);
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a.cpuprofile"), cpuprofile(&windows)).unwrap();
        convert(&at("a.cpuprofile"), &at("b.json")).unwrap();
        convert(&at("b.json"), &at("c.cpuprofile")).unwrap();
        let before = samples(&at("a.cpuprofile"));
        prop_assert_eq!(&samples(&at("b.json")), &before);
        prop_assert_eq!(&samples(&at("c.cpuprofile")), &before);

        for name in ["d.txt", "e.speedscope.json"] {
            convert(&at("b.json"), &at(name)).unwrap();
        }
        let stacks = fs::read_to_string(at("d.txt")).unwrap();
        let collapsed: i64 = stacks
            .lines()
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap())
            .sum();
        let speedscope: Value =
            serde_json::from_slice(&fs::read(at("e.speedscope.json")).unwrap()).unwrap();
        let profile = &speedscope["profiles"][0];
        let weights = profile["weights"].as_array().unwrap();
        let weight: i64 = weights.iter().map(|weight| weight.as_i64().unwrap()).sum();
        let lasted = before.2.first().map_or(0, |(first, ..)| before.1 - first);
        let ends = before.2.iter().skip(1).map(|(time, ..)| *time).chain([before.1]);
        let of_root: i64 = before
            .2
            .iter()
            .zip(ends)
            .filter(|((_, stack, _), _)| stack.is_empty())
            .map(|((time, ..), end)| end - time)
            .sum();
        prop_assert_eq!(collapsed, lasted - of_root);
        prop_assert_eq!(weight, lasted);
        prop_assert_eq!(profile["samples"].as_array().unwrap().len(), weights.len());
    }
}
