//! Profiles of the inspector, the portable source: parses their JSON into windows.
//!
//! `lib/inspector-sampler.js` takes the profiles on the recorded thread. They are parsed on the
//! writer thread.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_bytes::ByteBuf;

use cpu_prof_core::base::error::Error;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::position::{PositionTicks, SourcePosition};
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};

/// `Profiler.Profile` of the DevTools protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParsedProfile {
    nodes: Vec<InspectorNode>,
    /// CLOCK_MONOTONIC, microseconds.
    start_time: f64,
    /// CLOCK_MONOTONIC, microseconds.
    end_time: f64,
    /// Id of the node on top, for each sample.
    #[serde(default)]
    samples: Vec<u64>,
    /// Time before each sample, microseconds.
    #[serde(default)]
    time_deltas: Vec<i64>,
}

/// `Profiler.ProfileNode` of the DevTools protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InspectorNode {
    id: u64,
    call_frame: InspectorFrame,
    #[serde(default)]
    children: Vec<u64>,
    deopt_reason: Option<JsText>,
    #[serde(default)]
    position_ticks: Vec<InspectorLineTicks>,
}

/// `Runtime.CallFrame` of the DevTools protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InspectorFrame {
    function_name: JsText,
    script_id: JsText,
    url: JsText,
    line_number: i32,
    column_number: i32,
}

/// `Profiler.PositionTickInfo` of the DevTools protocol.
#[derive(Deserialize)]
struct InspectorLineTicks {
    line: i32,
    ticks: u32,
}

/// A JavaScript string, which may hold halves of surrogate pairs.
type JsText = ByteBuf;

/// Returns a string as text. Halves of surrogate pairs become U+FFFD.
fn lossy(text: &JsText) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Latest time of a sample: the largest integer that JavaScript writes exactly.
const MAX_TIME_US: i64 = 1 << 53;

/// Parses a profile that the inspector returned as JSON.
pub(crate) fn read(json: &str) -> Result<Window, Error> {
    let profile: ParsedProfile = serde_json::from_str(json).map_err(|error| {
        Error::Unavailable(format!("the profile of the inspector cannot be read: {error}"))
    })?;
    Ok(window(profile))
}

fn window(profile: ParsedProfile) -> Window {
    // The cast saturates.
    let time = |us: f64| (us as i64).clamp(0, MAX_TIME_US);
    let (start_us, end_us) = (time(profile.start_time), time(profile.end_time));
    let mut window = Window { start_us, end_us, ..Window::default() };
    let mut ticks = Vec::new();
    let index_of = nodes(profile.nodes, &mut window, &mut ticks);
    let mut time_us = start_us;
    for (id, delta_us) in profile.samples.iter().zip(profile.time_deltas) {
        time_us = time_us.saturating_add(delta_us).clamp(0, MAX_TIME_US);
        if let Some(node) = index_of.get(id).copied() {
            window.samples.push(Sample { time_us, node, ..Sample::default() });
        }
    }
    window.samples.sort_by_key(|sample| sample.time_us);
    window.set_positions(ticks);
    window
}

/// Adds the tree, parents first, and the ticks of its nodes. Returns the index of each node by its
/// id. The first node is the root; nodes that are not below the root are left out.
fn nodes(
    nodes: Vec<InspectorNode>,
    window: &mut Window,
    ticks: &mut Vec<PositionTicks>,
) -> FxHashMap<u64, u32> {
    let mut index_of = FxHashMap::default();
    let mut by_id: FxHashMap<u64, InspectorNode> = FxHashMap::default();
    let root = nodes.first().map(|node| node.id);
    for node in nodes {
        by_id.entry(node.id).or_insert(node);
    }
    let mut frames = FxHashMap::default();
    let mut pending: Vec<(u64, u32)> = root.into_iter().map(|id| (id, 0)).collect();
    while let Some((id, parent)) = pending.pop() {
        // Each node is added once, even if several nodes list it as a child.
        let Some(node) = by_id.remove(&id) else { continue };
        let index = window.nodes.len() as u32;
        index_of.insert(id, index);
        pending.extend(node.children.iter().rev().map(|child| (*child, index)));
        ticks.extend(node.position_ticks.iter().map(|at| PositionTicks {
            node: index,
            position: SourcePosition::line(u32::try_from(at.line).unwrap_or(0)),
            ticks: at.ticks,
        }));
        window.deopts.extend(node.deopt_reason.map(|reason| (index, lossy(&reason))));
        let frame = CallFrame::from(node.call_frame);
        let frame = *frames.entry(frame).or_insert_with_key(|frame| {
            window.frames.push(frame.clone());
            window.frames.len() as u32 - 1
        });
        window.nodes.push(WindowNode { parent, frame });
    }
    index_of
}

impl From<InspectorFrame> for CallFrame {
    fn from(frame: InspectorFrame) -> Self {
        Self {
            function_name: lossy(&frame.function_name),
            url: lossy(&frame.url),
            script_id: lossy(&frame.script_id).parse().unwrap_or(0),
            line: frame.line_number.max(-1),
            column: frame.column_number.max(-1),
            origin: FrameOrigin::Executed,
            package: None,
            compiler: None,
        }
    }
}
