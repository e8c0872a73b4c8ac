//! Windows: the samples of one thread between two rotations.

pub mod call_tree;
pub mod path_ids;
pub mod task;

use super::frame::CallFrame;
use super::label_table::LabelSet;
use super::position::{PositionTicks, SourcePosition, Uncounted, spread};

/// A node of a window's call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowNode {
    /// Index of the parent in `Window::nodes`; the root is its own parent.
    pub parent: u32,
    /// Index into `Window::frames`.
    pub frame: u32,
}

/// A moment, and the node that was on top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Time, CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Index into `Window::nodes`.
    pub node: u32,
    /// Position in the node's function; in the nearest function of a script below a native one of a module.
    pub position: SourcePosition,
    /// Position in the caller, where the node's function is native.
    pub call: SourcePosition,
    /// Id of the label set; 0 for none.
    pub labels: u32,
}

/// The samples of one thread between two rotations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    /// Call frames, each once.
    pub frames: Vec<CallFrame>,
    /// Nodes, parents before their children; the root is the first.
    pub nodes: Vec<WindowNode>,
    /// Samples in the order of their times.
    pub samples: Vec<Sample>,
    /// Indices into `nodes`, with the reason why V8 does not optimize the node's function.
    pub deopts: Vec<(u32, String)>,
    /// Label sets that samples of the recording have for the first time, with their ids.
    pub label_sets: Vec<(u32, LabelSet)>,
    /// Start of the window, CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// End of the window, CLOCK_MONOTONIC, microseconds.
    pub end_us: i64,
    /// Stacks that were compared with what V8's own code finds, since the start of the recording; none if V8's profiler
    /// has taken the samples.
    pub compared: Option<ComparedStacks>,
    /// Count of samples of this time that were lost.
    pub lost_samples: u64,
}

/// Counts of stacks that the walk and V8's own code have found at the same moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedStacks {
    /// The same.
    pub same: u32,
    /// Without innermost frames in V8's.
    pub left_out: u32,
    /// Different in another way.
    pub different: u32,
}

impl Window {
    /// Returns the index of a state's node; none if the window has no such node.
    pub fn state(&self, name: &str) -> Option<u32> {
        let is_state = |node: &WindowNode| {
            let frame = &self.frames[node.frame as usize];
            node.parent == 0 && frame.is_meta() && frame.function_name == name
        };
        self.nodes.iter().position(is_state).map(|index| index as u32)
    }

    /// Returns the index of a state's node, which is added if the window has no such node.
    pub fn state_or_new(&mut self, name: &str) -> u32 {
        self.state(name).unwrap_or_else(|| {
            self.frames.push(CallFrame::state(name));
            self.nodes.push(WindowNode { parent: 0, frame: self.frames.len() as u32 - 1 });
            self.nodes.len() as u32 - 1
        })
    }

    /// Gives each sample a position, from the ticks of the nodes. For functions without a script, V8 counts the
    /// line of their caller.
    pub fn set_positions(&mut self, ticks: Vec<PositionTicks>) {
        let nodes: Vec<u32> = self.samples.iter().map(|sample| sample.node).collect();
        let Self { samples, nodes: tree, frames, .. } = self;
        for (sample, position) in
            samples.iter_mut().zip(spread(&nodes, ticks, Uncounted::AsCounted))
        {
            match frames[tree[sample.node as usize].frame as usize].is_native() {
                true => sample.call = position,
                false => sample.position = position,
            }
        }
    }
}
