//! Labels pass a merge: each sample has the labels that it had before.

use std::collections::BTreeMap;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::merge::merge::merge;
use crate::merge::options::{MergeOptions, MergeProgress};
use crate::read::filter::{Filter, StackFilter};
use crate::read::label_filter::LabelFilter;
use crate::read::load::{Loaded, load_slice_uncorrected};
use crate::read::slice::SliceLimits;
use cpu_prof_core::profile::read_scope::ReadScope;

const START_US: i64 = 522_975_000_000;
const VALUES: [&str; 3] = ["/a", "/b", "é \"\\ 日本"];

/// A sample: the id of its node, 2 or 3, the time before it, and the number of its label, 0 for none.
type LabelledSample = (u64, i64, usize);

/// One recording of a thread. `first` is the id of its first label set.
#[derive(Debug, Clone)]
struct Recorded {
    pid: u32,
    tid: u32,
    start_us: i64,
    samples: Vec<LabelledSample>,
    first: u64,
    is_cpuprofile: bool,
}

impl Recorded {
    fn end_us(&self) -> i64 {
        self.start_us + self.samples.iter().map(|(_, us, _)| us).sum::<i64>() + 500
    }

    /// Returns the ids of samples' sets, and the sets that these samples have.
    fn labels(&self, samples: &[LabelledSample]) -> (Vec<u64>, Value) {
        let id = |number: usize| if number == 0 { 0 } else { self.first + number as u64 };
        let used = (1..=VALUES.len()).filter(|n| samples.iter().any(|(.., label)| label == n));
        let set = |number: usize| (id(number).to_string(), json!({ "route": VALUES[number - 1] }));
        (samples.iter().map(|(.., label)| id(*label)).collect(), used.map(set).collect())
    }

    fn text(&self) -> String {
        let frame = |name: &str| json!({ "functionName": name, "scriptId": "7", "url": "/a.js", "lineNumber": 1, "columnNumber": 1 });
        let root = json!({ "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1 });
        let Self { pid, tid, start_us, samples, .. } = self;
        let own = json!({ "pid": pid, "ppid": 1, "threadId": tid, "node": "v24.0.0", "cwd": "/r", "argv": [], "processStartMs": pid, "boot": "b", "processKey": pid.to_string() });
        let ids =
            |samples: &[LabelledSample]| samples.iter().map(|(id, ..)| *id).collect::<Vec<_>>();
        let deltas =
            |samples: &[LabelledSample]| samples.iter().map(|(_, us, _)| *us).collect::<Vec<_>>();
        if self.is_cpuprofile {
            let (labels, sets) = self.labels(samples);
            return json!({
                "cpu-prof": own,
                "nodes": [
                    { "id": 1, "callFrame": root, "children": [2] },
                    { "id": 2, "callFrame": frame("a"), "children": [3] },
                    { "id": 3, "callFrame": frame("b") },
                ],
                "startTime": start_us, "endTime": self.end_us(),
                "samples": ids(samples), "timeDeltas": deltas(samples),
                "labels": labels, "labelSets": sets,
            })
            .to_string();
        }
        let metadata = format!("{{\"source\":\"cpu-prof\",\"cpu-prof\":{own}}}");
        let event = |name: &str, phase: &str, ts: i64, data: &Value| {
            let args = json!({ "data": data });
            format!(
                "{{\"cat\":\"c\",\"name\":\"{name}\",\"ph\":\"{phase}\",\"id\":\"0x1\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"args\":{args}}}"
            )
        };
        let frames = json!({ "frames": [{ "frame": "NODE", "processId": pid, "url": format!("c: (pid {pid})") }] });
        let mut events = vec![
            event("TracingStartedInBrowser", "I", *start_us, &frames),
            event("Profile", "P", *start_us, &json!({ "startTime": start_us })),
        ];
        let mut ts = *start_us;
        for (number, chunk) in samples.chunks(4).enumerate() {
            ts += deltas(chunk).iter().sum::<i64>();
            let (labels, sets) = self.labels(chunk);
            let nodes = json!([
                { "id": 1, "callFrame": root },
                { "id": 2, "parent": 1, "callFrame": frame("a") },
                { "id": 3, "parent": 2, "callFrame": frame("b") },
            ]);
            let nodes = if number == 0 { nodes } else { json!([]) };
            let profile = json!({ "nodes": nodes, "samples": ids(chunk) });
            let data = json!({ "cpuProfile": profile, "timeDeltas": deltas(chunk), "labels": labels, "labelSets": sets });
            events.push(event("ProfileChunk", "P", ts, &data));
        }
        events.push(event("trace.end", "I", self.end_us(), &json!({})));
        format!("{{\"metadata\":{metadata},\"traceEvents\":[\n{}\n]}}", events.join(",\n"))
    }
}

/// Returns recordings of two processes, each with up to three of one thread, one after the other.
fn recordings() -> impl Strategy<Value = Vec<Recorded>> {
    let sample = (2_u64..4, 1_i64..3000, 0_usize..=VALUES.len());
    let one = (vec(sample, 1..12), 0_u64..3, any::<bool>());
    vec(vec(one, 1..4), 1..3).prop_map(|processes| {
        let mut all = Vec::new();
        for (pid, recordings) in (7..).zip(processes) {
            let mut start_us = START_US;
            for (samples, first, is_cpuprofile) in recordings {
                let recorded = Recorded { pid, tid: 0, start_us, samples, first, is_cpuprofile };
                start_us = recorded.end_us() + 20_000;
                all.push(recorded);
            }
        }
        all
    })
}

/// Times by pid, function and labels: microseconds.
type Times = BTreeMap<(i64, String, String), u64>;

fn times(loaded: &Loaded) -> Times {
    let mut times = Times::new();
    let session = &loaded.session;
    for process in &session.processes {
        for profile in process.threads.iter().flat_map(|thread| &thread.profiles) {
            for (number, node) in (0..).zip(&profile.nodes) {
                let name = session.frames.list()[node.frame as usize].function_name.clone();
                let labels = session.labels.get(profile.labels(number));
                let labels = labels.map(ToString::to_string).unwrap_or_default();
                *times.entry((process.pid, name, labels)).or_default() +=
                    profile.times(node).self_us;
            }
        }
    }
    times.retain(|_, us| *us > 0);
    times
}

/// Returns the times of recordings and those of their merge, in a slice and through a filter; none if nothing
/// is left.
fn both(recordings: &[Recorded], limits: SliceLimits, filter: &Filter) -> Option<[Times; 2]> {
    let dir = tempfile::tempdir().unwrap();
    for (number, recorded) in recordings.iter().enumerate() {
        let Recorded { pid, tid, is_cpuprofile, .. } = recorded;
        let name = match is_cpuprofile {
            true => format!("CPU.20260304.050607.{pid}.{tid}.{number:03}.cpuprofile"),
            false => format!("{number}.trace.json"),
        };
        fs::write(dir.path().join(name), recorded.text()).unwrap();
    }
    let paths = [dir.path().to_owned()];
    let mut before = load_slice_uncorrected(&paths, limits, ReadScope::TIMES);
    let output = dir.path().join("out/trace.json");
    let options = MergeOptions { slice: limits, filter: filter.clone(), ..MergeOptions::default() };
    let is_left = before.keep(filter).is_ok() && !times(&before).is_empty();
    let merged = merge(&paths, &output, &options, &MergeProgress::default());
    if !is_left {
        return None;
    }
    merged.unwrap();
    let after = load_slice_uncorrected(&[output], SliceLimits::default(), ReadScope::TIMES);
    assert!(after.failed.is_empty() && after.repaired.is_empty());
    Some([times(&before), times(&after)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn each_sample_keeps_its_labels(recordings in recordings()) {
        let everything = (SliceLimits::default(), Filter::default());
        if let Some([before, after]) = both(&recordings, everything.0, &everything.1) {
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn a_slice_and_a_filter_keep_the_labels_of_what_they_keep(
        recordings in recordings(),
        from_us in 0_i64..20_000,
        length_us in 1_i64..40_000,
        wanted in 0_usize..=VALUES.len(),
    ) {
        let value = VALUES.get(wanted).copied().unwrap_or_default();
        let labels = LabelFilter::new(&[format!("route={value}")]);
        let filter = Filter::new(&[], &[], StackFilter::default()).with_labels(labels);
        if let Some([before, after]) = both(&recordings, SliceLimits::default(), &filter) {
            let expected = if value.is_empty() { String::new() } else { format!("route={value}") };
            prop_assert!(!after.is_empty() && after.keys().all(|(.., labels)| *labels == expected));
            prop_assert_eq!(before, after);
        }
        let limits =
            SliceLimits { from_us: Some(from_us), to_us: Some(from_us + length_us) };
        if let Some([before, after]) = both(&recordings, limits, &Filter::default()) {
            prop_assert_eq!(before, after);
        }
    }
}

#[test]
fn ids_of_two_processes_that_mean_other_sets_stay_apart() {
    let recorded = |pid, first, label| Recorded {
        pid,
        tid: 0,
        start_us: START_US,
        samples: vec![(2, 100, label), (3, 100, label)],
        first,
        is_cpuprofile: false,
    };
    // Both have the id 2: of /b in one process, of /a in the other.
    let recordings = [recorded(7, 0, 2), recorded(8, 1, 1)];
    let [before, after] = both(&recordings, SliceLimits::default(), &Filter::default()).unwrap();
    let labels: Vec<_> =
        after.keys().map(|(pid, name, labels)| format!("{pid} {name} {labels}")).collect();
    assert_eq!(labels, ["7 a route=/b", "7 b route=/b", "8 a route=/a", "8 b route=/a"]);
    assert_eq!(before, after);
}
