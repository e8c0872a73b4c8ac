//! A `.cpuprofile` as a thread's events.

use std::rc::Rc;

use super::outcome::MergeError;
use super::part::OutputParts;
use super::rewrite::{ProfileRewriter, SourceNode};
use crate::format::cpuprofile::read::CpuProfileReader;
use crate::format::node_json::Number;
use crate::format::trace::event::{Args, Event, Phase};
use crate::format::trace::events::Events;
use crate::format::trace::scan::{Item, Scanner};
use crate::format::trace::thread::{TIMELINE, encode_frame, script_offset};
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;
use crate::profile::program::Program;
use crate::profile::thread_profile::{NONE, ReadScope, ThreadProfile};
use crate::read::sniff::RecordingFile;

/// Adds the whole of it to a thread, which has begun. False if it cannot be read.
pub(super) fn add<R: std::io::Read>(
    scanner: &mut Scanner<R>,
    recording: &RecordingFile,
    rebuilt: &mut ProfileRewriter,
    pid: u32,
    parts: &mut OutputParts,
) -> Result<bool, MergeError> {
    let mut frames = FrameTable::new();
    let Some(profile) = read(scanner, &mut frames) else { return Ok(false) };
    let script_offset = script_offset(pid, recording.tid);
    let encode = |frame: &Rc<CallFrame>| encode_frame(frame, &frame.url, script_offset);
    let frames: Vec<_> = frames.list().iter().map(encode).collect();
    let root = encode_frame(&CallFrame::root(), "", 0);
    let source = |id, parent, call_frame| SourceNode { id, parent, children: None, call_frame };
    rebuilt.nodes(&[source(ROOT, None, root.as_deref())]);
    for (index, node) in (0_u32..).zip(&profile.nodes) {
        let parent = (node.parent != NONE).then(|| id(node.parent));
        rebuilt.nodes(&[source(id(index), parent, frames[node.frame as usize].as_deref())]);
    }
    let mut last_us = recording.start_us;
    let samples = profile.samples.iter().map(|sample| {
        let delta = sample.time_us.saturating_sub(last_us);
        last_us = sample.time_us;
        let node = if sample.node == NONE { ROOT } else { id(sample.node) };
        (node.0 as u64, delta)
    });
    rebuilt.samples(samples, parts)?;
    if recording.end_us.is_some() {
        // Not the one that is told, if samples come after it.
        let end_us = profile.end_us;
        let mut events = Events::default();
        events.push(&Event {
            cat: TIMELINE,
            name: "trace.end",
            phase: Phase::Instant,
            pid,
            tid: recording.tid,
            ts: end_us,
            args: Args::Empty {},
        });
        rebuilt.other(events.as_bytes(), end_us, parts)?;
    }
    Ok(true)
}

/// A root of our own: nothing is drawn for it.
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

/// What names the thread, which the file does not.
pub(super) fn names(program: &Program, mark: &str, pid: u32, tid: u32) -> Vec<Vec<u8>> {
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
