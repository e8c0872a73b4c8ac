//! Damages files at random, and tests that all tools accept the same files and agree about their
//! contents, that `check` accepts what `merge` and `convert` write, and that a file takes no more time and
//! memory than its length allows.
//!
//! `MUTANTS` is the count of damaged files, 500 by default.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::check::check::check;
use super::compare::compare::{CompareOptions, compare};
use super::convert::convert::convert;
use super::merge::merge::merge;
use super::merge::options::{MergeOptions, MergeProgress};
use super::read::load::load_uncorrected;
use super::read::selection::Selection;
use super::read::slice::SliceLimits;
use super::report::report::{ReportOptions, report};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::Session;

use cpu_prof_core::testing::traces::MAIN;
use cpu_prof_core::testing::traces::MERGED;
use cpu_prof_core::testing::traces::WORKER;

/// The most bytes of a seed. Of larger traces, events in their middle are left out.
const SEED_BYTES: usize = 20_000;

/// Bytes of a long text in a damaged file.
const LONG: usize = 1_000_000;
/// The most time of all tools for a file, on a machine that does much else.
const MOST_TIME: Duration = Duration::from_secs(20);
/// The most memory that the process takes more meanwhile, also for tests beside this one: bytes.
const MOST_MEMORY: u64 = 400 << 20;

/// Values that a file should not have where they are put.
const STRANGE: [&str; 22] = [
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "1e3",
    "1e999",
    "\"\"",
    "\"7\"",
    "\"x\"",
    "[]",
    "{}",
    "[[]]",
    "9007199254740993",
    "-9223372036854775808",
    "\"\\ud800\"",
    "\"0x1\"",
    "\"ProfileChunk\"",
    "\"M\"",
    "[1,2]",
    "{\"data\":{}}",
    "999999999999",
];

/// A change of a file.
#[derive(Debug, Clone)]
enum Mutation {
    /// Puts another byte at a place.
    Byte(Index, u8),
    /// Removes bytes.
    Remove(Index, usize),
    /// Repeats bytes.
    Repeat(Index, usize),
    /// Ends the file.
    Cut(Index),
    /// Removes a line.
    RemoveLine(Index),
    /// Puts a line at another place.
    MoveLine(Index, Index),
    /// Replaces a number or a string.
    Value(Index, usize),
    /// Replaces a number or a string by one from elsewhere in the file.
    OtherValue(Index, Index),
    /// Replaces a number or a string by a long string.
    Long(Index, char),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let byte = prop_oneof![
        any::<u8>(),
        proptest::sample::select(&b"{}[],:\"\\0123456789-.eE \n\0\xff"[..])
    ];
    let at = any::<Index>;
    prop_oneof![
        1 => (at(), byte).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        1 => (at(), 1_usize..200).prop_map(|(at, count)| Mutation::Remove(at, count)),
        1 => (at(), 1_usize..200).prop_map(|(at, count)| Mutation::Repeat(at, count)),
        1 => at().prop_map(Mutation::Cut),
        1 => at().prop_map(Mutation::RemoveLine),
        1 => (at(), at()).prop_map(|(from, to)| Mutation::MoveLine(from, to)),
        4 => (at(), 0..STRANGE.len()).prop_map(|(at, value)| Mutation::Value(at, value)),
        3 => (at(), at()).prop_map(|(at, from)| Mutation::OtherValue(at, from)),
        1 => (at(), proptest::sample::select(&['a', 'é', '/', '(', ' ', ':'][..]))
            .prop_map(|(at, of)| Mutation::Long(at, of)),
    ]
}

impl Mutation {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        match self {
            Self::Byte(at, byte) => {
                let place = at.index(file.len());
                file[place] = *byte;
            }
            Self::Remove(at, count) => {
                let start = at.index(file.len());
                file.drain(start..file.len().min(start + count));
            }
            Self::Repeat(at, count) => {
                let start = at.index(file.len());
                let bytes = file[start..file.len().min(start + count)].to_vec();
                file.splice(start..start, bytes);
            }
            Self::Cut(at) => file.truncate(at.index(file.len())),
            Self::RemoveLine(at) => {
                let mut lines = lines(file);
                lines.remove(at.index(lines.len()));
                *file = lines.concat();
            }
            Self::MoveLine(from, to) => {
                let mut lines = lines(file);
                let line = lines.remove(from.index(lines.len()));
                lines.insert(to.index(lines.len() + 1), line);
                *file = lines.concat();
            }
            Self::Value(at, value) => {
                let values = values(file);
                if !values.is_empty() {
                    file.splice(values[at.index(values.len())].clone(), STRANGE[*value].bytes());
                }
            }
            Self::OtherValue(at, from) => {
                let values = values(file);
                if !values.is_empty() {
                    let other = file[values[from.index(values.len())].clone()].to_vec();
                    file.splice(values[at.index(values.len())].clone(), other);
                }
            }
            Self::Long(at, of) => {
                let values = values(file);
                if !values.is_empty() {
                    let long = format!("\"{}\"", of.to_string().repeat(LONG / of.len_utf8()));
                    file.splice(values[at.index(values.len())].clone(), long.into_bytes());
                }
            }
        }
    }
}

fn lines(file: &[u8]) -> Vec<Vec<u8>> {
    file.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Returns the places of the numbers and strings, keys among them.
fn values(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let start = at;
        at += 1;
        if file[start] == b'"' {
            while at < file.len() && file[at] != b'"' {
                at += 1 + usize::from(file[at] == b'\\');
            }
            at = file.len().min(at + 1);
            values.push(start..at);
        } else if file[start].is_ascii_digit() || file[start] == b'-' {
            while at < file.len() && (file[at].is_ascii_digit() || file[at] == b'.') {
                at += 1;
            }
            values.push(start..at);
        }
    }
    values
}

/// Returns the files that are damaged, with their names.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<(String, Vec<u8>)> =
        [("main.trace.json", MAIN), ("worker.trace.json", WORKER), ("merged.json", MERGED)]
            .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
            .into();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/foreign");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.extension().is_none_or(|extension| extension != "gz") {
            continue;
        }
        let mut text = Vec::new();
        GzDecoder::new(fs::File::open(&path).unwrap()).read_to_end(&mut text).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if let Some(short) = shortened(&text) {
            seeds.push((name, short));
        }
    }
    assert!(seeds.len() > 15);
    seeds
}

/// Returns a trace with fewer events; none for a large file of another kind.
fn shortened(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() <= SEED_BYTES {
        return Some(text.to_vec());
    }
    let mut json: Value = serde_json::from_slice(text).ok()?;
    let list = match json.is_array() {
        true => &mut json,
        false => json.get_mut("traceEvents")?,
    };
    let events = list.as_array_mut()?;
    // Profiles and names are what tools read; of all other events a few are enough.
    let mut left = SEED_BYTES;
    events.retain(|event| {
        let length = event.to_string().len();
        let is_kept = length < left && length < SEED_BYTES / 4;
        left -= if is_kept { length } else { 0 };
        is_kept
    });
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    Some(format!("{{\"traceEvents\":[\n{}\n]}}", lines.join(",\n")).into_bytes())
}

/// The functions of a thread with their times, and the count of its samples.
type ThreadCosts = (u64, BTreeMap<String, u64>);

fn costs(session: &Session) -> Vec<ThreadCosts> {
    let mut threads = Vec::new();
    for thread in session.processes.iter().flat_map(|process| &process.threads) {
        let mut times = BTreeMap::new();
        let profiles = thread.profiles.iter();
        for (node, of_node) in profiles.flat_map(|profile| profile.timed_nodes()) {
            let frame = &session.frames.list()[node.frame as usize];
            let us = of_node.all_us();
            if us > 0 {
                *times.entry(format!("{} {}", frame.function_name, frame.url)).or_default() += us;
            }
        }
        threads.push((thread.profiles.iter().map(|profile| profile.sample_count).sum(), times));
    }
    threads.sort();
    threads
}

/// Returns whether a profile has only counts of hits. A merge gives each node one sample, whose length
/// is the node's share of the time.
fn has_hits_only(session: &Session) -> bool {
    let threads = session.processes.iter().flat_map(|process| &process.threads);
    let mut profiles = threads.flat_map(|thread| &thread.profiles);
    profiles.any(|profile| profile.samples.is_empty() && profile.sample_count > 0)
}

/// Returns whether the times differ by what rounding can make.
fn is_near(one: &[ThreadCosts], other: &[ThreadCosts]) -> bool {
    const ROUNDING_US: u64 = 50;
    let time = |thread: &ThreadCosts, name: &String| thread.1.get(name).copied().unwrap_or(0);
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let mut names = one.1.keys().chain(other.1.keys());
            names.all(|name| time(one, name).abs_diff(time(other, name)) <= ROUNDING_US)
        })
}

/// Returns the errors that `check` finds in a file.
fn errors(path: &Path) -> Vec<Value> {
    let checked = serde_json::to_value(check(&[path.to_owned()])).unwrap();
    assert_eq!(checked["failed"], Value::Array(Vec::new()));
    let problems = checked["files"][0]["problems"].as_array().unwrap().clone();
    problems.into_iter().filter(|problem| problem["severity"] != "warning").collect()
}

/// Tests that all tools agree about a file, within limits.
fn agree_in_time(name: &str, file: &[u8]) -> Result<(), String> {
    // The peak of the process begins anew.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let (start, before) = (Instant::now(), memory("VmRSS"));
    let result = agree(name, file);
    let (time, more) = (start.elapsed(), memory("VmHWM").saturating_sub(before));
    if time > MOST_TIME || more > MOST_MEMORY {
        return Err(format!("the tools took {time:?} and {} MB", more >> 20));
    }
    result
}

/// Returns what Linux says of this process: bytes. Other systems have no such file.
fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|kb| kb.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Tests that all tools agree about a file.
fn agree(name: &str, file: &[u8]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let input = [at(name)];
    fs::write(&input[0], file).unwrap();
    check(&input);

    let loaded = load_uncorrected(&input, ReadScope::SAMPLES);
    let read = loaded.check();
    if read.is_ok() {
        report(&loaded, &ReportOptions::default()).unwrap();
    }
    let recorded = costs(&loaded.session);
    let has_hits_only = has_hits_only(&loaded.session);
    let everything = MergeOptions::default();
    for (case, options) in [
        ("all", everything.clone()),
        ("interval", MergeOptions { interval_us: Some(5000), ..everything.clone() }),
        (
            "slice",
            MergeOptions {
                slice: SliceLimits { from_us: Some(1000), to_us: Some(3_600_000_000) },
                ..everything.clone()
            },
        ),
        ("sources", MergeOptions { source_maps: true, ..everything }),
    ] {
        let merged = at(&format!("{case}.out"));
        let result = merge(&input, &merged, &options, &MergeProgress::default());
        match (&read, &result) {
            (Ok(()), Err(error)) if case != "slice" => {
                return Err(format!("{case}: only merge refuses the file: {error}"));
            }
            (Err(reason), Ok(_)) if !reason.to_string().contains("has no CPU profile") => {
                return Err(format!("{case}: only report refuses the file: {reason}"));
            }
            _ => {}
        }
        if result.is_err() {
            continue;
        }
        let found = errors(&merged);
        if !found.is_empty() {
            return Err(format!("{case}: check refuses the merged trace: {found:?}"));
        }
        let again = load_uncorrected(&[merged], ReadScope::SAMPLES);
        if case == "slice" || case == "interval" {
            continue;
        }
        if again.check().is_ok() != read.is_ok() {
            return Err(format!("{case}: report refuses the merged trace: {:?}", again.check()));
        }
        let merged = costs(&again.session);
        if merged != recorded && !(has_hits_only && is_near(&recorded, &merged)) {
            return Err(format!("{case}: times differ:\nread   {recorded:?}\nmerged {merged:?}"));
        }
    }
    for ending in ["cpuprofile", "txt", "speedscope.json"] {
        let result = convert(&input, &at(&format!("converted.{ending}")), &Selection::default());
        if result.is_ok() != read.is_ok() {
            return Err(format!("{ending}: {read:?}, but convert: {:?}", result.err()));
        }
        if ending == "cpuprofile"
            && let Ok(result) = result
        {
            let found: Vec<Value> = result.files.iter().flat_map(|file| errors(file)).collect();
            if !found.is_empty() {
                return Err(format!("check refuses the converted profile: {found:?}"));
            }
        }
    }
    let sides = [input.to_vec()];
    let compared = compare([&sides, &sides], &CompareOptions::default());
    if compared.is_ok() != read.is_ok() {
        return Err(format!("{read:?}, but compare: {compared:?}"));
    }
    Ok(())
}

/// Returns the lines of a file that its seed does not have.
fn changed_lines(seed: &[u8], file: &[u8]) -> String {
    let known = lines(seed);
    let changed = lines(file).into_iter().filter(|line| !known.contains(line));
    String::from_utf8_lossy(&changed.collect::<Vec<_>>().concat()).chars().take(3000).collect()
}

#[test]
fn seeds_are_sound() {
    for (name, file) in seeds() {
        agree(&name, &file).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_long_text_takes_little_time_and_memory() {
    assert!(memory("VmHWM") > 0 || !cfg!(target_os = "linux"));
    for of in ["a", "é", "(", "\\n"] {
        let long = of.repeat(LONG / of.len());
        let named = MAIN.replacen("\"functionName\":\"", &format!("\"functionName\":\"{long}"), 2);
        assert_ne!(named, MAIN);
        let file = named.replacen("\"url\":\"file:///", &format!("\"url\":\"file:///{long}"), 1);
        assert_ne!(file, named);
        assert_eq!(agree_in_time("main.trace.json", file.as_bytes()), Ok(()));
    }
}

#[test]
fn times_without_samples_do_not_count() {
    let damaged = MAIN.replacen("\"samples\":[2,3]", "\"other\":[2,3]", 1);
    // Without the event, the start of the profile follows from its first chunk.
    let is_kept = |line: &&str| !line.contains("\"name\":\"Profile\"");
    let file = damaged.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    assert_eq!(agree("main.trace.json", file.as_bytes()), Ok(()));
}

#[test]
fn a_header_that_is_no_text_announces_nothing() {
    let file = WORKER.replacen("\"argv\":[\"", "\"argv\":[\"\\ud800", 1);
    let (before, chunk) = file.split_once("\"ProfileChunk\",\"ph\":\"P\",\"id\":\"").unwrap();
    let file = format!("{before}\"ProfileChunk\",\"ph\":\"P\",\"id\":\"other{chunk}");
    assert_eq!(agree("worker.trace.json", file.as_bytes()), Ok(()));
}

#[test]
fn of_two_nodes_with_one_id_the_first_counts() {
    let first = "{\"id\":3,\"parent\":1,\"callFrame\":{\"functionName\":\"first\"}},";
    let second = "{\"id\":3,\"parent\":1,";
    let file = WORKER.replacen(second, &format!("{first}{second}"), 1);
    // A child before its parent, so that the chunk is written again.
    let file = file.replacen("{\"id\":2,\"parent\":1,", "{\"id\":2,\"parent\":3,", 1);
    assert_eq!(agree("worker.trace.json", file.as_bytes()), Ok(()));
}

#[test]
fn tools_agree_about_damaged_files() {
    let cases = std::env::var("MUTANTS").map_or(500, |mutants| mutants.parse().unwrap());
    let seeds = seeds();
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let strategy = (0..seeds.len(), vec(mutation(), 1..4));
    let result = TestRunner::new(config).run(&strategy, |(seed, mutations)| {
        let (name, file) = &seeds[seed];
        let mut file = file.clone();
        mutations.iter().for_each(|mutation| mutation.apply(&mut file));
        agree_in_time(name, &file).map_err(|error| {
            let changed = changed_lines(&seeds[seed].1, &file);
            TestCaseError::fail(format!("{name}: {error}\nlines that changed:\n{changed}"))
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
