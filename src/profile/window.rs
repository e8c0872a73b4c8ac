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
    /// What V8 hangs every stack on.
    pub fn root() -> Self {
        Self {
            function_name: "(root)".into(),
            url: String::new(),
            script_id: 0,
            line: -1,
            column: -1,
        }
    }

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

/// How often V8 saw a line of a node's function on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTicks {
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
pub struct Window {
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

/// Turns the times of samples into what lies between them. Time never runs back, even if V8's
/// samples of one moment did.
#[derive(Debug, Clone, Copy)]
pub struct TimeLine {
    last_us: i64,
}

impl TimeLine {
    /// A line that starts at `start_us`.
    pub fn new(start_us: i64) -> Self {
        Self { last_us: start_us }
    }

    /// From the last sample, or the start, to this one: microseconds.
    pub fn delta(&mut self, time_us: i64) -> i64 {
        let delta = time_us.saturating_sub(self.last_us).max(0);
        self.last_us += delta;
        delta
    }

    /// The last sample's time, or the start.
    pub fn last_us(&self) -> i64 {
        self.last_us
    }
}

#[cfg(test)]
pub mod made {
    //! Windows made by hand, and the golden files that become of them.

    use std::path::Path;

    use super::{CallFrame, Sample, Window, WindowNode};

    /// When they start.
    pub const START_US: i64 = 522_975_545_427;

    /// A function, or what V8 made up, where there is no script.
    pub fn frame(name: &str, url: &str, script_id: u32) -> CallFrame {
        let line = if script_id == 0 { -1 } else { 11 };
        CallFrame { function_name: name.into(), url: url.into(), script_id, line, column: line }
    }

    /// From nodes with their parents, and samples with their times after the start.
    pub fn window(nodes: &[(u32, CallFrame)], samples: &[(i64, u32)]) -> Window {
        Window {
            frames: nodes.iter().map(|(_, frame)| frame.clone()).collect(),
            nodes: (0..)
                .zip(nodes)
                .map(|(frame, (parent, _))| WindowNode { parent: *parent, frame })
                .collect(),
            samples: samples
                .iter()
                .map(|(time, node)| Sample { time_us: START_US + time, node: *node })
                .collect(),
            ..Window::default()
        }
    }

    /// `file` is a path in `src`.
    pub fn assert_golden(file: &str, text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, golden, "{file} differs; UPDATE_GOLDEN=1 rewrites it");
        serde_json::from_str::<serde_json::Value>(text).unwrap();
    }
}

#[cfg(test)]
pub mod any {
    //! Windows as V8 could have given them, and stranger ones.

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::{CallFrame, LineTicks, Sample, Window, WindowNode};

    fn frame() -> impl Strategy<Value = CallFrame> {
        let name = prop_oneof![
            4 => "[ab]",
            1 => Just("(idle)".to_owned()),
            1 => Just("(program)".to_owned()),
            1 => Just("(garbage collector)".to_owned()),
            1 => any::<String>(),
        ];
        let url = prop_oneof![4 => Just("/a.js".to_owned()), 1 => any::<String>()];
        (name, url, 1_u32..3, -1..2, -1..2).prop_map(
            |(function_name, url, script_id, line, column)| {
                let made_up = CallFrame { function_name, script_id: 0, ..CallFrame::root() };
                if made_up.is_meta() {
                    return made_up;
                }
                CallFrame { url, script_id, line, column, ..made_up }
            },
        )
    }

    /// Some windows of one recording, which share frames; their times are about `around_us`.
    pub fn windows(around_us: i64) -> impl Strategy<Value = Vec<Window>> {
        let nodes = vec((any::<Index>(), any::<Index>()), 0..20);
        let samples = vec((-2000_i64..2_000_000, any::<Index>()), 0..30);
        let lines = vec((any::<Index>(), 1..4, 1_u32..4), 0..20);
        let deopts = vec((any::<Index>(), "[ab]"), 0..3);
        let parts = vec((nodes, samples, lines, deopts, -2000_i64..2_000_000), 1..8);
        (vec(frame(), 1..12), parts).prop_map(move |(frames, parts)| {
            parts
                .into_iter()
                .map(|(nodes, samples, lines, deopts, end)| {
                    let mut window = Window { end_us: around_us + end, ..Window::default() };
                    push(&mut window, 0, &CallFrame::root());
                    for (parent, frame) in nodes {
                        let parent = parent.index(window.nodes.len()) as u32;
                        push(&mut window, parent, frame.get(&frames));
                    }
                    for (time, node) in samples {
                        let node = node.index(window.nodes.len()) as u32;
                        window.samples.push(Sample { time_us: around_us + time, node });
                    }
                    for (node, line, ticks) in lines {
                        let node = node.index(window.nodes.len()) as u32;
                        window.lines.push(LineTicks { node, line, ticks });
                    }
                    for (node, reason) in deopts {
                        let node = node.index(window.nodes.len()) as u32;
                        window.deopts.push((node, reason));
                    }
                    window
                })
                .collect()
        })
    }

    fn push(window: &mut Window, parent: u32, frame: &CallFrame) {
        let known = window.frames.iter().position(|known| known == frame);
        let frame = known.unwrap_or_else(|| {
            window.frames.push(frame.clone());
            window.frames.len() - 1
        });
        window.nodes.push(WindowNode { parent, frame: frame as u32 });
    }
}
