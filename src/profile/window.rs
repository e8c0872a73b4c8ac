//! Windows: what one thread sampled between two rotations.

use super::frame::CallFrame;

/// A node of one window's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowNode {
    /// Index of the parent in `Window::nodes`; the root is its own parent.
    pub parent: u32,
    /// Index into `Window::frames`.
    pub frame: u32,
}

/// The moment and the node that was on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Index into `Window::nodes`.
    pub node: u32,
}

/// How often V8 saw a line of a node's function on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTicks {
    /// Index into `Window::nodes`.
    pub node: u32,
    /// Line, from 1 (unlike a frame's).
    pub line: i32,
    /// How often. V8 also counts samples that it does not keep, and keeps some that it does not
    /// count.
    pub ticks: u32,
}

/// What one thread sampled between two rotations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Each call frame of this window once.
    pub frames: Vec<CallFrame>,
    /// Parents stand before their children; the root is the first.
    pub nodes: Vec<WindowNode>,
    /// In the order of their times.
    pub samples: Vec<Sample>,
    /// Lines within nodes, if they were asked for; a node can have a line several times.
    pub lines: Vec<LineTicks>,
    /// Index into `nodes`, and why V8 does not optimize the node's function, if that was asked for.
    pub deopts: Vec<(u32, String)>,
    /// When the window was opened: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// When the window was closed: CLOCK_MONOTONIC, microseconds.
    pub end_us: i64,
}
