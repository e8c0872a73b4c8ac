//! Plain data that the rooms hand to each other.

/// Where a call-tree node stands in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallFrame {
    /// The function's name as V8 gives it; empty if it has none.
    pub function_name: String,
    /// V8's resource name: an absolute path, a `file:` or `node:` URL, or empty.
    pub url: String,
    /// V8's script id within its isolate; 0 outside of any script.
    pub script_id: u32,
    /// Line, from 0; -1 outside of any script.
    pub line: i32,
    /// Column, from 0; -1 outside of any script.
    pub column: i32,
}

impl CallFrame {
    /// Whether V8 made this frame up to hang a state on: it is not a function of the program.
    pub fn is_meta(&self) -> bool {
        self.script_id == 0
            && matches!(
                self.function_name.as_str(),
                "(root)" | "(program)" | "(idle)" | "(garbage collector)"
            )
    }
}

/// A node of one window's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowNode {
    /// Index of the parent in `Window::nodes`; the root is its own parent.
    pub parent: u32,
    /// Index into `Window::frames`.
    pub frame: u32,
}

/// The moment and the node that was on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// CLOCK_MONOTONIC, microseconds.
    pub time_us: i64,
    /// Index into `Window::nodes`.
    pub node: u32,
}

/// What one thread sampled between two rotations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    /// Each call frame of this window once.
    pub frames: Vec<CallFrame>,
    /// Parents stand before their children; the root is the first.
    pub nodes: Vec<WindowNode>,
    /// In the order of their times.
    pub samples: Vec<Sample>,
    /// When the window was opened: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// When the window was closed: CLOCK_MONOTONIC, microseconds.
    pub end_us: i64,
}
