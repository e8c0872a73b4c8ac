//! Windows: the samples of one thread between two rotations.

use super::frame::CallFrame;
use super::position::{PositionTicks, SourcePosition, Uncounted, spread};

/// A node of a window's call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowNode {
    /// Index of the parent in `Window::nodes`; the root is its own parent.
    pub parent: u32,
    /// Index into `Window::frames`.
    pub frame: u32,
}

/// A moment, and the node that was on top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time, CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Index into `Window::nodes`.
    pub node: u32,
    /// SourcePosition in the node's function.
    pub position: SourcePosition,
}

/// The samples of one thread between two rotations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Call frames, each once.
    pub frames: Vec<CallFrame>,
    /// Nodes, parents before their children; the root is the first.
    pub nodes: Vec<WindowNode>,
    /// Samples in the order of their times.
    pub samples: Vec<Sample>,
    /// Indices into `nodes`, with the reason why V8 does not optimize the node's function.
    pub deopts: Vec<(u32, String)>,
    /// Start of the window, CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// End of the window, CLOCK_MONOTONIC, microseconds.
    pub end_us: i64,
}

impl Window {
    /// Gives each sample a position, from the ticks of the nodes. Functions without a script have
    /// none: V8 counts the line of their caller.
    pub(crate) fn set_positions(&mut self, mut ticks: Vec<PositionTicks>) {
        ticks.retain(|at| {
            let node = &self.nodes[at.node as usize];
            !self.frames[node.frame as usize].is_native()
        });
        let nodes: Vec<u32> = self.samples.iter().map(|sample| sample.node).collect();
        for (sample, position) in
            self.samples.iter_mut().zip(spread(&nodes, ticks, Uncounted::AsCounted))
        {
            sample.position = position;
        }
    }
}
