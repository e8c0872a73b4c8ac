//! The end of a merged trace: labels, members of other traces, and the metadata.

use serde_json::{Map, Value, json};

use super::merger::Merger;
use super::outcome::{MergeError, ProcessExit};
use super::part::OutputPart;
use super::processes::OutputProcess;
use crate::format::ascii_json::encode;
use crate::format::trace::own;

impl Merger<'_> {
    /// Writes the end of each part.
    pub(super) fn write_ends(
        &mut self,
        processes: &[OutputProcess],
        parts: &mut [OutputPart],
        exit: Option<&ProcessExit>,
    ) -> Result<(), MergeError> {
        for part in parts {
            let range = part.range(|_| true).unwrap_or_default();
            self.labels.write(part, range.0)?;
            part.write(b"\n]")?;
            self.members.write(part)?;
            let metadata = metadata(part, range, processes, exit, &self.members.sources);
            let mut text = b",\n\"metadata\":".to_vec();
            encode(&mut text, &metadata);
            text.push(b'}');
            part.write(&text)?;
        }
        Ok(())
    }
}

/// Returns the metadata of a part, whose events are of the times in `range`.
fn metadata(
    part: &OutputPart,
    range: (i64, i64),
    processes: &[OutputProcess],
    exit: Option<&ProcessExit>,
    sources: &[Value],
) -> Value {
    let here = processes.iter().filter(|process| part.pids.contains_key(&process.pid));
    let about: Vec<Value> = here.map(|process| about(process, exit)).collect();
    let start_time = about.first().and_then(|process| process.get("startTime")).cloned();
    // Times of another machine's clock would shrink all others to nothing.
    let has_other_clock =
        |pid| processes.iter().any(|process| process.pid == pid && process.clock > 0);
    let view = part.range(|pid| !has_other_clock(pid)).unwrap_or(range);
    let mut project = json!({ "version": env!("CARGO_PKG_VERSION"), "processes": about });
    if !sources.is_empty() {
        project["sources"] = sources.into();
    }
    json!({
        "source": own::SOURCE,
        "dataOrigin": "TraceEvents",
        "startTime": start_time,
        "modifications": {
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
        },
        own::METADATA_KEY: project,
    })
}

fn breadcrumb((min, max): (i64, i64)) -> Value {
    json!({ "min": min, "max": max, "range": max - min })
}

/// Returns the metadata of a process.
fn about(process: &OutputProcess, exit: Option<&ProcessExit>) -> Value {
    let mut about: Map<String, Value> = process.program.clone();
    for key in ["threadId", "version", "recording", "segment"] {
        about.remove(key);
    }
    about.insert("pid".into(), process.pid.into());
    if let Some(own) = process.own_pid.filter(|own| *own != process.pid) {
        about.insert("ownPid".into(), own.into());
    }
    about.insert("label".into(), process.url.clone().into());
    about.insert("startUs".into(), process.start_us.into());
    about.insert("threads".into(), process.threads.keys().copied().collect());
    if let Some(exit) = exit.filter(|exit| Some(exit.pid) == process.own_pid) {
        about.insert("exitCode".into(), exit.code.into());
        about.insert("signal".into(), exit.signal.clone().into());
    }
    about.into()
}
