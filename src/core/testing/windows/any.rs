//! Random windows: such as V8 gives, and others.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::profile::frame::CallFrame;
use crate::profile::position::{PositionTicks, SourcePosition};
use crate::profile::window::{Sample, Window, WindowNode};

fn frame() -> impl Strategy<Value = CallFrame> {
    let name = prop_oneof![
        4 => "[ab]",
        1 => Just("(idle)".to_owned()),
        1 => Just("(program)".to_owned()),
        1 => Just("(garbage collector)".to_owned()),
        1 => any::<String>(),
    ];
    let url = prop_oneof![4 => Just("/a.js".to_owned()), 1 => any::<String>()];
    (name, url, 1_u32..3, -1..2, -1..2).prop_map(|(function_name, url, script_id, line, column)| {
        let meta = CallFrame { function_name, script_id: 0, ..CallFrame::root() };
        if meta.is_meta() {
            return meta;
        }
        CallFrame { url, script_id, line, column, ..meta }
    })
}

/// Returns windows of one recording, which share frames. Their times are near `around_us`.
pub fn windows(around_us: i64) -> impl Strategy<Value = Vec<Window>> {
    let nodes = vec((any::<Index>(), any::<Index>()), 0..20);
    let samples = vec((-2000_i64..2_000_000, any::<Index>()), 0..30);
    let ticks = vec((any::<Index>(), 0_u32..4, 0_u32..3, 1_u32..4), 0..20);
    let deopts = vec((any::<Index>(), "[ab]"), 0..3);
    let parts = vec((nodes, samples, ticks, deopts, -2000_i64..2_000_000), 1..8);
    (vec(frame(), 1..12), parts).prop_map(move |(frames, parts)| {
        parts
            .into_iter()
            .map(|(nodes, samples, ticks, deopts, end)| {
                let mut window = Window { end_us: around_us + end, ..Window::default() };
                push(&mut window, 0, &CallFrame::root());
                for (parent, frame) in nodes {
                    let parent = parent.index(window.nodes.len()) as u32;
                    push(&mut window, parent, frame.get(&frames));
                }
                for (time, node) in samples {
                    let node = node.index(window.nodes.len()) as u32;
                    let time_us = around_us + time;
                    window.samples.push(Sample { time_us, node, ..Sample::default() });
                }
                let at = |(node, line, column, ticks): (Index, u32, u32, u32)| PositionTicks {
                    node: node.index(window.nodes.len()) as u32,
                    position: SourcePosition { line, column },
                    ticks,
                };
                let ticks = ticks.into_iter().map(at).collect();
                window.set_positions(ticks);
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
