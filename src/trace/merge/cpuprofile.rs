//! A `.cpuprofile` as a thread's events.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::MergeError;
use super::part::Part;
use super::rebuild::{Rebuilt, SourceNode};
use super::survey::Recording;
use super::windows::Windows;
use crate::program::Program;
use crate::trace::encode::{Events, encode_raw};
use crate::trace::event::{Args, Event, NodeFrame, Phase, Scope};
use crate::trace::scan::{Item, Scanner};
use crate::trace::thread::{TIMELINE, script_offset};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeJson {
    id: u64,
    parent: Option<u64>,
    #[serde(default)]
    children: Vec<u64>,
    call_frame: FrameJson,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameJson {
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    script_id: serde_json::Value,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: i32,
    #[serde(default)]
    column_number: i32,
}

/// Adds the whole of it to a thread, which has begun. False if it cannot be read.
pub fn add<R: std::io::Read>(
    scanner: &mut Scanner<R>,
    recording: &Recording,
    rebuilt: &mut Rebuilt,
    pid: u32,
    windows: &Windows,
    parts: &mut [Part],
) -> Result<bool, MergeError> {
    let (mut samples, mut deltas): (Vec<u64>, Vec<i64>) = (Vec::new(), Vec::new());
    loop {
        let (key, value) = match scanner.next() {
            Ok(Some(Item::Member { key, value })) => (key, value),
            Ok(Some(Item::Event(_))) => continue,
            Ok(None) => break,
            Err(_) => return Ok(false),
        };
        let is_read = match key {
            "nodes" => match serde_json::from_slice::<Vec<NodeJson>>(value) {
                Ok(nodes) => {
                    add_nodes(&nodes, script_offset(pid, recording.tid), rebuilt);
                    true
                }
                Err(_) => false,
            },
            "samples" => serde_json::from_slice(value).map(|read| samples = read).is_ok(),
            "timeDeltas" => serde_json::from_slice(value).map(|read| deltas = read).is_ok(),
            _ => true,
        };
        if !is_read {
            return Ok(false);
        }
    }
    rebuilt.samples(&samples, &deltas, windows, parts)?;
    if let Some(end_us) = recording.end_us {
        let mut events = Events::default();
        events.push(&Event {
            cat: TIMELINE,
            name: "trace.end",
            phase: Phase::Instant(Scope::Thread),
            pid,
            tid: recording.tid,
            ts: end_us,
            args: Args::Empty {},
        });
        rebuilt.other(events.as_bytes(), end_us, windows, parts)?;
    }
    Ok(true)
}

/// Parents before their children.
fn add_nodes(nodes: &[NodeJson], script_offset: u64, rebuilt: &mut Rebuilt) {
    let at: FxHashMap<u64, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let mut parents: Vec<Option<usize>> =
        nodes.iter().map(|node| at.get(&node.parent?).copied()).collect();
    for (number, node) in nodes.iter().enumerate() {
        for child in node.children.iter().filter_map(|child| at.get(child)) {
            parents[*child] = Some(number);
        }
    }
    let mut is_added = vec![false; nodes.len()];
    let mut path = Vec::new();
    for number in 0..nodes.len() {
        let mut next = Some(number);
        while let Some(number) = next.filter(|number| !is_added[*number]) {
            // Marked at once, so that a circle comes to an end.
            is_added[number] = true;
            path.push(number);
            next = parents[number];
        }
        while let Some(number) = path.pop() {
            let node = &nodes[number];
            let Some(call_frame) = frame(&node.call_frame, script_offset) else { continue };
            let parent = parents[number].map(|parent| nodes[parent].id);
            rebuilt.nodes(&[SourceNode { id: node.id, parent, call_frame: &call_frame }]);
        }
    }
}

fn frame(frame: &FrameJson, script_offset: u64) -> Option<Box<RawValue>> {
    let id = match &frame.script_id {
        serde_json::Value::String(text) => text.parse().unwrap_or(0),
        other => other.as_u64().unwrap_or(0),
    };
    let script_id = if id == 0 { 0 } else { script_offset.saturating_add(id) };
    encode_raw(&NodeFrame {
        function_name: &frame.function_name,
        script_id: &script_id.to_string(),
        url: &frame.url,
        line_number: frame.line_number,
        column_number: frame.column_number,
    })
}

/// What names the thread, which the file does not.
pub fn names(program: &Program, mark: &str, pid: u32, tid: u32) -> Vec<Vec<u8>> {
    let short = format!("{}{mark}", program.short_label());
    let name = |event: &str, tid: u32, ts: i64, name: &str| {
        let mut events = Events::default();
        let (cat, phase) = ("__metadata", Phase::Metadata);
        events.push(&Event { cat, name: event, phase, pid, tid, ts, args: Args::Name { name } });
        events.as_bytes().to_owned()
    };
    let mut names = vec![name("process_name", 0, 0, &short)];
    if tid == 0 {
        names.push(name("thread_name", 0, 1, &format!("{short} - main")));
        names.push(name("thread_name", 0, 0, "CrRendererMain"));
    } else {
        names.push(name("thread_name", tid, 1, &format!("{short} - worker {tid}")));
    }
    names
}
