//! The CPU profiles of a trace: `Profile` and `ProfileChunk` events.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::problems::Problems;

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
    nodes: FxHashSet<u64>,
}

impl Profiles {
    /// Returns the count of the profiles.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Checks an event of the phase P.
    pub(super) fn event(&mut self, event: &Value, line: usize, to: &mut Problems) {
        let state = self.known.entry(format!("{} {}", event["pid"], event["id"])).or_default();
        let data = &event["args"]["data"];
        match event["name"].as_str() {
            Some("Profile") => {
                state.is_announced = true;
                if !data["startTime"].is_number() {
                    let field = "args.data.startTime";
                    to.error("Profile", line, field, "a Profile needs the time of its start");
                }
            }
            Some("ProfileChunk") => {
                state.first_chunk.get_or_insert(line);
                self.samples += state.chunk(data, line, to);
            }
            _ => {}
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
    fn chunk(&mut self, data: &Value, line: usize, to: &mut Problems) -> u64 {
        let profile = &data["cpuProfile"];
        for (index, node) in list(&profile["nodes"]).iter().enumerate() {
            let at = |field: &str| format!("args.data.cpuProfile.nodes[{index}].{field}");
            let Some(id) = node["id"].as_u64() else {
                to.error("node id", line, &at("id"), "a node needs a number as its id");
                continue;
            };
            if let Some(parent) = node["parent"].as_u64()
                && !self.nodes.contains(&parent)
            {
                let message = format!("node {id} has the unknown parent {parent}");
                to.error("parent", line, "args.data.cpuProfile.nodes", message);
            }
            if !self.nodes.insert(id) {
                let message = format!("node {id} was announced before");
                to.warn("again", line, "args.data.cpuProfile.nodes", message);
            }
            if !node["callFrame"].is_object() {
                to.error("frame", line, &at("callFrame"), "a node needs a call frame");
            }
        }
        let samples = list(&profile["samples"]);
        let field = "args.data.cpuProfile.samples";
        for sample in samples {
            if sample.as_u64().is_none_or(|id| !self.nodes.contains(&id)) {
                to.error("sample", line, field, format!("a sample of the unknown node {sample}"));
            }
        }
        let deltas = match &data["timeDeltas"] {
            Value::Null => list(&profile["timeDeltas"]),
            deltas => list(deltas),
        };
        check_deltas(samples.len(), deltas, line, "args.data.timeDeltas", to);
        let lines = list(&data["lines"]).len();
        if lines > 0 && lines != samples.len() {
            let message = format!("{lines} lines for {} samples", samples.len());
            to.warn("lines", line, "args.data.lines", message);
        }
        samples.len() as u64
    }
}

/// Checks the times before samples.
pub(super) fn check_deltas(
    samples: usize,
    deltas: &[Value],
    line: usize,
    field: &str,
    to: &mut Problems,
) {
    if deltas.len() != samples {
        let message = format!("{} times for {samples} samples", deltas.len());
        to.error("deltas", line, field, message);
    }
    if deltas.iter().any(|delta| delta.as_f64().is_some_and(|delta| delta < 0.0)) {
        to.warn("back", line, field, "the time runs back");
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
