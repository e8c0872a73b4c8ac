//! The end of a merged trace: labels, stack frames of other traces, and the metadata.

use rustc_hash::FxHashSet;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::merge_output::MergeOutput;
use super::process_track;
use crate::merge::inputs::recorded_processes::RecordedProcess;
use crate::merge::options::ProcessExit;
use crate::merge::result::MergeError;
use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::ours;
use cpu_prof_core::format::trace::write::events::Events;

impl MergeOutput {
    /// Writes the end of the trace. `recorded` are the recorded processes, and `minor` the pids of those
    /// that hardly worked.
    pub(crate) fn write_end(
        &mut self,
        recorded: &[RecordedProcess],
        minor: &FxHashSet<u32>,
        exit: Option<&ProcessExit>,
    ) -> Result<(), MergeError> {
        let Self { trace, labels, stack_frames, merged_facts, far_pids, .. } = self;
        labels.add_places();
        labels.add_names();
        // Times of another clock would shrink all others to nothing.
        let of_other_clocks = recorded.iter().filter(|process| process.clock > 0);
        far_pids.extend(of_other_clocks.map(|process| process.pid));
        let range = trace.range(|_| true).unwrap_or_default();
        labels.write(trace, range.0, minor)?;
        let here = |pid: u32| trace.pids.contains_key(&pid);
        let recorded = recorded.iter().filter(|process| here(process.pid));
        let merged = merged_facts.iter().filter(|(pid, _)| here(*pid));
        let about: Vec<Value> = recorded
            .map(|process| about(process, exit))
            .chain(merged.map(|(_, facts)| facts.clone().into()))
            .collect();
        let mut spans = Events::default();
        process_track::add(&mut spans, &about, range);
        if !spans.as_bytes().is_empty() {
            trace.events(spans.as_bytes())?;
        }
        trace.write(b"\n]")?;
        stack_frames.write(trace)?;
        let view = trace.range(|pid| !far_pids.contains(&pid)).unwrap_or(range);
        let start_time = about.first().and_then(|process| process.get("startTime")).cloned();
        let metadata = MergedMetadata {
            project: MergedProject { processes: about, version: env!("CARGO_PKG_VERSION") },
            data_origin: "TraceEvents",
            // DevTools chooses the view of a page by itself.
            modifications: (!labels.is_page_alone()).then(|| modifications(range, view)),
            source: ours::SOURCE,
            start_time,
        };
        let mut text = b",\n\"metadata\":".to_vec();
        encode(&mut text, &metadata);
        text.push(b'}');
        trace.write(&text)
    }
}

/// The metadata of a merged trace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MergedMetadata {
    #[serde(rename = "cpu-prof")]
    project: MergedProject,
    data_origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    modifications: Option<Value>,
    source: &'static str,
    start_time: Option<Value>,
}

/// The facts that only this project's tools read.
#[derive(Serialize)]
struct MergedProject {
    processes: Vec<Value>,
    version: &'static str,
}

/// Returns how DevTools shows a trace, whose events are of the times in `range`, and which opens at
/// those in `view`.
fn modifications(range: (i64, i64), view: (i64, i64)) -> Value {
    json!({
        "entriesModifications": { "hiddenEntries": [], "expandableEntries": [] },
        // Without a breadcrumb DevTools zooms to the first thread's activity.
        "initialBreadcrumb": {
            "window": breadcrumb(range),
            "child": { "window": breadcrumb(view), "child": null },
        },
        "annotations": {
            "entryLabels": [],
            "labelledTimeRanges": [],
            "linksBetweenEntries": [],
        },
    })
}

fn breadcrumb((min, max): (i64, i64)) -> Value {
    json!({ "min": min, "max": max, "range": max - min })
}

/// Returns the metadata of a process.
fn about(process: &RecordedProcess, exit: Option<&ProcessExit>) -> Value {
    let mut about: Map<String, Value> = process.program.clone();
    const OF_RECORDING: [&str; 8] = [
        "threadId",
        "osThreadId",
        "threadName",
        "processName",
        "version",
        "recording",
        "segment",
        "recordingLabel",
    ];
    OF_RECORDING.iter().for_each(|key| {
        about.remove(*key);
    });
    about.insert("pid".into(), process.pid.into());
    if process.known_pid() != process.pid {
        about.insert("ownPid".into(), process.known_pid().into());
    }
    about.insert("label".into(), process.label.clone().into());
    about.insert("startUs".into(), process.start_us.into());
    about.insert("threads".into(), process.threads.keys().copied().collect());
    process_track::describe(process, &mut about);
    if let Some(exit) = exit.filter(|exit| Some(exit.pid) == process.recorded_pid) {
        about.insert("exitCode".into(), exit.code.into());
        about.insert("signal".into(), exit.signal.clone().into());
    }
    about.into()
}
