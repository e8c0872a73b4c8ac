//! Windows made by hand, and golden files.

use std::path::Path;

use crate::profile::frame::CallFrame;
use crate::profile::position::{PositionTicks, SourcePosition};
use crate::profile::window::{Sample, Window, WindowNode};

/// The start of the windows.
pub const START_US: i64 = 522_975_545_427;

/// Returns a function; without a script, a state.
pub fn frame(name: &str, url: &str, script_id: u32) -> CallFrame {
    let line = if script_id == 0 { -1 } else { 11 };
    CallFrame {
        function_name: name.into(),
        url: url.into(),
        script_id,
        line,
        column: line,
        ..CallFrame::root()
    }
}

/// Returns a window of nodes with their parents, and of samples with their times after the start.
pub fn window(nodes: &[(u32, CallFrame)], samples: &[(i64, u32)]) -> Window {
    Window {
        frames: nodes.iter().map(|(_, frame)| frame.clone()).collect(),
        nodes: (0..)
            .zip(nodes)
            .map(|(frame, (parent, _))| WindowNode { parent: *parent, frame })
            .collect(),
        samples: samples
            .iter()
            .map(|(time, node)| Sample {
                time_us: START_US + time,
                node: *node,
                ..Sample::default()
            })
            .collect(),
        ..Window::default()
    }
}

/// Returns ticks of nodes at lines.
pub fn ticks(list: &[(u32, u32, u32)]) -> Vec<PositionTicks> {
    let at = |(node, line, ticks): &(u32, u32, u32)| PositionTicks {
        node: *node,
        position: SourcePosition::line(*line),
        ticks: *ticks,
    };
    list.iter().map(at).collect()
}

/// Checks that a text equals a golden file, a path in this crate.
pub fn assert_golden(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, golden, "{file} differs; UPDATE_GOLDEN=1 rewrites it");
    serde_json::from_str::<serde_json::Value>(text).unwrap();
}
