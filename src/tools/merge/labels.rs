//! Labels of processes: the frames that DevTools names its tracks by.

use serde_json::{Value, json};

use super::outcome::MergeError;
use super::part::OutputPart;
use crate::format::ascii_json::encode;

/// The id of the root frame, unless a trace of another tool has one.
const ROOT: &str = "NODE";

/// The label of a process in the trace.
#[derive(Debug)]
pub(super) struct ProcessLabel {
    /// Pid in the trace.
    pub pid: u32,
    /// Label, in the form of a URL.
    pub url: String,
    /// Start of the process, microseconds.
    pub start_us: i64,
    /// Ids of the frame and of its parent, in traces of other tools.
    pub foreign: Option<ForeignFrame>,
    /// Whether the trace names no frames. The label is needed only beside traces that do.
    pub is_generic: bool,
}

/// The ids of a frame in a trace of another tool.
#[derive(Debug)]
pub(super) struct ForeignFrame {
    pub id: String,
    pub parent: Option<String>,
}

/// The labels of all processes, in the order of the processes.
#[derive(Debug, Default)]
pub(super) struct Labels {
    list: Vec<ProcessLabel>,
}

impl Labels {
    pub(super) fn push(&mut self, label: ProcessLabel) {
        self.list.push(label);
    }

    /// Returns whether no input names frames. DevTools then shows all processes without labels.
    pub(super) fn is_generic(&self) -> bool {
        self.list.iter().all(|label| label.is_generic)
    }

    /// Writes the labels of the processes that have events in a part.
    ///
    /// DevTools shows the process of the root frame first, as 'Main', and opens its track. So the
    /// first process gets the root frame, and the frames of the others are below.
    pub(super) fn write(&self, part: &mut OutputPart, start_us: i64) -> Result<(), MergeError> {
        let mut labels = self.list.iter().filter(|label| part.pids.contains_key(&label.pid));
        let Some(first) = labels.next().filter(|_| !self.is_generic()) else { return Ok(()) };
        let root = first.foreign.as_ref().map_or(ROOT, |frame| &frame.id);
        let data = json!({
            "frameTreeNodeId": 1,
            "persistentIds": true,
            "frames": [frame(first, root, None)],
        });
        let mut events = vec![event("TracingStartedInBrowser", first.pid, start_us, &data)];
        for label in labels {
            let (id, parent) = match &label.foreign {
                Some(frame) => (frame.id.clone(), frame.parent.as_deref()),
                None => (format!("{ROOT}-{}", label.pid), None),
            };
            let data = frame(label, &id, Some(parent.unwrap_or(root)));
            let ts = label.start_us.max(start_us);
            events.push(event("FrameCommittedInBrowser", label.pid, ts, &data));
        }
        events.iter().try_for_each(|event| part.events(event))
    }
}

fn frame(label: &ProcessLabel, id: &str, parent: Option<&str>) -> Value {
    let mut frame = json!({
        "frame": id,
        "isInPrimaryMainFrame": true,
        "isOutermostMainFrame": parent.is_none(),
        "name": "",
        "processId": label.pid,
        "url": label.url,
    });
    if let Some(parent) = parent {
        frame["parent"] = parent.into();
    }
    frame
}

fn event(name: &str, pid: u32, ts: i64, data: &Value) -> Vec<u8> {
    let event = json!({
        "cat": "disabled-by-default-devtools.timeline",
        "name": name,
        "ph": "I",
        "s": "t",
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "args": { "data": data },
    });
    let mut out = Vec::new();
    encode(&mut out, &event);
    out
}
