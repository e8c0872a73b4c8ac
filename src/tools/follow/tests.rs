use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::appended::AppendedText;
use super::follower::{Follower, Look, LookTime};
use super::view::{RowKind, view};
use crate::read::filter::Filter;
use crate::read::label_filter::LabelFilter;
use crate::read::selection::Selection;
use crate::read::slice::SliceLimits;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_core::testing::traces::{MAIN, MERGED, WORKER};

const START_US: i64 = 522_975_545_427;
/// The process id in a file whose process is gone: larger than any.
const GONE: &str = "\"pid\":2000000000";
const AT: &str = r#""pid":4242,"tid":0"#;
/// Count of the label sets, with that without labels.
const LABEL_SETS: u64 = 4;
const KINDS: [&str; 5] = ["function", "file", "package", "label", "label:route"];
const LABELS: [&str; 4] = ["", "route=/a", "tenant=t1", "route="];

/// A recording that grows as the recorder lets it grow: the last events are replaced by the next write.
struct GrowingFile {
    path: PathBuf,
    /// Events that stay.
    text: String,
    now_us: i64,
    last_sample_us: i64,
    cpu_us: i64,
    nodes: u64,
    has_label_sets: bool,
}

impl GrowingFile {
    fn new(dir: &Path) -> Self {
        let (head, _) = MAIN
            .split_once(
                "{\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"name\":\"ProfileChunk\"",
            )
            .unwrap();
        let text = head.trim_end_matches(",\n").to_owned();
        let path = dir.join("a.trace.json");
        let (now_us, last_sample_us) = (START_US, START_US);
        Self { path, text, now_us, last_sample_us, cpu_us: 7000, nodes: 0, has_label_sets: false }
    }

    fn write(&self, replaced: &[String]) {
        let events: String = replaced.iter().map(|event| format!(",\n{event}")).collect();
        fs::write(&self.path, format!("{}{events}\n]}}", self.text)).unwrap();
    }

    fn push(&mut self, event: &str) {
        self.text.push_str(",\n");
        self.text.push_str(event);
    }

    fn counters(&self) -> String {
        let switches = (self.now_us - START_US) / 9000;
        format!(
            r#""cpuUs":{},"waitUs":900,"switches":{switches},"processCpuUs":{}"#,
            self.cpu_us, self.cpu_us
        )
    }

    fn flush(&self, first: &str) -> String {
        let (now, counters) = (self.now_us, self.counters());
        format!(
            r#"{{"cat":"disabled-by-default-devtools.timeline","name":"thread.flush","ph":"I","s":"t",{AT},"ts":{now},"args":{{"data":{{{first}{counters}}}}}}}"#
        )
    }

    fn chunk(&self, nodes: &[String], samples: &[(u64, i64)]) -> String {
        let ids: Vec<_> = samples.iter().map(|(id, _)| id.to_string()).collect();
        let deltas: Vec<_> = samples.iter().map(|(_, us)| us.to_string()).collect();
        let nodes = match nodes.is_empty() {
            true => String::new(),
            false => format!("\"nodes\":[{}],", nodes.join(",")),
        };
        let labels: Vec<_> = samples.iter().map(|(id, _)| (id % LABEL_SETS).to_string()).collect();
        // The recorder announces a set once.
        let sets = match self.has_label_sets {
            true => "",
            false => {
                r#","labelSets":{"1":{"route":"/a","tenant":"t1"},"2":{"route":"/b"},"3":{"tenant":"t1"}}"#
            }
        };
        let labels = format!(r#","labels":[{}]{sets}"#, labels.join(","));
        let (ids, deltas, ts) = (ids.join(","), deltas.join(","), self.last_sample_us);
        format!(
            r#"{{"cat":"disabled-by-default-v8.cpu_profiler","name":"ProfileChunk","ph":"P","id":"0x1092000000",{AT},"ts":{ts},"args":{{"data":{{"cpuProfile":{{{nodes}"samples":[{ids}]}},"timeDeltas":[{deltas}]{labels}}}}}}}"#
        )
    }

    /// Writes a window. Each sample is of a node, of which new ones are announced, and lasts some time.
    fn window(&mut self, samples: &[(u64, i64)], runs: bool) {
        let mut nodes = Vec::new();
        let mut known = Vec::new();
        for (node, us) in samples {
            let id = 1 + node % (self.nodes + 3);
            for new in self.nodes + 1..=id {
                let frame = |name: &str, script: u32, url: &str| {
                    format!(
                        r#""callFrame":{{"functionName":"{name}","scriptId":"{script}","url":"{url}","lineNumber":1,"columnNumber":1}}"#
                    )
                };
                nodes.push(match new {
                    1 => format!("{{\"id\":1,{}}}", frame("(root)", 0, "")),
                    2 => format!("{{\"id\":2,\"parent\":1,{}}}", frame("(idle)", 0, "")),
                    _ => format!(
                        "{{\"id\":{new},\"parent\":{},{}}}",
                        1 + new % 7 * (new - 2) / 7,
                        frame(&format!("f{}", new % 9), 17, "file:///r/node_modules/a/i.js")
                    ),
                });
            }
            self.nodes = self.nodes.max(id);
            self.last_sample_us += us;
            known.push((id, *us));
        }
        let spent = self.last_sample_us.max(self.now_us) - self.now_us;
        self.now_us = self.last_sample_us.max(self.now_us) + 300;
        self.cpu_us += if runs { spent } else { spent / 3 };
        let chunk = self.chunk(&nodes, &known);
        self.has_label_sets = true;
        self.push(&chunk);
        let flush = self.flush("\"pauseUs\":40,");
        self.push(&flush);
        self.write(&[]);
    }

    /// Writes what a waiting thread has: the next write replaces it.
    fn wait(&mut self, us: i64) {
        self.now_us += us;
        let idle = self.chunk(&[], &[(2, 700)]);
        let task = format!(
            r#"{{"cat":"x","name":"RunTask","ph":"X","dur":3,{AT},"ts":{},"args":{{}}}}"#,
            self.now_us - 3
        );
        self.write(&[idle, self.flush(""), task]);
    }

    fn end(&mut self) {
        let (now, counters) = (self.now_us, self.counters());
        let end = format!(
            r#"{{"cat":"disabled-by-default-devtools.timeline","name":"trace.end","ph":"I","s":"t",{AT},"ts":{now},"args":{{"data":{{{counters}}}}}}}"#
        );
        self.push(&end);
        self.write(&[]);
    }
}

/// Returns what a look shows, without the times that only a follower knows.
fn shown(look: &Look, kind: &RowKind) -> Value {
    let mut shown: Value = serde_json::from_str(&view(look, kind, 50).unwrap()).unwrap();
    for key in ["silentMs", "growing", "recordings"] {
        shown.as_object_mut().unwrap().remove(key);
    }
    // Rows with equal times have no order.
    for list in ["functions", "files", "packages", "labels"] {
        let rows = shown[list].as_array_mut().unwrap();
        rows.sort_by_cached_key(Value::to_string);
    }
    shown
}

/// Returns what a reading of the whole files shows of the same time; none if the filter leaves nothing.
fn read_again(
    paths: &[PathBuf],
    look: &Look,
    kind: &RowKind,
    selection: &Selection,
) -> Option<Value> {
    let (from_us, to_us) = (look.from_us - look.start_us, look.to_us - look.start_us);
    let slice = SliceLimits { from_us: Some(from_us), to_us: Some(to_us) };
    let selection = Selection { slice, ..selection.clone() };
    let loaded = selection.load(paths, ReadScope::LINES).ok()?;
    Some(shown(&Look { loaded, ..*look }, kind))
}

fn selection() -> Selection {
    Selection { source_maps: true, ..Selection::default() }
}

/// Returns a selection of samples with a label; of all samples for an empty text.
fn labelled(label: &str) -> Selection {
    let labels: Vec<String> =
        [label].into_iter().filter(|label| !label.is_empty()).map(str::to_owned).collect();
    let filter = Filter::default().with_labels(LabelFilter::new(&labels));
    Selection { filter, ..selection() }
}

#[derive(Debug, Clone)]
enum Step {
    Window(Vec<(u64, i64)>, bool),
    Wait(i64),
    Event,
    Look(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (vec((0_u64..40, 1_i64..90_000), 1..12), any::<bool>()).prop_map(|(samples, runs)| Step::Window(samples, runs)),
        2 => (1_i64..2_000_000).prop_map(Step::Wait),
        1 => Just(Step::Event),
        4 => (1_i64..4_000_000).prop_map(Step::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn a_look_shows_what_a_reading_of_the_whole_file_shows(steps in vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let mut file = GrowingFile::new(dir.path());
        let mut follower = Follower::default();
        let paths = [dir.path().to_owned()];
        for (number, step) in steps.into_iter().chain([Step::Look(1_500_000)]).enumerate() {
            match step {
                Step::Window(samples, runs) => file.window(&samples, runs),
                Step::Wait(us) if file.nodes >= 2 => file.wait(us),
                Step::Event | Step::Wait(_) => file.push(r#"{"cat":"x","name":"mine","ph":"I","s":"t","pid":4242,"tid":0,"ts":522975545428,"args":{}}"#),
                Step::Look(length_us) => {
                    let kind = RowKind::of(KINDS[number % KINDS.len()]).unwrap();
                    let selection = labelled(LABELS[number % LABELS.len()]);
                    let look = follower.look(&paths, LookTime::Last(length_us), &selection);
                    if look.to_us > look.start_us {
                        let again = read_again(&paths, &look, &kind, &selection);
                        let is_empty = look.loaded.session.processes.is_empty();
                        let shown = (!is_empty).then(|| shown(&look, &kind));
                        prop_assert_eq!(shown, again);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn windows_one_after_the_other_show_what_a_reading_of_the_whole_file_shows(
        windows in vec((vec((0_u64..40, 1_i64..90_000), 1..12), 1_i64..2_000_000), 1..15),
        length_us in 200_000_i64..3_000_000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut file = GrowingFile::new(dir.path());
        for (mut samples, wait_us) in windows {
            // Samples go on while the thread waits.
            samples[0].1 += file.now_us - file.last_sample_us;
            file.window(&samples, true);
            file.wait(wait_us);
        }
        let paths = [dir.path().to_owned()];
        let mut follower = Follower::default();
        let kind = RowKind::Function;
        let mut from_us = START_US;
        while from_us < file.now_us {
            let to_us = from_us + length_us;
            let look = follower.look(&paths, LookTime::Slice(from_us, to_us), &selection());
            prop_assert_eq!(look.start_us, START_US);
            let again = read_again(&paths, &look, &kind, &selection());
            let is_empty = look.loaded.session.processes.is_empty();
            let shown = (!is_empty).then(|| shown(&look, &kind));
            prop_assert_eq!(shown, again);
            from_us = to_us;
        }
    }
}

/// Returns the count of processes and the total of the samples that a look shows.
fn seen(follower: &mut Follower, paths: &[PathBuf]) -> (usize, u64) {
    let look = follower.look(paths, LookTime::Last(60_000_000), &selection());
    let threads = look.loaded.session.processes.iter().flat_map(|process| &process.threads);
    let samples = threads.flat_map(|thread| &thread.profiles).map(|profile| profile.sample_count);
    (look.loaded.session.processes.len(), samples.sum())
}

#[test]
fn what_is_settled_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = GrowingFile::new(dir.path());
    file.window(&[(2, 1000)], true);
    let open = || fs::File::open(dir.path().join("a.trace.json")).unwrap();
    let head = file.text[..file.text.find("{\"cat\":\"disabled-by-default-v8").unwrap()].to_owned();
    let mut appended = AppendedText::after(&open(), head.as_bytes(), START_US).unwrap();
    let mut settled = head.into_bytes();
    for round in 0..20 {
        if round % 3 == 0 {
            file.window(&[(3, 1000)], true);
        }
        file.wait(1000);
        let mut lines = VecDeque::new();
        let mut opened = appended.open(&file.path).unwrap();
        while appended.piece(&mut opened, &mut lines).unwrap() {}
        settled.extend(lines.into_iter().flat_map(|lines| lines.text));
        let now = fs::read(&file.path).unwrap();
        assert_eq!([&settled[..], &appended.tail].concat(), now);
        assert!(appended.tail.len() < 2000, "{}", appended.tail.len());
    }
}

#[test]
fn files_come_end_change_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [dir.path().to_owned()];
    let mut follower = Follower::default();
    assert_eq!(seen(&mut follower, &paths), (0, 0));

    let mut file = GrowingFile::new(dir.path());
    fs::write(&file.path, "").unwrap();
    assert_eq!(seen(&mut follower, &paths), (0, 0));
    file.write(&[]);
    assert_eq!(seen(&mut follower, &paths), (0, 0));
    file.window(&[(2, 1000), (3, 1000)], true);
    assert_eq!(seen(&mut follower, &paths), (1, 2));
    fs::write(dir.path().join("b.trace.json"), WORKER).unwrap();
    let with_worker = seen(&mut follower, &paths);
    assert!(with_worker.0 == 1 && with_worker.1 > 2, "{with_worker:?}");
    fs::remove_file(dir.path().join("b.trace.json")).unwrap();
    assert_eq!(seen(&mut follower, &paths), (1, 2));

    // Another file takes the place of one that was read, with the same length.
    let other = dir.path().join("other");
    let text = fs::read_to_string(&file.path).unwrap();
    fs::write(&other, text.replace("\"samples\":[3,4]", "\"samples\":[2,4]")).unwrap();
    fs::rename(&other, &file.path).unwrap();
    assert_eq!(seen(&mut follower, &paths), (1, 2));
    file.end();
    assert_eq!(seen(&mut follower, &paths), (1, 2));
}

#[test]
fn a_file_that_is_written_anew_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [dir.path().to_owned()];
    let mut follower = Follower::default();
    let mut file = GrowingFile::new(dir.path());
    for _ in 0..50 {
        file.window(&[(2, 1000), (3, 1000)], true);
    }
    assert_eq!(seen(&mut follower, &paths), (1, 100));
    // Shorter, then longer than before.
    for (windows, samples) in [(3, 6), (90, 180)] {
        let mut file = GrowingFile::new(dir.path());
        for _ in 0..windows {
            file.window(&[(3, 500), (2, 400)], true);
        }
        assert_eq!(seen(&mut follower, &paths), (1, samples));
    }
}

#[test]
fn damage_hides_no_more_than_itself() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [dir.path().to_owned()];
    let mut file = GrowingFile::new(dir.path());
    file.window(&[(2, 1000), (3, 1000)], true);
    let mut follower = Follower::default();
    assert_eq!(seen(&mut follower, &paths), (1, 2));
    // A page that a network drive shows later than the next.
    let sound = file.text.clone();
    file.window(&[(2, 1000)], true);
    let whole = fs::read(&file.path).unwrap();
    let mut torn = whole.clone();
    torn[sound.len() + 5..sound.len() + 30].fill(0);
    fs::write(&file.path, &torn).unwrap();
    assert_eq!(seen(&mut follower, &paths), (1, 2));
    fs::write(&file.path, &whole).unwrap();
    assert_eq!(seen(&mut follower, &paths), (1, 3));
    // The end of a write that is not there so far.
    file.window(&[(2, 1000)], true);
    let whole = fs::read(&file.path).unwrap();
    fs::write(&file.path, &whole[..whole.len() - 200]).unwrap();
    let cut = seen(&mut follower, &paths).1;
    assert!((3..=4).contains(&cut), "{cut}");
    fs::write(&file.path, &whole).unwrap();
    assert_eq!(seen(&mut follower, &paths), (1, 4));
}

#[test]
fn a_long_time_without_a_window_is_not_read_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [dir.path().to_owned()];
    let mut file = GrowingFile::new(dir.path());
    file.window(&[(2, 1000), (3, 1000)], true);
    let mut follower = Follower::default();
    for _ in 0..8 {
        for number in 0..400 {
            file.push(&format!(
                r#"{{"cat":"x","name":"{}","ph":"I","s":"t",{AT},"ts":{},"args":{{}}}}"#,
                "n".repeat(300),
                file.now_us + number
            ));
        }
        file.wait(1000);
        let look = follower.look(&paths, LookTime::Last(60_000_000), &selection());
        let again = read_again(&paths, &look, &RowKind::File, &selection());
        assert_eq!(Some(shown(&look, &RowKind::File)), again);
    }
    file.window(&[(3, 1000)], true);
    assert_eq!(seen(&mut follower, &paths), (1, 3));
}

#[test]
fn what_cannot_be_followed_is_told_if_it_was_named() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let merged = write("merged.json", MERGED);
    let other = write("other.json", "[{\"ph\":\"X\"}]");
    let profile = write("a.cpuprofile", r#"{"nodes":[]}"#);
    let broken = write("broken.trace.json", &MAIN.replace("\"threadId\":0", "\"threadId\":x"));
    let gone = dir.path().join("gone.json");
    write("unfinished.trace.json", &MAIN[..300].replace("\"pid\":4242", GONE));
    write("good.trace.json", MAIN);
    let mut follower = Follower::default();
    let folder = [dir.path().to_owned()];
    for _ in 0..2 {
        let look = follower.look(&folder, LookTime::Last(60_000_000), &selection());
        assert_eq!((look.recordings, look.loaded.failed.len()), (2, 0));
        assert_eq!(look.growing, 0);
    }
    let named = [merged, other, profile, broken, gone];
    let look = follower.look(&named, LookTime::Last(60_000_000), &selection());
    assert_eq!((look.recordings, look.loaded.failed.len()), (0, 5));
}

#[test]
fn recordings_of_one_clock_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("a.trace.json"), MAIN.replace("\"boot\":\"5a1f\"", "\"boot\":\"77\"")).unwrap();
    fs::write(path("b.trace.json"), WORKER).unwrap();
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let old = fs::File::options().write(true).open(path("a.trace.json")).unwrap();
    old.set_modified(before).unwrap();
    let mut follower = Follower::default();
    let look = follower.look(&[dir.path().to_owned()], LookTime::Last(60_000_000), &selection());
    assert_eq!(look.recordings, 1);
    assert!(look.silent.as_secs() < 30, "{:?}", look.silent);
    assert_eq!(look.loaded.notes.len(), 1, "{:?}", look.loaded.notes);
}

#[test]
fn a_file_without_events_can_grow_while_its_process_lives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.trace.json");
    let paths = [dir.path().to_owned()];
    let mut follower = Follower::default();
    let mut counts = |text: &str| {
        fs::write(&path, text).unwrap();
        let look = follower.look(&paths, LookTime::Last(1_000_000), &selection());
        (look.recordings, look.growing)
    };
    let (head, _) = MAIN.split_once("{\"cat\":").unwrap();
    let alive = format!("\"pid\":{}", std::process::id());
    assert_eq!(counts(""), (1, 0));
    assert_eq!(counts(&head.replace("\"pid\":4242", &alive)), (1, 1));
    assert_eq!(counts(&head.replace("\"pid\":4242", GONE)), (1, 0));
}

#[test]
fn a_living_process_can_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = GrowingFile::new(dir.path());
    file.text = file.text.replace("\"pid\":4242", &format!("\"pid\":{}", std::process::id()));
    file.window(&[(2, 1000)], true);
    let mut follower = Follower::default();
    let paths = [dir.path().to_owned()];
    assert_eq!(follower.look(&paths, LookTime::Last(1_000_000), &selection()).growing, 1);
    file.end();
    assert_eq!(follower.look(&paths, LookTime::Last(1_000_000), &selection()).growing, 0);
}
