//! Merging and reading count the same processes, threads and inputs.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::merge::merge::merge;
use crate::merge::options::{MergeOptions, MergeProgress};
use crate::read::load::load_uncorrected;
use cpu_prof_core::profile::read_scope::ReadScope;

/// A recording of one thread.
#[derive(Debug, Clone)]
struct Recording {
    pid: u32,
    tid: u32,
    start_ms: i64,
    length_ms: i64,
    /// Start of the process and of the system.
    identity: Option<(u64, u8)>,
    /// Key of the process.
    key: Option<u8>,
    command: u8,
    is_cpuprofile: bool,
}

impl Recording {
    fn start_us(&self) -> i64 {
        522_975_000_000 + self.start_ms * 1000
    }

    fn end_us(&self) -> i64 {
        self.start_us() + self.length_ms * 1000
    }

    fn file_name(&self, number: usize) -> String {
        let Self { pid, tid, .. } = self;
        if self.is_cpuprofile {
            format!("CPU.20260304.050607.{pid}.{tid}.{number:03}.cpuprofile")
        } else {
            format!("{number}.trace.json")
        }
    }

    fn text(&self) -> String {
        let root = json!({ "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1 });
        let work = json!({ "functionName": "work", "scriptId": "7", "url": "/a.js", "lineNumber": 1, "columnNumber": 1 });
        let deltas = [1000, self.length_ms * 1000 - 2000];
        if self.is_cpuprofile {
            return json!({
                "nodes": [
                    { "id": 1, "callFrame": root, "hitCount": 0, "children": [2] },
                    { "id": 2, "callFrame": work, "hitCount": 2 },
                ],
                "startTime": self.start_us(),
                "endTime": self.end_us(),
                "samples": [2, 2],
                "timeDeltas": deltas,
            })
            .to_string();
        }
        let nodes = [
            json!({ "id": 1, "callFrame": root }),
            json!({ "id": 2, "parent": 1, "callFrame": work }),
        ];
        let mut own = json!({ "pid": self.pid, "ppid": 1, "threadId": self.tid, "node": "v24.0.0", "cwd": "/r", "argv": [] });
        if let Some((process_start_ms, boot)) = self.identity {
            own["processStartMs"] = process_start_ms.into();
            own["boot"] = format!("boot {boot}").into();
            own["processKey"] = self.key.map(|key| key.to_string()).into();
        }
        let metadata = json!({ "source": "cpu-prof", "startTime": "2026", "cpu-prof": own });
        let frame = json!({ "frame": "NODE", "processId": self.pid, "url": format!("c{}: (pid {})", self.command, self.pid) });
        let events = [
            self.event("TracingStartedInBrowser", "I", self.start_us(), &json!({ "frames": [frame] })),
            self.event("Profile", "P", self.start_us(), &json!({ "startTime": self.start_us() })),
            self.event(
                "ProfileChunk",
                "P",
                self.end_us(),
                &json!({ "cpuProfile": { "nodes": nodes, "samples": [2, 2] }, "timeDeltas": deltas }),
            ),
            self.event("trace.end", "I", self.end_us(), &json!({})),
        ];
        // The first member of a recording begins with its source.
        let metadata = metadata.to_string().replace("\"source\":\"cpu-prof\",", "");
        let metadata = metadata.replacen('{', "{\"source\":\"cpu-prof\",", 1);
        format!("{{\"metadata\":{metadata},\"traceEvents\":[\n{}\n]}}", events.join(",\n"))
    }

    fn event(&self, name: &str, phase: &str, ts: i64, data: &Value) -> String {
        format!(
            "{{\"cat\":\"c\",\"name\":\"{name}\",\"ph\":\"{phase}\",\"id\":\"0x1\",\"pid\":{},\"tid\":{},\"ts\":{ts},\"args\":{}}}",
            self.pid,
            self.tid,
            json!({ "data": data })
        )
    }
}

fn recording() -> impl Strategy<Value = Recording> {
    let identity = prop_oneof![
        2 => Just(None),
        3 => (1_u64..3, 1_u8..3).prop_map(Some),
    ];
    let identity = (identity, prop::option::of(0_u8..2));
    let times = (0_i64..4, 1_i64..4);
    (7_u32..9, 0_u32..2, times, identity, 0_u8..2, prop::bool::weighted(0.25)).prop_map(
        |(pid, tid, (start, length), (identity, key), command, is_cpuprofile)| Recording {
            pid,
            tid,
            start_ms: start * 500,
            length_ms: length * 500,
            identity,
            key,
            command,
            is_cpuprofile,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn merging_and_reading_count_alike(recordings in vec(recording(), 1..6)) {
        let dir = tempfile::tempdir().unwrap();
        for (number, recording) in recordings.iter().enumerate() {
            fs::write(dir.path().join(recording.file_name(number)), recording.text()).unwrap();
        }
        let paths = [dir.path().to_owned()];
        let output = dir.path().join("out/trace.json");
        let merged =
            merge(&paths, &output, &MergeOptions::default(), &MergeProgress::default()).unwrap();
        let loaded = load_uncorrected(&paths[..], ReadScope::TIMES);
        prop_assert!(loaded.failed.is_empty(), "{:?}", loaded.failed);
        let threads: usize =
            loaded.session.processes.iter().map(|process| process.threads.len()).sum();
        prop_assert_eq!(
            (merged.processes, merged.threads),
            (loaded.session.processes.len(), threads),
        );
    }
}
