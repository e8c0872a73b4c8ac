//! The end of a merged trace: labels, members of other traces, and the metadata.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::inputs::processes::OutputProcess;
use super::merger::Merger;
use super::outcome::{MergeError, ProcessExit};
use super::output::part::OutputPart;
use super::output::process_track;
use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::own;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::program::Program;

impl Merger<'_> {
    /// Writes the end of each part.
    pub(super) fn write_ends(
        &mut self,
        processes: &[OutputProcess],
        parts: &mut [OutputPart],
        exit: Option<&ProcessExit>,
    ) -> Result<(), MergeError> {
        self.labels.add_places();
        self.labels.add_names();
        let minor = self.sizes.minor_processes();
        for part in parts {
            let range = part.range(|_| true).unwrap_or_default();
            self.labels.write(part, range.0, &minor)?;
            let here = |pid: u32| part.pids.contains_key(&pid);
            let recorded = processes.iter().filter(|process| here(process.pid));
            let merged = self.facts.iter().filter(|(pid, _)| here(*pid));
            let about: Vec<Value> = recorded
                .map(|process| about(process, exit))
                .chain(merged.map(|(_, facts)| facts.clone().into()))
                .collect();
            let mut spans = Events::default();
            process_track::add(&mut spans, &about, range);
            if !spans.as_bytes().is_empty() {
                part.events(spans.as_bytes())?;
            }
            part.write(b"\n]")?;
            self.members.write(part)?;
            // Times of another clock would shrink all others to nothing.
            let is_far = |pid| {
                let mut recorded = processes.iter().filter(|process| process.clock > 0);
                recorded.any(|process| process.pid == pid) || self.far_pids.contains(&pid)
            };
            let view = part.range(|pid| !is_far(pid)).unwrap_or(range);
            let start_time = about.first().and_then(|process| process.get("startTime")).cloned();
            let metadata = MergedMetadata {
                project: MergedProject {
                    processes: about,
                    sources: &self.members.sources,
                    version: env!("CARGO_PKG_VERSION"),
                },
                data_origin: "TraceEvents",
                // DevTools chooses the view of a page by itself.
                modifications: (!self.labels.is_page_alone()).then(|| modifications(range, view)),
                source: own::SOURCE,
                start_time,
            };
            let mut text = b",\n\"metadata\":".to_vec();
            encode(&mut text, &metadata);
            text.push(b'}');
            part.write(&text)?;
        }
        Ok(())
    }
}

/// The metadata of a merged trace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MergedMetadata<'a> {
    #[serde(rename = "cpu-prof")]
    project: MergedProject<'a>,
    data_origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    modifications: Option<Value>,
    source: &'static str,
    start_time: Option<Value>,
}

/// The facts that only this project's tools read.
#[derive(Serialize)]
struct MergedProject<'a> {
    processes: Vec<Value>,
    /// Metadata of other traces.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sources: &'a [Box<RawValue>],
    version: &'static str,
}

/// Returns how DevTools shows a part, whose events are of the times in `range`, and which opens at
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
fn about(process: &OutputProcess, exit: Option<&ProcessExit>) -> Value {
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
    let own = process.own_pid.unwrap_or(Program::UNKNOWN_PID);
    if own != process.pid {
        about.insert("ownPid".into(), own.into());
    }
    about.insert("label".into(), process.url.clone().into());
    about.insert("startUs".into(), process.start_us.into());
    about.insert("threads".into(), process.threads.keys().copied().collect());
    process_track::describe(process, &mut about);
    if let Some(exit) = exit.filter(|exit| Some(exit.pid) == process.own_pid) {
        about.insert("exitCode".into(), exit.code.into());
        about.insert("signal".into(), exit.signal.clone().into());
    }
    about.into()
}
