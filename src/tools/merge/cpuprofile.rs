//! A `.cpuprofile` as the events of a thread.

use rustc_hash::FxHashMap;

use super::outcome::MergeError;
use super::part::OutputParts;
use super::rewrite::ProfileRewriter;
use crate::format::ascii_json::{encode, encode_raw};
use crate::format::cpuprofile::read::CpuProfileReader;
use crate::format::frame_json::CallFrameJson;
use crate::format::node_json::NodeJson;
use crate::format::number::Number;
use crate::format::script_id::ScriptIdOffset;
use crate::format::trace::event::Event;
use crate::format::trace::events::Events;
use crate::format::trace::scan::{Item, Scanner};
use crate::format::trace::thread_names::each_name;
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;
use crate::profile::position::SourcePosition;
use crate::profile::program::Program;
use crate::profile::thread_profile::{NONE, ReadScope, ThreadProfile};
use crate::read::sniff::RecordingFile;

/// Adds the samples of a `.cpuprofile` to a thread. Returns false if the file cannot be read.
pub(super) fn add<R: std::io::Read>(
    scanner: &mut Scanner<R>,
    recording: &RecordingFile,
    rewriter: &mut ProfileRewriter,
    pid: u32,
    parts: &mut OutputParts,
) -> Result<bool, MergeError> {
    let mut frames = FrameTable::new();
    let Some(profile) = read(scanner, &mut frames) else { return Ok(false) };
    let offset = ScriptIdOffset::of_thread(pid, recording.tid);
    let encode = |frame: &CallFrame| CallFrameJson::new(frame, &frame.url, offset).encode();
    let frames: Vec<_> = frames.list().iter().map(encode).collect();
    let root = CallFrameJson::new(&CallFrame::root(), "", ScriptIdOffset::NONE).encode();
    rewriter.nodes(&[NodeJson::new(ROOT, None, root.as_deref(), None)]);
    let deopts: FxHashMap<u32, _> =
        profile.deopts.iter().map(|(node, reason)| (*node, encode_raw(reason))).collect();
    for (index, node) in (0_u32..).zip(&profile.nodes) {
        let parent = (node.parent != NONE).then(|| id(node.parent));
        let call_frame = frames[node.frame as usize].as_deref();
        let deopt_reason = deopts.get(&index).and_then(Option::as_deref);
        rewriter.nodes(&[NodeJson::new(id(index), parent, call_frame, deopt_reason)]);
    }
    let mut last_us = recording.start_us;
    let samples = profile.samples.iter().map(|sample| {
        let delta = sample.time_us.saturating_sub(last_us);
        last_us = sample.time_us;
        let node = if sample.node == NONE { ROOT } else { id(sample.node) };
        (node.0 as u64, delta, SourcePosition::line(sample.line))
    });
    rewriter.samples(samples, parts)?;
    if recording.end_us.is_some() {
        // Later than the end in the file if samples come after that.
        let end_us = profile.end_us;
        let mut events = Events::default();
        events.push(&Event::trace_end(pid, recording.tid, end_us));
        rewriter.other(events.as_bytes(), end_us, parts)?;
    }
    Ok(true)
}

/// Id of an added root, for which viewers draw nothing.
const ROOT: Number = Number(0);

fn id(index: u32) -> Number {
    Number(i64::from(index) + 1)
}

fn read<R: std::io::Read>(
    scanner: &mut Scanner<R>,
    frames: &mut FrameTable,
) -> Option<ThreadProfile> {
    let mut reader = CpuProfileReader::new(ReadScope::SAMPLES);
    while let Some(item) = scanner.next().ok()? {
        if let Item::Member { key, value } = item {
            reader.member(key, value, frames).ok()?;
        }
    }
    reader.finish()
}

/// Returns the events that name the process and the thread. A `.cpuprofile` names neither.
pub(super) fn names(program: &Program, mark: &str, pid: u32, tid: u32) -> Vec<Vec<u8>> {
    let short = format!("{}{mark}", program.short_label());
    let mut names = Vec::new();
    each_name(pid, tid, &short, |name| {
        let mut text = Vec::new();
        encode(&mut text, name);
        names.push(text);
    });
    names
}
