//! Labels of processes: the frames that DevTools names its tracks by.

use super::outcome::MergeError;
use super::part::OutputPart;
use crate::format::trace::event::{Event, ProcessFrame};
use crate::format::trace::events::Events;

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
        let root = first.foreign.as_ref().map_or(ProcessFrame::ROOT, |frame| &frame.id);
        let frame = ProcessFrame::new(root, None, first.pid, &first.url);
        let mut events = Events::default();
        events.push(&Event::tracing_started(0, start_us, frame));
        for label in labels {
            let (id, parent) = match &label.foreign {
                Some(frame) => (frame.id.clone(), frame.parent.as_deref()),
                None => (format!("{}-{}", ProcessFrame::ROOT, label.pid), None),
            };
            let frame = ProcessFrame::new(&id, parent.or(Some(root)), label.pid, &label.url);
            events.push(&Event::frame_committed(label.start_us.max(start_us), frame));
        }
        part.events(events.as_bytes())
    }
}
