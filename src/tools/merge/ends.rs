//! What comes at the end of a merged trace: its processes' labels, and what is known of them.

use serde_json::{Map, Value, json};

use super::foreign::frame_event;
use super::part::OutputPart;
use super::processes::OutputProcess;
use super::{Merge, MergeError, MergeOptions, OutputFrame, ProcessExit};
use crate::format::ascii_json::encode;

impl Merge {
    /// Names the processes in each file, and closes it.
    pub(super) fn write_ends(
        &mut self,
        list: &[OutputProcess],
        parts: &mut [OutputPart],
        options: &MergeOptions,
    ) -> Result<(), MergeError> {
        // A trace without frames is shown as it is; beside others its processes need a frame.
        let needs_frames = self.frames.iter().any(|frame| !frame.is_generic);
        for part in parts {
            let range = part.range(|_| true).unwrap_or_default();
            let frames: Vec<&OutputFrame> =
                self.frames.iter().filter(|frame| part.pids.contains_key(&frame.pid)).collect();
            if needs_frames && let Some((first, others)) = frames.split_first() {
                write_frames(part, first, others, range.0)?;
            }
            part.write(b"\n]")?;
            if let Some(spool) = &mut self.members {
                part.copy(spool)?;
            }
            let here = list.iter().filter(|process| part.pids.contains_key(&process.pid));
            let processes: Vec<Value> =
                here.map(|process| about(process, options.exit.as_ref())).collect();
            // Times of another machine would make all others tiny.
            let of_others =
                |pid| list.iter().any(|process| process.pid == pid && process.clock > 0);
            let view = part.range(|pid| !of_others(pid));
            let metadata = metadata(range, view, processes, &self.sources);
            let mut text = b",\n\"metadata\":".to_vec();
            encode(&mut text, &metadata);
            text.push(b'}');
            part.write(&text)?;
        }
        Ok(())
    }
}

/// DevTools shows the first process first, as 'Main', and opens it; the others' frames are below
/// that one's.
fn write_frames(
    part: &mut OutputPart,
    first: &OutputFrame,
    others: &[&OutputFrame],
    start_us: i64,
) -> Result<(), MergeError> {
    const ROOT: &str = "NODE";
    let root = first.frame.as_deref().unwrap_or(ROOT);
    let frames = json!({
        "frameTreeNodeId": 1,
        "persistentIds": true,
        "frames": [{
            "frame": root,
            "isInPrimaryMainFrame": true,
            "isOutermostMainFrame": true,
            "name": "",
            "processId": first.pid,
            "url": first.url,
        }],
    });
    part.events(&frame_event("TracingStartedInBrowser", first.pid, start_us, &frames))?;
    for frame in others {
        let parent = frame.parent.as_deref().unwrap_or(root);
        let id = frame.frame.clone().unwrap_or_else(|| format!("{ROOT}-{}", frame.pid));
        let data = json!({
            "frame": id,
            "parent": parent,
            "isInPrimaryMainFrame": true,
            "isOutermostMainFrame": false,
            "name": "",
            "processId": frame.pid,
            "url": frame.url,
        });
        let ts = frame.start_us.max(start_us);
        part.events(&frame_event("FrameCommittedInBrowser", frame.pid, ts, &data))?;
    }
    Ok(())
}

/// What the trace's metadata says of a process.
fn about(process: &OutputProcess, exit: Option<&ProcessExit>) -> Value {
    let mut about: Map<String, Value> = process.program.clone();
    for key in ["threadId", "version"] {
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

/// The file's metadata. Without the breadcrumb DevTools zooms to the first thread's activity.
fn metadata(
    (start_us, end_us): (i64, i64),
    view: Option<(i64, i64)>,
    processes: Vec<Value>,
    sources: &[Value],
) -> Value {
    let window = |(min, max): (i64, i64)| json!({ "min": min, "max": max, "range": max - min });
    let mut own = json!({ "version": env!("CARGO_PKG_VERSION"), "processes": processes });
    if !sources.is_empty() {
        own["sources"] = sources.into();
    }
    let start_time = processes.first().and_then(|process| process.get("startTime")).cloned();
    json!({
        "source": "cpu-prof",
        "dataOrigin": "TraceEvents",
        "startTime": start_time,
        "modifications": {
            "entriesModifications": { "hiddenEntries": [], "expandableEntries": [] },
            "initialBreadcrumb": {
                "window": window((start_us, end_us)),
                "child": { "window": window(view.unwrap_or((start_us, end_us))), "child": null },
            },
            "annotations": {
                "entryLabels": [],
                "labelledTimeRanges": [],
                "linksBetweenEntries": [],
            },
        },
        "cpu-prof": own,
    })
}
