//! A `.cpuprofile` as a thread's events.

use std::rc::Rc;

use super::MergeError;
use super::part::Parts;
use super::rebuild::{Rebuilt, SourceNode};
use super::survey::Recording;
use crate::cpuprofile::read::CpuProfileReader;
use crate::model::CallFrame;
use crate::profile::{Frames, NONE, Profile, Wanted};
use crate::program::Program;
use crate::trace::encode::Events;
use crate::trace::event::{Args, Event, Phase, Scope};
use crate::trace::scan::{Item, Scanner};
use crate::trace::thread::{TIMELINE, encode_frame, script_offset};

/// Adds the whole of it to a thread, which has begun. False if it cannot be read.
pub fn add<R: std::io::Read>(
    scanner: &mut Scanner<R>,
    recording: &Recording,
    rebuilt: &mut Rebuilt,
    pid: u32,
    parts: &mut Parts,
) -> Result<bool, MergeError> {
    let mut frames = Frames::new();
    let Some(profile) = read(scanner, &mut frames) else { return Ok(false) };
    let script_offset = script_offset(pid, recording.tid);
    let encode = |frame: &Rc<CallFrame>| encode_frame(frame, &frame.url, script_offset);
    let frames: Vec<_> = frames.list().iter().map(encode).collect();
    for (index, node) in (0_u32..).zip(&profile.nodes) {
        let Some(call_frame) = &frames[node.frame as usize] else { continue };
        let parent = (node.parent != NONE).then(|| id(node.parent));
        rebuilt.nodes(&[SourceNode { id: id(index), parent, call_frame }]);
    }
    let mut last_us = recording.start_us;
    let (mut samples, mut deltas) = (Vec::new(), Vec::new());
    for sample in &profile.samples {
        // The first node is a root: nothing is drawn for it.
        samples.push(id(if sample.node == NONE { 0 } else { sample.node }));
        deltas.push(sample.time_us.saturating_sub(last_us));
        last_us = sample.time_us;
    }
    rebuilt.samples(&samples, &deltas, parts)?;
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
        rebuilt.other(events.as_bytes(), end_us, parts)?;
    }
    Ok(true)
}

fn id(index: u32) -> u64 {
    u64::from(index) + 1
}

fn read<R: std::io::Read>(scanner: &mut Scanner<R>, frames: &mut Frames) -> Option<Profile> {
    let mut reader = CpuProfileReader::new(Wanted::SAMPLES);
    while let Some(item) = scanner.next().ok()? {
        if let Item::Member { key, value } = item {
            reader.member(key, value, frames).ok()?;
        }
    }
    reader.finish()
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
