//! The CPU profiles of a trace: `Profile` and `ProfileChunk` events.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::list::{List, ListNumber, TakeItems};
use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::trace::check::event_text::{EventText, WrittenValue};
use cpu_prof_core::format::trace::check::problems::Problems;

/// The most profiles that are checked. Real traces have one for each thread.
const MAX_PROFILES: usize = 100_000;

/// The profiles of a trace.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    /// By process and id.
    known: FxHashMap<String, ProfileState>,
    /// Count of the samples.
    pub samples: u64,
}

#[derive(Debug, Default)]
struct ProfileState {
    is_announced: bool,
    first_chunk: Option<usize>,
    nodes: IdSet,
}

impl Profiles {
    /// Returns the count of the profiles.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Checks an event of a profile, `Profile` or `ProfileChunk`.
    pub(super) fn event(
        &mut self,
        name: &str,
        event: &EventText<'_>,
        line: usize,
        to: &mut Problems,
    ) {
        let key = format!("{} {}", event.pid.as_written(), event.id.as_written());
        if self.known.len() >= MAX_PROFILES && !self.known.contains_key(&key) {
            let message = format!(
                "the trace has more than {MAX_PROFILES} profiles: this one, and \
                                   later ones, are not checked"
            );
            return to.warn("profiles", line, "id", message);
        }
        let state = self.known.entry(key).or_default();
        let data = event.args.member("data");
        if name == "ProfileChunk" {
            state.first_chunk.get_or_insert(line);
            self.samples += state.chunk(data, line, to);
            return;
        }
        state.is_announced = true;
        if !data.member("startTime").is_number() {
            let field = "args.data.startTime";
            to.error("Profile", line, field, "a Profile needs the time of its start");
        }
    }

    /// Adds the chunks without a profile.
    pub(super) fn finish(&self, to: &mut Problems) {
        let mut lost: Vec<usize> = self
            .known
            .values()
            .filter(|state| !state.is_announced)
            .filter_map(|state| state.first_chunk)
            .collect();
        lost.sort_unstable();
        for line in lost {
            let message = "a ProfileChunk without a Profile of this process and id: DevTools shows \
                           nothing of it";
            to.error("no Profile", line, "id", message);
        }
    }
}

impl ProfileState {
    /// Checks a chunk. Returns the count of its samples.
    fn chunk(&mut self, data: WrittenValue<'_>, line: usize, to: &mut Problems) -> u64 {
        let profile = data.member("cpuProfile");
        let known = &mut self.nodes;
        let mut nodes = NodeChecks { known, index: 0, line, to };
        List(&mut nodes).read(profile.member("nodes").as_written());
        let mut samples = SampleChecks { known: &self.nodes, count: 0, line, to };
        List(&mut samples).read(profile.member("samples").as_written());
        let samples = samples.count;
        let deltas = match data.member("timeDeltas") {
            deltas if deltas.is_null() => profile.member("timeDeltas"),
            deltas => deltas,
        };
        let mut checked = Deltas::default();
        List(&mut checked).read(deltas.as_written());
        checked.check(samples, line, "args.data.timeDeltas", to);
        let mut lines = Deltas::default();
        List(&mut lines).read(data.member("lines").as_written());
        if lines.count > 0 && lines.count != samples {
            let message = format!("{} lines for {samples} samples", lines.count);
            to.warn("lines", line, "args.data.lines", message);
        }
        samples
    }
}

/// Checks the nodes of a chunk.
struct NodeChecks<'a> {
    known: &'a mut IdSet,
    index: usize,
    line: usize,
    to: &'a mut Problems,
}

impl TakeItems for NodeChecks<'_> {
    type Item<'de> = Box<RawValue>;

    fn take(&mut self, node: Box<RawValue>) {
        const FIELD: &str = "args.data.cpuProfile.nodes";
        let (index, line) = (self.index, self.line);
        self.index += 1;
        let node = NodeText::read(node.get());
        let Some(id) = node.id else {
            let field = format!("{FIELD}[{index}].id");
            return self.to.error("node id", line, &field, "a node needs a number as its id");
        };
        if let Some(parent) = node.parent
            && !self.known.contains(parent)
        {
            let message = format!("node {id} has the unknown parent {parent}");
            self.to.error("parent", line, FIELD, message);
        }
        if !self.known.insert(id) {
            self.to.warn("again", line, FIELD, format!("node {id} was announced before"));
        }
        if !node.has_frame {
            let field = format!("{FIELD}[{index}].callFrame");
            self.to.error("frame", line, &field, "a node needs a call frame");
        }
    }
}

/// The members of a node that are checked.
pub(super) struct NodeText<'a> {
    pub id: Option<u64>,
    pub parent: Option<u64>,
    pub has_frame: bool,
    pub children: WrittenValue<'a>,
}

impl<'a> NodeText<'a> {
    /// Reads a node, whose members can be missing.
    pub(super) fn read(text: &'a str) -> Self {
        let mut node =
            Self { id: None, parent: None, has_frame: false, children: WrittenValue::default() };
        WrittenValue::of(text).each_member(|key, value| match key {
            "id" => node.id = value.as_written().parse().ok(),
            "parent" => node.parent = value.as_written().parse().ok(),
            "callFrame" => node.has_frame = value.is_object(),
            "children" => node.children = value,
            _ => {}
        });
        node
    }
}

/// Checks the samples of a chunk.
struct SampleChecks<'a> {
    known: &'a IdSet,
    count: u64,
    line: usize,
    to: &'a mut Problems,
}

impl TakeItems for SampleChecks<'_> {
    type Item<'de> = ListNumber;

    fn take(&mut self, sample: ListNumber) {
        self.count += 1;
        if !matches!(sample, ListNumber::Whole(id) if self.known.contains(id)) {
            let message = format!("a sample of the unknown node {sample}");
            self.to.error("sample", self.line, "args.data.cpuProfile.samples", message);
        }
    }
}

/// Counts the times before samples, or other numbers of samples.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    pub count: u64,
    runs_back: bool,
    has_other_values: bool,
}

impl TakeItems for Deltas {
    type Item<'de> = ListNumber;

    fn take(&mut self, delta: ListNumber) {
        self.count += 1;
        self.runs_back |= matches!(delta, ListNumber::Other(delta) if delta < 0.0);
        self.has_other_values |= delta == ListNumber::None;
    }
}

impl Deltas {
    /// Adds what is wrong with the times before samples.
    pub(super) fn check(&self, samples: u64, line: usize, field: &str, to: &mut Problems) {
        if self.count != samples {
            let message = format!("{} times for {samples} samples", self.count);
            to.error("deltas", line, field, message);
        }
        if self.has_other_values {
            to.error("delta", line, field, "the time before a sample has to be a number");
        }
        if self.runs_back {
            to.warn("back", line, field, "the time runs back");
        }
    }
}
