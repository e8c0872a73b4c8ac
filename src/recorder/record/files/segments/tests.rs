use std::cell::Cell;
use std::collections::HashSet;
use std::fs;

use chrono::DateTime;
use serde_json::Value;

use super::*;
use cpu_prof_core::base::settings::name_pattern::{NameFields, NamePattern};
use cpu_prof_core::format::trace::write::event_args::{Flush, TraceEnd};
use cpu_prof_core::format::trace::write::thread::Segment;
use cpu_prof_core::profile::program::{NodeModules, Program};
use cpu_prof_core::profile::window::call_tree::CallTree;
use cpu_prof_core::testing::windows::made::{self, START_US, frame};

const SECOND: i64 = 1_000_000;

/// A recording of made windows, as the recording writer writes it.
struct Recorder {
    dir: tempfile::TempDir,
    segments: TraceSegments,
    tree: CallTree,
    events: Events,
    max_size: Option<u64>,
}

thread_local! {
    static SEQUENCE: Cell<u32> = const { Cell::new(1) };
}

fn next_sequence() -> u32 {
    SEQUENCE.set(SEQUENCE.get() + 1);
    SEQUENCE.get()
}

impl Recorder {
    fn new(variables: &[(&str, &str)], earlier: Vec<CompleteSegment>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
        };
        let config = Config::read(|_| None, env, dir.path(), &[]).unwrap();
        let started = DateTime::UNIX_EPOCH.fixed_offset();
        let fields = NameFields {
            started,
            pid: 1,
            thread_id: 3,
            sequence: next_sequence(),
            label: String::new(),
        };
        let name = NamePattern::parse("out").unwrap();
        let mut names = FileNames::new(name, fields, next_sequence);
        let info = ThreadInfo {
            program: Program { pid: 1, ..Program::default() },
            thread_id: 3,
            os_thread_id: None,
            node_modules: NodeModules::Foldable,
            shows_bare: false,
            finds_leaves: false,
            interval_us: 1000,
            started: String::new(),
            cpu: None,
            segment: Some(Segment { recording: 7, segment: 1 }),
            recording_label: None,
            start: None,
        };
        let segments = TraceSegments::create(&config, &mut names, info, START_US, earlier).unwrap();
        let max_size = config.history.max_size;
        Self { dir, segments, tree: CallTree::new(1000), events: Events::default(), max_size }
    }

    /// Writes a window with its samples at these times after the start.
    fn write(&mut self, times_us: &[i64], end_us: i64) {
        let samples: Vec<_> = times_us.iter().map(|time| (*time, 1)).collect();
        let name = format!("f{end_us}").repeat(40);
        let nodes = [(0, frame("(root)", "", 0)), (0, frame(&name, "/a.js", 1))];
        let window = Window { end_us: START_US + end_us, ..made::window(&nodes, &samples) };
        if let Some(start_us) = self.segments.next_start(&window) {
            self.tree.clear();
            let end = TraceEnd::default();
            self.segments.begin_next(&mut self.events, start_us, end, |_| {}).unwrap();
        }
        let placed = self.tree.place(&window);
        let flush = Flush { pause_us: Some(1), ..Flush::default() };
        let encode = |trace: &mut ThreadTrace, events: &mut Events| {
            trace.window(events, &window, &placed, flush);
        };
        self.segments.append(&mut self.events, encode).unwrap();
        let nodes = placed.new_nodes.len() as u64;
        self.segments.contents.add(SegmentContents { samples: times_us.len() as u64, nodes });
        if let Some(max_size) = self.max_size {
            assert!(self.bytes() <= max_size, "{} bytes are on the disk", self.bytes());
        }
    }

    fn bytes(&self) -> u64 {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }

    fn read(&self) -> Vec<Value> {
        let read = |path: &PathBuf| serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        self.segments.paths().iter().map(read).collect()
    }
}

fn events<'a>(trace: &'a Value, name: &str) -> Vec<&'a Value> {
    let events = trace["traceEvents"].as_array().unwrap();
    events.iter().filter(|event| event["name"] == name).collect()
}

/// Returns the times of a trace's samples.
fn times(trace: &Value) -> Vec<i64> {
    let mut at = events(trace, "Profile")[0]["ts"].as_i64().unwrap();
    let chunks = events(trace, "ProfileChunk");
    let deltas = chunks.iter().flat_map(|chunk| chunk["args"]["data"]["timeDeltas"].as_array());
    deltas
        .flatten()
        .map(|delta| {
            at += delta.as_i64().unwrap();
            at - START_US
        })
        .collect()
}

#[test]
fn a_segment_that_was_removed_is_whole_again() {
    let mut recorder = Recorder::new(&[("CPU_PROF_KEEP", "4s")], Vec::new());
    let folder = recorder.dir.path().to_owned();
    recorder.write(&[0, 1000], 2000);
    fs::remove_dir_all(&folder).unwrap();
    // The removal can be under way at the first look.
    recorder.segments.keep_file(false).unwrap();
    assert!(!folder.exists());
    recorder.write(&[3000], 4000);
    recorder.segments.keep_file(false).unwrap();
    recorder.write(&[5000], 6000);
    assert_eq!(recorder.read().iter().map(times).collect::<Vec<_>>(), [[0, 1000, 3000, 5000]]);

    // The next segment begins right after the removal.
    fs::remove_dir_all(&folder).unwrap();
    recorder.write(&[2 * SECOND], 2 * SECOND + 1);
    let segments: Vec<_> = recorder.read().iter().map(times).collect();
    assert_eq!(segments, [vec![0, 1000, 3000, 5000], vec![2 * SECOND]]);
}

#[test]
fn a_segment_goes_on_up_to_the_limit_if_the_next_cannot_be_created() {
    let mut recorder = Recorder::new(&[("CPU_PROF_MAX_SIZE", "64K")], Vec::new());
    recorder.write(&[0], 1000);
    let folder = recorder.dir.path().join("moved");
    recorder.segments.dir = folder.clone();
    fs::write(&folder, "mine").unwrap();
    let begin = |recorder: &mut Recorder| {
        let end = TraceEnd::default();
        recorder.segments.begin_next(&mut Events::default(), START_US + 2000, end, |_| {})
    };
    let name = recorder.segments.names.current();
    for _ in 0..2 {
        let error = begin(&mut recorder).unwrap_err();
        assert!(error.can_pass(), "{}", error.line());
    }
    let next = recorder.segments.names.current();
    assert_ne!(next, name);
    let fill = |_: &mut ThreadTrace, events: &mut Events| {
        events.push_encoded(format!("{{}}{}", " ".repeat(64 << 10)).as_bytes());
    };
    recorder.segments.append(&mut Events::default(), fill).unwrap();
    assert!(!begin(&mut recorder).unwrap_err().can_pass());
    assert!(events(&recorder.read()[0], "trace.end").is_empty());

    // The folder can be written again.
    fs::remove_file(&folder).unwrap();
    begin(&mut recorder).unwrap();
    assert_eq!(recorder.segments.names.current(), next);
}

#[test]
fn the_newest_segments_stay_within_the_size() {
    let mut recorder = Recorder::new(&[("CPU_PROF_MAX_SIZE", "64K")], Vec::new());
    let rename = |trace: &mut ThreadTrace, events: &mut Events| {
        trace.rename_worker(events, "crunch.js");
    };
    recorder.segments.append(&mut Events::default(), rename).unwrap();
    let all: Vec<i64> = (0..600).map(|n| n * 1000 + 7).collect();
    for window in all.chunks(2) {
        recorder.write(window, window[1] + 900);
    }
    assert!(recorder.bytes() > 40 << 10, "only {} bytes are left", recorder.bytes());
    let traces = recorder.read();
    assert!(traces.len() >= 3);
    // No sample is lost or doubled.
    let kept: Vec<i64> = traces.iter().flat_map(times).collect();
    assert_eq!(kept, all[all.len() - kept.len()..]);
    for pair in traces.windows(2) {
        let (end, start) = (events(&pair[0], "trace.end"), events(&pair[1], "Profile"));
        assert_eq!(end[0]["ts"], start[0]["ts"]);
        assert_eq!(end.len(), 1);
        let number = |trace: &Value| trace["metadata"]["cpu-prof"]["segment"].as_u64().unwrap();
        assert_eq!(number(&pair[0]) + 1, number(&pair[1]));
    }
    for trace in &traces {
        assert_eq!(trace["metadata"]["cpu-prof"]["recording"], 7);
        let name = &events(trace, "thread_name").pop().unwrap()["args"]["name"];
        assert!(name.as_str().unwrap().ends_with("worker 3: crunch.js"), "{name}");
        // Each announces its own nodes.
        let chunks = events(trace, "ProfileChunk");
        let ids: HashSet<u64> = chunks
            .iter()
            .flat_map(|chunk| chunk["args"]["data"]["cpuProfile"]["nodes"].as_array())
            .flatten()
            .map(|node| node["id"].as_u64().unwrap())
            .collect();
        assert!(ids.contains(&1));
    }
    assert_eq!(recorder.segments.kept_contents().samples as usize, kept.len());
}

#[test]
fn segments_past_the_time_are_removed() {
    let mut recorder = Recorder::new(&[("CPU_PROF_KEEP", "8s")], Vec::new());
    let all: Vec<i64> = (1..40).map(|n| n * SECOND).collect();
    for time in &all {
        recorder.write(&[*time], *time + SECOND / 2);
    }
    let kept: Vec<i64> = recorder.read().iter().flat_map(times).collect();
    assert_eq!(kept, all[all.len() - kept.len()..]);
    let span = all[all.len() - 1] - kept[0];
    assert!((8 * SECOND..=10 * SECOND).contains(&span), "{span} microseconds are kept");
}

#[test]
fn a_segment_starts_with_a_sample_unless_it_grows_too_large() {
    let mut recorder = Recorder::new(&[("CPU_PROF_MAX_SIZE", "64K")], Vec::new());
    let mut windows = 0;
    let mut count = |recorder: &mut Recorder, bytes: u64| {
        while recorder.segments.output.length < bytes {
            windows += 1;
            recorder.write(&[], windows * 1000);
        }
    };
    count(&mut recorder, 17 << 10);
    assert_eq!(recorder.segments.paths().len(), 1);
    count(&mut recorder, 32 << 10);
    recorder.write(&[], 100 * SECOND);
    assert_eq!(recorder.segments.paths().len(), 2);
}

#[test]
fn without_limits_there_is_one_file() {
    let mut recorder = Recorder::new(&[], Vec::new());
    for n in 1..100 {
        recorder.write(&[n * 1000 * SECOND], n * 1000 * SECOND + 5);
    }
    assert_eq!(recorder.segments.paths().len(), 1);
    assert!(recorder.segments.into_complete().is_empty());
}

#[test]
fn a_file_in_the_place_of_a_segment_is_left_alone() {
    let mut recorder = Recorder::new(&[("CPU_PROF_KEEP", "4s")], Vec::new());
    recorder.write(&[SECOND], 2 * SECOND);
    recorder.write(&[3 * SECOND], 4 * SECOND);
    let first = recorder.segments.paths()[0].clone();
    fs::remove_file(&first).unwrap();
    fs::write(&first, "mine").unwrap();
    for n in 5..30 {
        recorder.write(&[n * SECOND], n * SECOND + 5);
    }
    assert_eq!(fs::read(&first).unwrap(), b"mine");
    assert!(!recorder.segments.paths().contains(&first));
}

#[test]
fn a_continued_recording_counts_with_the_limit() {
    let limit = [("CPU_PROF_KEEP", "4s")];
    let mut first = Recorder::new(&limit, Vec::new());
    for n in 1..4 {
        first.write(&[n * SECOND], n * SECOND + 5);
    }
    let paths = first.segments.paths();
    let mut second = Recorder::new(&limit, first.segments.into_complete());
    assert_eq!(second.segments.kept_contents().samples, 3);
    assert_eq!(second.segments.paths()[..paths.len()], paths);
    for n in 4..20 {
        second.write(&[n * SECOND], n * SECOND + 5);
    }
    assert!(paths.iter().all(|path| !path.exists()));
}
