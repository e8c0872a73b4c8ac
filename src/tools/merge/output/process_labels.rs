//! Labels of processes: the frames that DevTools names its tracks by, and their order for Perfetto.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::base::path_text::{ancestors, below, is_same, with_slashes};
use cpu_prof_core::format::trace::process_label::{with_input_name, with_place};
use cpu_prof_core::format::trace::write::event::Event;
use cpu_prof_core::format::trace::write::event_args::ProcessFrame;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::thread_names::main_thread_as_worker;
use cpu_prof_session::formats::trace::read::process_names::without_pid;

/// The label of a process in the trace.
#[derive(Debug, Default)]
pub struct ProcessLabel {
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
    /// Recorded threads, in their order.
    pub threads: Vec<u32>,
    /// Working directory, if known.
    pub cwd: Option<String>,
}

/// The ids of a frame in a trace of another tool.
#[derive(Debug)]
pub struct ForeignFrame {
    pub id: String,
    pub parent: Option<String>,
}

/// The trace of Chrome whose events about frames are in the trace unchanged: DevTools reads more
/// from them than names.
#[derive(Debug, Default)]
struct ChromePage {
    /// Id of the page's main frame, once known.
    main_frame: Option<String>,
}

/// The labels of all processes, in the order of the processes.
#[derive(Debug, Default)]
pub struct Labels {
    list: Vec<ProcessLabel>,
    page: Option<ChromePage>,
    /// Names of the inputs that processes come from, by their pids in the trace.
    names: FxHashMap<u32, String>,
}

impl Labels {
    /// Adds the label of a process.
    pub fn push(&mut self, label: ProcessLabel) {
        self.list.push(label);
    }

    /// Asks whether the frames of a trace of Chrome stay as they are. DevTools reads one such trace,
    /// so this is true for the first that asks.
    pub(crate) fn claim_page(&mut self) -> bool {
        let is_first = self.page.is_none();
        self.page.get_or_insert_default();
        is_first
    }

    /// Notes the main frame of the page.
    pub(crate) fn set_main_frame(&mut self, id: String) {
        self.page.get_or_insert_default().main_frame = Some(id);
    }

    /// Returns the labels of all processes.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|label| label.url.as_str())
    }

    /// Sets the working directory of a process.
    pub(crate) fn set_cwd(&mut self, pid: u32, cwd: &str) {
        for label in self.list.iter_mut().filter(|label| label.pid == pid) {
            label.cwd = Some(cwd.to_owned());
        }
    }

    /// Notes the name of the input that a process comes from.
    pub(crate) fn set_name(&mut self, pid: u32, name: &str) {
        self.names.insert(pid, name.to_owned());
    }

    /// Adds the names of the inputs to the labels of their processes.
    pub(crate) fn add_names(&mut self) {
        for label in &mut self.list {
            if let Some(name) = self.names.get(&label.pid) {
                label.url = with_input_name(&label.url, name);
            }
        }
    }

    /// Adds the working directory to labels that are equal but for the pid, as those of a monorepo's
    /// tasks are. The directory that all processes have in common says nothing.
    pub(crate) fn add_places(&mut self) {
        let mut cwds = self.list.iter().filter_map(ProcessLabel::cwd);
        let Some(first) = cwds.next() else { return };
        let common = cwds.fold(first, |common, cwd| {
            let is_above = |folder: &&str| is_same(&cwd, folder) || below(&cwd, folder).is_some();
            let above = ancestors(&common).find(is_above);
            above.unwrap_or_default().to_owned().into()
        });
        let common = common.into_owned();
        let mut places: FxHashMap<String, FxHashSet<String>> = FxHashMap::default();
        for label in &self.list {
            let cwd = label.cwd().map_or_else(|| common.clone(), Cow::into_owned);
            places.entry(label.text().to_owned()).or_default().insert(cwd);
        }
        for label in &mut self.list {
            let is_shared = places.get(label.text()).is_some_and(|cwds| cwds.len() > 1);
            let place = label.cwd().and_then(|cwd| match common.as_str() {
                "" => Some(cwd.trim_start_matches('/').to_owned()),
                common => below(&cwd, common).map(str::to_owned),
            });
            if let Some(place) = place.filter(|place| is_shared && !place.is_empty()) {
                label.url = with_place(&label.url, &place);
            }
        }
    }

    /// Returns whether no input names frames. DevTools then shows all processes without labels.
    pub(crate) fn is_generic(&self) -> bool {
        self.page.is_none() && self.list.iter().all(|label| label.is_generic)
    }

    /// Returns whether the trace is that of a page, and nothing else.
    pub(crate) fn is_page_alone(&self) -> bool {
        self.page.is_some() && self.list.is_empty()
    }

    /// Writes the labels of the processes that have events in the trace. `minor` are the pids of
    /// processes that hardly worked.
    pub fn write(
        &self,
        trace: &mut OutputTrace,
        start_us: i64,
        minor: &FxHashSet<u32>,
    ) -> Result<(), MergeError> {
        let labels = self.list.iter().filter(|label| trace.pids.contains_key(&label.pid));
        let labels: Vec<_> = labels.filter(|_| !self.is_generic()).collect();
        if labels.is_empty() {
            return Ok(());
        }
        let mut events = Events::default();
        match self.page.as_ref().and_then(|page| page.main_frame.as_deref()) {
            Some(main_frame) => below_page(&labels, main_frame, start_us, &mut events),
            None => side_by_side(&labels, start_us, minor, &mut events),
        }
        for (index, label) in labels.iter().enumerate() {
            label.for_perfetto(index, &mut events);
        }
        trace.events(events.as_bytes())
    }
}

/// Names processes, which share one frame: DevTools shows each as 'Main', and the one with the most
/// entries first. A launcher can have more entries than the work that it starts, so the main threads of
/// minor processes are named as workers are: DevTools shows these after the others.
fn side_by_side(
    labels: &[&ProcessLabel],
    start_us: i64,
    minor: &FxHashSet<u32>,
    events: &mut Events,
) {
    let is_minor = |label: &ProcessLabel| minor.contains(&label.pid);
    // DevTools takes the main frame from the first event.
    let first = labels.iter().position(|label| !is_minor(label)).unwrap_or_default();
    let frame = ProcessFrame::new(ProcessFrame::ROOT, None, labels[first].pid, &labels[first].url);
    events.push(&Event::tracing_started(0, start_us, frame));
    for label in labels[..first].iter().chain(&labels[first + 1..]) {
        let frame = ProcessFrame::new(ProcessFrame::ROOT, None, label.pid, &label.url);
        events.push(&Event::frame_committed(label.start_us.max(start_us), frame));
        if is_minor(label) {
            label.name_as_worker(events);
        }
    }
}

/// Names processes beside a page, whose frame has to stay that of the page alone.
fn below_page(labels: &[&ProcessLabel], main_frame: &str, start_us: i64, events: &mut Events) {
    for label in labels {
        let (id, parent) = match &label.foreign {
            Some(frame) => (frame.id.clone(), frame.parent.as_deref()),
            None => (label.made_frame(), None),
        };
        let parent = parent.unwrap_or(main_frame);
        let frame = ProcessFrame::new(&id, Some(parent), label.pid, &label.url);
        events.push(&Event::frame_committed(label.start_us.max(start_us), frame));
        if label.foreign.is_none() {
            label.name_as_worker(events);
        }
    }
}

impl ProcessLabel {
    /// Returns the label without the pid.
    fn text(&self) -> &str {
        without_pid(&self.url).unwrap_or(&self.url)
    }

    /// Returns the id of a frame that is the process's alone.
    fn made_frame(&self) -> String {
        format!("{}-{}", ProcessFrame::ROOT, self.pid)
    }

    /// Names the main thread by the process's label. Without the name of a page's thread, DevTools shows
    /// the label alone, and not 'Frame — …'.
    fn name_as_worker(&self, events: &mut Events) {
        // The threads of traces that are merged again are not known.
        if self.threads.is_empty() || self.threads.contains(&0) {
            main_thread_as_worker(self.pid, &self.url, |name| events.push(name));
        }
    }

    /// Returns the working directory with slashes.
    fn cwd(&self) -> Option<Cow<'_, str>> {
        self.cwd.as_deref().map(with_slashes)
    }

    /// Adds the label and the order of a recorded process and its threads for Perfetto, which reads
    /// no frames. Traces of other tools have their own.
    fn for_perfetto(&self, index: usize, events: &mut Events) {
        if self.threads.is_empty() {
            return;
        }
        events.push(&Event::process_labels(self.pid, self.text().trim_end_matches(":")));
        events.push(&Event::process_sort_index(self.pid, index));
        for (place, tid) in self.threads.iter().enumerate() {
            events.push(&Event::thread_sort_index(self.pid, *tid, place));
        }
    }
}
