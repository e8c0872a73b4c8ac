//! Windows: the samples of one thread between two rotations.

use super::frame::CallFrame;

/// A node of a window's call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowNode {
    /// Index of the parent in `Window::nodes`; the root is its own parent.
    pub parent: u32,
    /// Index into `Window::frames`.
    pub frame: u32,
}

/// A moment, and the node that was on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time, CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Index into `Window::nodes`.
    pub node: u32,
}

/// The count of V8's samples on a line of a node's function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTicks {
    /// Index into `Window::nodes`.
    pub node: u32,
    /// Line, from 1 (unlike a frame's).
    pub line: i32,
    /// Count of samples. V8 also counts samples that it does not keep, and keeps some that it does
    /// not count.
    pub ticks: u32,
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
    /// Lines of nodes, if the sampler gives details; a node can have a line several times.
    pub lines: Vec<LineTicks>,
    /// Indices into `nodes`, with the reason why V8 does not optimize the node's function, if the
    /// sampler gives details.
    pub deopts: Vec<(u32, String)>,
    /// Start of the window, CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// End of the window, CLOCK_MONOTONIC, microseconds.
    pub end_us: i64,
}
