//! The profile of one thread, as it was read from a file: a call tree with times, and samples.

use crate::model::compilation::CompilerSpan;
use crate::model::lists::sample_list::{SampleList, fit};
use crate::model::lists::steps::Steps;
use crate::model::series::Series;
use cpu_prof_core::profile::cpu_use::{CpuUse, NativeSpan};
use cpu_prof_core::profile::gc::{CollectionTotals, MemoryRange};
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::position::SourcePosition;

/// The index of no node.
pub const NONE: u32 = u32::MAX;

/// Time that two recordings of a thread may overlap, microseconds: an end can be an estimate.
pub const END_TOLERANCE_US: i64 = 10_000;

/// A profile of one thread, from start to stop. Times are microseconds of the recording machine's
/// clock.
#[derive(Debug, Clone, Default)]
pub struct ThreadProfile {
    /// Start of the profile within the scope of reading.
    pub start_us: i64,
    /// End of the profile within the scope: not before `start_us`, nor before the last sample.
    pub end_us: i64,
    /// Nodes, parents before their children.
    pub nodes: Vec<ProfileNode>,
    /// Numbers of the label sets that the samples of each node have; empty if no sample has labels. Samples of one
    /// stack with other labels have a node of their own beside the first, without children: so all that is
    /// known of nodes is known of labels.
    pub labels: Vec<u32>,
    /// Times of the nodes that have some: most nodes only lead to others.
    pub times: Vec<NodeTimes>,
    /// Samples in the order of their times; empty if the scope is without samples.
    pub samples: SampleList,
    /// Count of samples in the scope.
    pub sample_count: u64,
    /// Positions of nodes, in the order of the nodes; empty if the scope is without lines.
    pub lines: Vec<ProfileLine>,
    /// Nodes with the reason why V8 does not optimize their functions; empty if the scope is without
    /// samples.
    pub deopts: Vec<(u32, String)>,
    /// What was on top of the stack; empty if the scope is without steps.
    pub steps: Steps,
    /// Times in which the thread was not on a core while its stack showed a call, in order. Empty if
    /// the scope is without lines, or without samples and steps.
    pub off_core: Vec<OffCoreSpan>,
    /// What TypeScript's compiler worked on, by the ends.
    pub compiler_spans: Vec<CompilerSpan>,
    /// The system's count of the thread's time in the scope; none if the file has no counters, or the
    /// scope is without lines.
    pub cpu: Option<CpuUse>,
    /// What native threads of the process used in the scope, in the order of the file. Only a main thread's
    /// recording tells, and only of times in which they ran.
    pub native: Vec<NativeSpan>,
    /// Whether the system counted what tells blocked calls from work.
    pub tells_blocked: bool,
    /// Whether the system counted what tells waiting for a core from work.
    pub tells_waiting: bool,
    /// Collections in the scope; none if the file does not tell them.
    pub collections: Option<CollectionTotals>,
    /// Memory in the scope; none if the file does not tell it.
    pub memory: Option<MemoryRange>,
    /// What the file tells over time beside the samples.
    pub series: Series,
    /// Time within the scope that the file lacks, because it could not be written: microseconds.
    pub lost_us: i64,
    /// Whether the file tells the end of the recording.
    pub has_ended: bool,
    /// Start and end of the recording, whatever the scope. They identify the recording.
    pub recorded_us: (i64, i64),
}

impl ThreadProfile {
    /// Returns the times of a node.
    pub fn times(&self, node: &ProfileNode) -> NodeTimes {
        self.times.get(node.times as usize).copied().unwrap_or_default()
    }

    /// Returns the number of the label set that a node's samples have.
    pub fn labels(&self, node: u32) -> u32 {
        self.labels.get(node as usize).copied().unwrap_or(NO_LABELS)
    }

    /// Returns the nodes that have some time, with their times.
    pub fn timed_nodes(&self) -> impl Iterator<Item = (&ProfileNode, NodeTimes)> {
        let timed = self.nodes.iter().filter(|node| node.times != NONE);
        timed.map(|node| (node, self.times(node)))
    }

    /// Returns a value for each node, which `below` makes from that of the node above.
    pub fn downward<T: Clone + Default>(
        &self,
        mut below: impl FnMut(T, u32, &ProfileNode) -> T,
    ) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        // Parents come before their children. The parent of a root is out of range.
        for (number, node) in (0_u32..).zip(&self.nodes) {
            let above = values.get(node.parent as usize).cloned().unwrap_or_default();
            values.push(below(above, number, node));
        }
        values
    }

    /// Returns the times of all nodes, in the order of the nodes.
    pub fn all_times(&self) -> impl ExactSizeIterator<Item = NodeTimes> {
        self.nodes.iter().map(|node| self.times(node))
    }

    /// Returns the times of a node, to change them.
    pub fn times_mut(&mut self, node: u32) -> &mut NodeTimes {
        let Self { nodes, times, .. } = self;
        let index = &mut nodes[node as usize].times;
        if *index == NONE {
            *index = times.len() as u32;
            times.push(NodeTimes::default());
        }
        &mut times[*index as usize]
    }

    /// Gives the long lists no more memory than they need.
    pub(super) fn fit(&mut self) {
        fit(&mut self.nodes);
        fit(&mut self.times);
        fit(&mut self.lines);
        fit(&mut self.off_core);
        self.samples.fit();
    }

    /// Returns whether both were recorded at the same time.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (self.recorded_us, other.recorded_us);
        one.1.min(other.1).saturating_sub(one.0.max(other.0)) > END_TOLERANCE_US
    }
}

/// A node of the call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileNode {
    /// Index into `ThreadProfile::nodes`; [`NONE`] for a root.
    pub parent: u32,
    /// Number of the call frame in the `FrameTable`.
    pub frame: u32,
    /// Index into `ThreadProfile::times`; [`NONE`] for a node without time.
    pub times: u32,
}

/// The times of a node of the call tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeTimes {
    /// Time of the node's samples, microseconds, without blocked and waiting time. A sample lasts until
    /// the next sample.
    pub self_us: u64,
    /// Time in which the thread was blocked in this call, microseconds.
    pub blocked_us: u64,
    /// Time in which the thread was in this call and waited for a core, microseconds.
    pub waiting_us: u64,
    /// Share of the run's wall time, microseconds; 0 until the time of all threads is shared.
    pub critical_us: u64,
}

impl ProfileNode {
    /// Returns a node without time.
    pub fn new(parent: u32, frame: u32) -> Self {
        Self { parent, frame, times: NONE }
    }
}

impl NodeTimes {
    /// Returns whether any of the times is more than 0.
    pub fn has_time(&self) -> bool {
        self.self_us | self.blocked_us | self.waiting_us | self.critical_us > 0
    }

    /// Adds the times of another node.
    pub fn add(&mut self, other: Self) {
        for (sum, us) in [
            (&mut self.self_us, other.self_us),
            (&mut self.blocked_us, other.blocked_us),
            (&mut self.waiting_us, other.waiting_us),
            (&mut self.critical_us, other.critical_us),
        ] {
            *sum = sum.saturating_add(us);
        }
    }

    /// Returns the time in all states, microseconds.
    pub fn all_us(&self) -> u64 {
        self.self_us.saturating_add(self.blocked_us).saturating_add(self.waiting_us)
    }
}

/// A time in which a thread was not on a core while its stack showed a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffCoreSpan {
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
    /// Index into `ThreadProfile::nodes`.
    pub node: u32,
    /// Reason.
    pub state: OffCore,
}

/// A position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileLine {
    /// Index into `ThreadProfile::nodes`.
    pub node: u32,
    /// Position; the unknown one for the samples of the node whose lines are unknown.
    pub position: SourcePosition,
    /// Time of the position's samples, microseconds, without blocked and waiting time.
    pub self_us: u64,
    /// Count of samples, also of those with a part of their time in the scope.
    pub samples: u64,
}

impl OffCoreSpan {
    /// Adds a span to a list. A span that goes on where the last ends becomes a part of the last.
    pub fn add(list: &mut Vec<Self>, span: Self) {
        let key = |span: &Self| (span.node, span.state);
        match list.last_mut() {
            Some(last) if key(last) == key(&span) && last.to_us == span.from_us => {
                last.to_us = span.to_us;
            }
            _ => list.push(span),
        }
    }
}
