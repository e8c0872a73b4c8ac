use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::names::ProfileNames;
use super::payload::EncodedProfile;
use super::reader::{PushReader, PushStep, SliceBegin, SliceOptions};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_core::testing::traces::{MAIN, MERGED, WORKER};
use cpu_prof_remote::push::options::ServerKind;
use cpu_prof_session::formats::pprof::read::read_bytes;
use cpu_prof_tools::read::filter::{Filter, StackFilter};
use cpu_prof_tools::read::selection::Selection;

fn options(slice_ms: i64, follows: bool) -> SliceOptions {
    let begin = if follows { SliceBegin::Now } else { SliceBegin::Ended };
    SliceOptions { kind: ServerKind::Pyroscope, names: ProfileNames::default(), slice_ms, begin }
}

fn reader(inputs: &[PathBuf], options: SliceOptions) -> PushReader {
    PushReader::new(inputs.to_vec(), options, Selection::default())
}

/// Reads all slices.
fn slices(mut reader: PushReader) -> Vec<Vec<EncodedProfile>> {
    let mut slices = Vec::new();
    loop {
        match reader.next().unwrap() {
            PushStep::Slice(payloads) => slices.push(payloads),
            PushStep::Wait(ms) => panic!("a file that is complete gives a wait of {ms} ms"),
            PushStep::End => return slices,
        }
    }
}

/// Returns the sum of all times of a payload, microseconds.
fn time_us(payload: &EncodedProfile) -> u64 {
    let mut bytes = Vec::new();
    GzDecoder::new(&payload.body[..]).read_to_end(&mut bytes).unwrap();
    let contents = read_bytes(&bytes, "slice", ReadScope::LINES).unwrap();
    let threads = contents.processes.iter().flat_map(|process| &process.threads);
    let profiles = threads.flat_map(|thread| &thread.profiles);
    profiles.flat_map(|profile| profile.all_times()).map(|times| times.self_us).sum()
}

fn recordings(dir: &Path) -> Vec<PathBuf> {
    let paths = [("a.trace.json", MAIN), ("b.trace.json", WORKER)];
    paths
        .map(|(name, text)| {
            let path = dir.join(name);
            fs::write(&path, text).unwrap();
            path
        })
        .to_vec()
}

#[test]
fn slices_have_all_of_the_time_once() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = recordings(dir.path());
    let whole = slices(reader(&inputs, options(3_600_000, false)));
    assert_eq!(whole.len(), 1);
    let [all] = &whole[0][..] else { panic!("two threads of one process are one profile") };
    let (from_ms, until_ms) = (all.meta.from_ms, all.meta.until_ms);
    assert!(from_ms > 1e12 && until_ms > from_ms, "{:?}", all.meta);
    for slice_ms in [1, 2, 7] {
        let parts = slices(reader(&inputs, options(slice_ms, false)));
        let parts: Vec<&EncodedProfile> = parts.iter().flatten().collect();
        assert!(parts.len() > 1, "{slice_ms}");
        assert_eq!(parts.iter().map(|part| time_us(part)).sum::<u64>(), time_us(all));
        assert!(parts.iter().all(|part| part.meta.name == all.meta.name));
        for pair in parts.windows(2) {
            assert!(pair[0].meta.until_ms <= pair[1].meta.from_ms + 1.0);
        }
        assert!(parts[0].meta.from_ms - from_ms <= 1.0);
    }
    // A folder is read as its files.
    let folder = slices(reader(&[dir.path().to_owned()], options(3_600_000, false)));
    assert_eq!(time_us(&folder[0][0]), time_us(all));
}

#[test]
fn a_merged_trace_is_one_slice() {
    let dir = tempfile::tempdir().unwrap();
    let merged = dir.path().join("merged.json");
    fs::write(&merged, MERGED).unwrap();
    let slices = slices(reader(&[merged], options(1, false)));
    assert_eq!(slices.len(), 1);
    assert!(!slices[0].is_empty());
}

#[test]
fn filters_choose_what_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = recordings(dir.path());
    let stacks = StackFilter::new(&[], &[], &[]);
    let filter = Filter::new(&[], &["no such thread".to_owned()], stacks);
    let selection = Selection { filter, ..Selection::default() };
    assert!(slices(PushReader::new(inputs, options(1000, false), selection)).is_empty());
}

#[test]
fn what_is_no_recording_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "[]").unwrap();
    let mut bad = reader(&[path], options(1000, false));
    let told = bad.next().map(|_| ()).unwrap_err().to_string();
    assert!(told.contains("no CPU profile"), "{told}");
    let mut missing = reader(&[dir.path().join("missing")], options(1000, false));
    assert!(missing.next().is_err());
}

/// Returns the recording of this process, and the part of it that is there while it grows.
fn growing() -> (String, String) {
    let whole = MAIN.replace("\"pid\":4242", &format!("\"pid\":{}", std::process::id()));
    // Without its last event, the recording of a process that lives can grow.
    let end = whole.find(r#"{"cat":"disabled-by-default-devtools.timeline","name":"trace.end""#);
    let growing = whole[..end.unwrap()].trim_end().trim_end_matches(',');
    let growing = format!("{growing}\n]}}\n");
    (whole, growing)
}

#[test]
fn a_follower_of_short_slices_waits_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut follower = reader(&[dir.path().to_owned()], options(1, true));
    assert!(matches!(follower.next().unwrap(), PushStep::Wait(100)));
    fs::write(dir.path().join("a.trace.json"), growing().1).unwrap();
    assert!(matches!(follower.next().unwrap(), PushStep::Slice(list) if list.is_empty()));
    assert!(matches!(follower.next().unwrap(), PushStep::Wait(100)));
}

#[test]
fn a_follower_waits_for_the_end_of_a_slice() {
    let dir = tempfile::tempdir().unwrap();
    let folder = [dir.path().to_owned()];
    let mut follower = reader(&folder, options(10_000, true));
    // The program has not started.
    assert!(matches!(follower.next().unwrap(), PushStep::Wait(_)));
    let (whole, growing) = growing();
    fs::write(dir.path().join("a.trace.json"), growing).unwrap();
    assert!(matches!(follower.next().unwrap(), PushStep::Slice(list) if list.is_empty()));
    let PushStep::Wait(ms) = follower.next().unwrap() else { panic!("the slice is not over") };
    assert!((1000..=10_000).contains(&ms), "{ms}");
    // The process has ended: the rest is a slice, from the start of the program.
    fs::write(dir.path().join("a.trace.json"), whole).unwrap();
    let rest = slices(follower);
    let whole = slices(reader(&folder, options(3_600_000, false)));
    let sum = |slices: &[Vec<EncodedProfile>]| slices.iter().flatten().map(time_us).sum::<u64>();
    assert_eq!(sum(&rest), sum(&whole));
}

#[test]
fn a_follower_that_comes_late_sends_nothing_of_the_past() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.trace.json"), MAIN).unwrap();
    let mut follower = reader(&[dir.path().to_owned()], options(10_000, true));
    assert!(matches!(follower.next().unwrap(), PushStep::Slice(list) if list.is_empty()));
    assert!(matches!(follower.next().unwrap(), PushStep::End));
}
