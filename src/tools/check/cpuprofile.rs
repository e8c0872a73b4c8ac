//! The contents of a `.cpuprofile` file, member by member, in any order.

use serde_json::value::RawValue;

use super::list::{List, ListNumber, TakeItems};
use super::profiles::{Deltas, NodeText};
use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::trace::check::event_text::WrittenValue;
use cpu_prof_core::format::trace::check::problems::Problems;

/// What is known of a profile so far.
#[derive(Debug, Default)]
pub(super) struct ProfileChecks {
    pub nodes: ProfileNodes,
    pub samples: ProfileSamples,
    pub deltas: Deltas,
    start: Option<f64>,
    end: Option<f64>,
    /// Whether the profile is of an old format, with a tree of nodes.
    pub has_head: bool,
}

/// The nodes of a profile.
#[derive(Debug, Default)]
pub(super) struct ProfileNodes {
    /// Whether the file has nodes.
    pub are_there: bool,
    count: usize,
    ids: IdSet,
    /// Nodes that another node names as its child, or that name their parent.
    children: IdSet,
    /// Ids that nodes name as their parent.
    parents: IdSet,
    has_two_parents: bool,
    /// What is wrong with single nodes. In a trace, a member of this name has another meaning.
    problems: Problems,
}

/// The samples of a profile.
#[derive(Debug, Default)]
pub(super) struct ProfileSamples {
    pub count: u64,
    ids: IdSet,
    problems: Problems,
}

impl TakeItems for ProfileNodes {
    type Item<'de> = Box<RawValue>;

    fn take(&mut self, node: Box<RawValue>) {
        let index = self.count;
        self.count += 1;
        let node = NodeText::read(node.get());
        match node.id {
            None => {
                let field = format!("nodes[{index}].id");
                self.problems.error("id", 0, &field, "a node needs a number as its id");
            }
            Some(id) => {
                if !self.ids.insert(id) {
                    let message = format!("two nodes have the id {id}");
                    self.problems.error("again", 0, "nodes", message);
                }
                if let Some(parent) = node.parent {
                    self.parents.insert(parent);
                    self.has_two_parents |= !self.children.insert(id);
                }
            }
        }
        if !node.has_frame {
            let field = format!("nodes[{index}].callFrame");
            self.problems.error("frame", 0, &field, "a node needs a call frame");
        }
        List(&mut Children(self)).read(node.children.as_written());
    }
}

/// Takes the children of a node.
struct Children<'a>(&'a mut ProfileNodes);

impl TakeItems for Children<'_> {
    type Item<'de> = ListNumber;

    fn take(&mut self, child: ListNumber) {
        match child {
            ListNumber::Whole(child) => self.0.has_two_parents |= !self.0.children.insert(child),
            _ => self.0.problems.error("child", 0, "nodes", format!("a child {child} is no node")),
        }
    }
}

impl TakeItems for ProfileSamples {
    type Item<'de> = ListNumber;

    fn take(&mut self, sample: ListNumber) {
        self.count += 1;
        match sample {
            ListNumber::Whole(id) => drop(self.ids.insert(id)),
            _ => {
                let message = format!("a sample of the unknown node {sample}");
                self.problems.error("sample", 0, "samples", message);
            }
        }
    }
}

impl ProfileChecks {
    /// Reads a time of the profile.
    pub(super) fn time(&mut self, key: &str, value: &str) {
        let time = WrittenValue::of(value).number();
        match key {
            "startTime" => self.start = time,
            _ => self.end = time,
        }
    }

    /// Returns whether the file is a profile.
    pub(super) fn is_profile(&self) -> bool {
        self.nodes.are_there || self.has_head
    }

    /// Adds what is wrong with the profile. Returns the count of its samples.
    pub(super) fn finish(self, to: &mut Problems) -> u64 {
        let samples = self.samples.count;
        if !self.nodes.are_there {
            to.warn(
                "head",
                0,
                "head",
                "the profile is of an old format, which DevTools no longer reads",
            );
            return samples;
        }
        let nodes = self.nodes;
        to.add_all(nodes.problems);
        for child in nodes.children.without(&nodes.ids) {
            to.error("child", 0, "nodes", format!("{child} is a child, but no node"));
        }
        for parent in nodes.parents.without(&nodes.ids) {
            to.error("parent", 0, "nodes", format!("a node has the unknown parent {parent}"));
        }
        let roots = nodes.ids.without(&nodes.children).count();
        if nodes.count > 0 && roots != 1 {
            to.error("roots", 0, "nodes", format!("the tree has {roots} roots instead of one"));
        }
        if nodes.has_two_parents {
            to.error("parents", 0, "nodes", "a node has two parents");
        }
        to.add_all(self.samples.problems);
        for sample in self.samples.ids.without(&nodes.ids) {
            let message = format!("a sample of the unknown node {sample}");
            to.error("sample", 0, "samples", message);
        }
        for (field, time) in [("startTime", self.start), ("endTime", self.end)] {
            if time.is_none() {
                to.error("time", 0, field, "a profile needs this time in microseconds");
            }
        }
        if self.start.zip(self.end).is_some_and(|(start, end)| end < start) {
            to.error("end", 0, "endTime", "the profile ends before it starts");
        }
        self.deltas.check(samples, 0, "timeDeltas", to);
        if samples == 0 {
            to.warn("none", 0, "samples", "the profile has no samples");
        }
        samples
    }
}
