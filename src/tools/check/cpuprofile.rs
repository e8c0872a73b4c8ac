//! The contents of a `.cpuprofile` file, member by member, in any order.

use super::profiles::{Deltas, NodeText, number};
use super::sample_labels::SampleLabels;
use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::trace::check::event_text::WrittenValue;
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_session::formats::cpuprofile::kind::JsonKind;

/// What is known of a profile so far.
#[derive(Debug, Default)]
pub(super) struct ProfileChecks {
    /// Count of the nodes; none for a file without nodes.
    nodes: Option<usize>,
    ids: IdSet,
    /// Nodes that another node names as its child, or that name their parent.
    children: IdSet,
    /// Ids that nodes name as their parent.
    parents: IdSet,
    has_two_parents: bool,
    /// What is wrong with single nodes. In a trace, a member of this name has another meaning.
    node_problems: Problems,
    samples: u64,
    sampled: IdSet,
    sample_problems: Problems,
    deltas: Deltas,
    labels: SampleLabels,
    start: Option<f64>,
    end: Option<f64>,
    kind: JsonKind,
}

impl ProfileChecks {
    /// The members whose values are read.
    const READ: [&'static str; 7] =
        ["nodes", "samples", "timeDeltas", "startTime", "endTime", "labels", "labelSets"];

    /// Returns whether the value of a member is read.
    pub(super) fn reads(key: &str) -> bool {
        Self::READ.contains(&key) || JsonKind::READ.contains(&key)
    }

    /// Checks the profile that an event holds. Returns the count of its samples.
    pub(super) fn event(profile: WrittenValue<'_>, to: &mut Problems) -> u64 {
        let mut checks = Self::default();
        checks.node_problems.line = to.line;
        checks.sample_problems.line = to.line;
        profile.each_member(|key, value| checks.member(key, value));
        if checks.nodes.is_none() {
            let field = "args.data.cpuProfile.nodes";
            to.error("nodes", field, "a CpuProfile needs the nodes of its profile");
            return checks.samples;
        }
        checks.finish(to)
    }

    /// Reads a member of the file.
    pub(super) fn member(&mut self, key: &str, value: WrittenValue<'_>) {
        self.kind.member(key, value.as_written().as_bytes());
        match key {
            "nodes" if value.is_list() => {
                self.nodes.get_or_insert_default();
                value.each_item(|node| self.node(node));
            }
            "samples" => value.each_item(|sample| self.sample(sample)),
            "timeDeltas" => self.deltas.add(value),
            "labels" => self.labels.samples(value),
            "labelSets" => self.labels.sets(value, &mut self.sample_problems),
            "startTime" => self.start = value.number(),
            "endTime" => self.end = value.number(),
            _ => {}
        }
    }

    fn node(&mut self, node: WrittenValue<'_>) {
        let to = &mut self.node_problems;
        let count = self.nodes.get_or_insert_default();
        let index = *count;
        *count += 1;
        let node = NodeText::read(node);
        match node.id {
            None => {
                let field = format!("nodes[{index}].id");
                to.error("id", &field, "a node needs a number as its id");
            }
            Some(id) => {
                if !self.ids.insert(id) {
                    to.error("again", "nodes", format!("two nodes have the id {id}"));
                }
                if let Some(parent) = node.parent {
                    self.parents.insert(parent);
                    self.has_two_parents |= !self.children.insert(id);
                }
            }
        }
        if !node.has_frame {
            let field = format!("nodes[{index}].callFrame");
            to.error("frame", &field, "a node needs a call frame");
        }
        node.children.each_item(|child| match child.id() {
            Some(child) => self.has_two_parents |= !self.children.insert(child),
            None => to.error("child", "nodes", format!("a child {} is no node", number(child))),
        });
    }

    fn sample(&mut self, sample: WrittenValue<'_>) {
        self.samples += 1;
        match sample.id() {
            Some(id) => drop(self.sampled.insert(id)),
            None => {
                let message = format!("a sample of the unknown node {}", number(sample));
                self.sample_problems.error("sample", "samples", message);
            }
        }
    }

    /// Returns whether the file is a profile.
    pub(super) fn is_profile(&self) -> bool {
        self.kind.is_profile()
    }

    /// Returns what the file is instead; none if its members do not tell.
    pub(super) fn other(&self) -> Option<&'static str> {
        self.kind.other()
    }

    /// Adds what is wrong with the profile. Returns the count of its samples.
    pub(super) fn finish(mut self, to: &mut Problems) -> u64 {
        let samples = self.samples;
        let Some(nodes) = self.nodes else {
            let message = "the profile is of an old format, which DevTools no longer reads";
            to.warn("head", "head", message);
            return samples;
        };
        to.add_all(self.node_problems);
        for child in self.children.without(&self.ids) {
            to.error("child", "nodes", format!("{child} is a child, but no node"));
        }
        for parent in self.parents.without(&self.ids) {
            to.error("parent", "nodes", format!("a node has the unknown parent {parent}"));
        }
        let roots = self.ids.without(&self.children).count();
        if nodes > 0 && roots != 1 {
            to.error("roots", "nodes", format!("the tree has {roots} roots instead of one"));
        }
        if self.has_two_parents {
            to.error("parents", "nodes", "a node has two parents");
        }
        to.add_all(self.sample_problems);
        for sample in self.sampled.without(&self.ids) {
            to.error("sample", "samples", format!("a sample of the unknown node {sample}"));
        }
        for (field, time) in [("startTime", self.start), ("endTime", self.end)] {
            if time.is_none() {
                to.error("time", field, "a profile needs this time in microseconds");
            }
        }
        if self.start.zip(self.end).is_some_and(|(start, end)| end < start) {
            to.error("end", "endTime", "the profile ends before it starts");
        }
        self.deltas.check(samples, "timeDeltas", to);
        self.labels.check(samples, to);
        if samples == 0 {
            to.warn("none", "samples", "the profile has no samples");
        }
        samples
    }
}
