//! The CPU profiles of a trace: `Profile` and `ProfileChunk` events.

use rustc_hash::FxHashMap;

use super::sample_labels::SampleLabels;
use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::trace::check::event_text::{EventText, WrittenValue};
use cpu_prof_core::format::trace::check::problems::Problems;

/// The most profiles that are checked. Real traces have one for each thread.
const MAX_PROFILES: usize = 100_000;

/// The profiles of a trace.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    /// By process and id.
    pub known: FxHashMap<String, ProfileState>,
    /// Count of the samples.
    pub samples: u64,
}

/// The state of a profile.
#[derive(Debug, Default)]
pub(super) struct ProfileState {
    is_announced: bool,
    first_chunk: Option<usize>,
    nodes: IdSet,
    labels: SampleLabels,
}

impl Profiles {
    /// Checks an event of a profile, `Profile` or `ProfileChunk`.
    pub(super) fn event(&mut self, name: &str, event: &EventText<'_>, to: &mut Problems) {
        let key = format!("{} {}", event.get("pid").as_written(), event.get("id").as_written());
        if self.known.len() >= MAX_PROFILES && !self.known.contains_key(&key) {
            let message = format!(
                "the trace has more than {MAX_PROFILES} profiles: this one, and \
                                   later ones, are not checked"
            );
            return to.warn("profiles", "id", message);
        }
        let state = self.known.entry(key).or_default();
        let data = event.get("args").member("data");
        if name == "ProfileChunk" {
            state.first_chunk.get_or_insert(to.line);
            self.samples += state.chunk(data, to);
            return;
        }
        state.is_announced = true;
        if !data.member("startTime").is_number() {
            let field = "args.data.startTime";
            to.error("Profile", field, "a Profile needs the time of its start");
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
            to.line = line;
            to.error("no Profile", "id", message);
        }
    }
}

impl ProfileState {
    /// Checks a chunk. Returns the count of its samples.
    fn chunk(&mut self, data: WrittenValue<'_>, to: &mut Problems) -> u64 {
        const SAMPLES: &str = "args.data.cpuProfile.samples";
        let profile = data.member("cpuProfile");
        let mut nodes = 0;
        profile.member("nodes").each_item(|node| {
            self.node(NodeText::read(node), nodes, to);
            nodes += 1;
        });
        let mut samples = 0;
        profile.member("samples").each_item(|sample| {
            samples += 1;
            if !sample.id().is_some_and(|id| self.nodes.contains(id)) {
                let message = format!("a sample of the unknown node {}", number(sample));
                to.error("sample", SAMPLES, message);
            }
        });
        let deltas = match data.member("timeDeltas") {
            deltas if deltas.is_null() => profile.member("timeDeltas"),
            deltas => deltas,
        };
        let mut checked = Deltas::default();
        checked.add(deltas);
        checked.check(samples, "args.data.timeDeltas", to);
        let mut lines = 0;
        data.member("lines").each_item(|_| lines += 1);
        if lines > 0 && lines != samples {
            let message = format!("{lines} lines for {samples} samples");
            to.warn("lines", "args.data.lines", message);
        }
        self.labels.sets(data.member("labelSets"), to);
        self.labels.samples(data.member("labels"));
        self.labels.check(samples, to);
        samples
    }

    fn node(&mut self, node: NodeText<'_>, index: usize, to: &mut Problems) {
        const FIELD: &str = "args.data.cpuProfile.nodes";
        let Some(id) = node.id else {
            let field = format!("{FIELD}[{index}].id");
            return to.error("node id", &field, "a node needs a number as its id");
        };
        if let Some(parent) = node.parent
            && !self.nodes.contains(parent)
        {
            let message = format!("node {id} has the unknown parent {parent}");
            to.error("parent", FIELD, message);
        }
        if !self.nodes.insert(id) {
            to.warn("again", FIELD, format!("node {id} was announced before"));
        }
        if !node.has_frame {
            let field = format!("{FIELD}[{index}].callFrame");
            to.error("frame", &field, "a node needs a call frame");
        }
    }
}

/// The members of a node that are checked.
#[derive(Default)]
pub(super) struct NodeText<'a> {
    pub id: Option<u64>,
    pub parent: Option<u64>,
    pub has_frame: bool,
    pub children: WrittenValue<'a>,
}

impl<'a> NodeText<'a> {
    /// Reads a node, whose members can be missing.
    pub(super) fn read(text: WrittenValue<'a>) -> Self {
        let mut node = Self::default();
        text.each_member(|key, value| match key {
            "id" => node.id = value.id(),
            "parent" => node.parent = value.id(),
            "callFrame" => node.has_frame = value.is_object(),
            "children" => node.children = value,
            _ => {}
        });
        node
    }
}

/// Returns a number in a list, for a message.
pub(super) fn number(value: WrittenValue<'_>) -> String {
    match (value.id(), value.number()) {
        (Some(whole), _) => whole.to_string(),
        (None, Some(other)) => other.to_string(),
        _ => "that is no number".to_owned(),
    }
}

/// Counts the times before samples.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    count: u64,
    runs_back: bool,
    has_other_values: bool,
}

impl Deltas {
    /// Adds a list of times.
    pub(super) fn add(&mut self, list: WrittenValue<'_>) {
        list.each_item(|delta| {
            self.count += 1;
            match delta.number() {
                Some(delta) => self.runs_back |= delta < 0.0,
                None => self.has_other_values = true,
            }
        });
    }

    /// Adds what is wrong with the times.
    pub(super) fn check(&self, samples: u64, field: &str, to: &mut Problems) {
        if self.count != samples {
            let message = format!("{} times for {samples} samples", self.count);
            to.error("deltas", field, message);
        }
        if self.has_other_values {
            to.error("delta", field, "the time before a sample has to be a number");
        }
        if self.runs_back {
            to.warn("back", field, "the time runs back");
        }
    }
}
