//! speedscope's own format: <https://www.speedscope.app/file-format-schema.json>.

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::format::url::file_path;
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;
use crate::profile::session::{Session, Thread};
use crate::profile::thread_profile::{NONE, ProfileSample, ThreadProfile};

/// A function, as speedscope has it. Lines and columns count from 1.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct SpeedscopeFrame {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<i32>,
}

/// Writes a profile for each thread. Its samples are those of the thread: what is idle, and what
/// lies between two recordings, has an empty stack.
pub(crate) fn write(recorded: &Session, name: &str, out: &mut impl Write) -> io::Result<()> {
    let (shared, places) = shared(&recorded.frames);
    out.write_all(
        b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":",
    )?;
    value(out, &concat!("cpu-prof@", env!("CARGO_PKG_VERSION")))?;
    out.write_all(b",\"name\":")?;
    value(out, &name)?;
    out.write_all(b",\"activeProfileIndex\":0,\"shared\":{\"frames\":")?;
    value(out, &shared)?;
    out.write_all(b"},\"profiles\":[")?;
    let threads = recorded
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)));
    for (index, (process, thread)) in threads.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        let name = format!("{} - {}", process.label(), thread.name);
        write_thread(thread, &name, recorded.clock(process).start_us, &places, out)?;
    }
    out.write_all(b"\n]}\n")
}

/// What speedscope shows, each once; and by the frames' numbers where it is: none for what is no
/// time of the program's.
fn shared(frames: &FrameTable) -> (Vec<SpeedscopeFrame>, Vec<Option<u32>>) {
    let mut numbers: FxHashMap<SpeedscopeFrame, u32> = FxHashMap::default();
    let mut places = Vec::with_capacity(frames.list().len());
    for frame in frames.list() {
        let is_shown =
            !frame.is_meta() || !matches!(frame.function_name.as_str(), "(root)" | "(idle)");
        let next = numbers.len() as u32;
        places.push(is_shown.then(|| *numbers.entry(frame_json(frame)).or_insert(next)));
    }
    let mut shared: Vec<(SpeedscopeFrame, u32)> = numbers.into_iter().collect();
    shared.sort_by_key(|(_, number)| *number);
    (shared.into_iter().map(|(frame, _)| frame).collect(), places)
}

fn frame_json(frame: &CallFrame) -> SpeedscopeFrame {
    let from_1 = |place: i32| (place >= 0).then(|| place.saturating_add(1));
    let file = (!frame.url.is_empty()).then(|| file_path(&frame.url).into_owned());
    let line = from_1(frame.line);
    let name = match (frame.function_name.as_str(), &file, line) {
        // Its lists have names alone. These it gives where it reads V8's profiles itself.
        ("", Some(file), Some(line)) => {
            format!("(anonymous {}:{line})", file.rsplit('/').next().unwrap_or_default())
        }
        ("", _, _) => "(anonymous)".to_owned(),
        (name, _, _) => name.to_owned(),
    };
    SpeedscopeFrame { name, file, line, col: from_1(frame.column) }
}

/// A profile with its samples and their weights, both written as they come: they can be many.
fn write_thread(
    thread: &Thread,
    name: &str,
    start_us: i64,
    places: &[Option<u32>],
    out: &mut impl Write,
) -> io::Result<()> {
    let spans: Vec<StackSpan<'_>> = spans(thread);
    let from = spans.first().map_or(thread.start_us(), |span| span.from_us);
    out.write_all(b"{\"type\":\"sampled\",\"unit\":\"microseconds\",\"name\":")?;
    value(out, &name)?;
    let end_us = spans.last().map_or(from, |span| span.to_us);
    let after_start = |us: i64| us.saturating_sub(start_us);
    write!(
        out,
        ",\"startValue\":{},\"endValue\":{},\"samples\":[",
        after_start(from),
        after_start(end_us)
    )?;
    let mut stack = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        stack.clear();
        let nodes = &span.profile.nodes;
        let mut at = nodes.get(span.node as usize);
        while let Some(node) = at {
            stack.extend(places[node.frame as usize]);
            at = nodes.get(node.parent as usize);
        }
        stack.reverse();
        value(out, &stack)?;
    }
    out.write_all(b"],\"weights\":[")?;
    for (index, span) in spans.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write!(out, "{}", span.to_us.saturating_sub(span.from_us))?;
    }
    out.write_all(b"]}")
}

/// A time with one and the same stack.
struct StackSpan<'a> {
    profile: &'a ThreadProfile,
    /// [`NONE`] for an empty stack.
    node: u32,
    from_us: i64,
    to_us: i64,
}

/// Samples of one stack in a row are one span.
fn spans(thread: &Thread) -> Vec<StackSpan<'_>> {
    let mut spans: Vec<StackSpan<'_>> = Vec::new();
    for profile in &thread.profiles {
        if let (Some(last), Some(first)) = (spans.last(), profile.samples.first()) {
            let (from_us, to_us) = (last.to_us, first.time_us);
            spans.push(StackSpan { profile, node: NONE, from_us, to_us: to_us.max(from_us) });
        }
        for (index, ProfileSample { time_us, node }) in profile.samples.iter().enumerate() {
            let to_us = profile.samples.get(index + 1).map_or(profile.end_us, |next| next.time_us);
            match spans.last_mut() {
                Some(last) if last.node == *node && std::ptr::eq(last.profile, profile) => {
                    last.to_us = to_us.max(last.to_us);
                }
                last => {
                    let from_us = last.map_or(*time_us, |last| last.to_us);
                    let to_us = to_us.max(from_us);
                    spans.push(StackSpan { profile, node: *node, from_us, to_us });
                }
            }
        }
    }
    spans
}

fn value(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::builder::ProfileBuilder;
    use crate::profile::session::{Clock, Process};
    use crate::profile::thread_profile::ReadScope;
    use serde_json::{Value, json};

    #[test]
    fn a_profile_for_each_thread() {
        let mut recorded = Session::default();
        let frame = |name: &str, url: &str, script_id| CallFrame {
            function_name: name.into(),
            url: url.into(),
            script_id,
            line: if url.is_empty() { -1 } else { 11 },
            column: if url.is_empty() { -1 } else { 2 },
        };
        let frames = &mut recorded.frames;
        let mut recording = |start_us, script_id| {
            let mut builder = ProfileBuilder::new(start_us, ReadScope::SAMPLES);
            for (id, parent, frame) in [
                (1, None, CallFrame::root()),
                (2, Some(1), frame("a", "file:///r/a%20b.js", script_id)),
                (3, Some(2), frame("", "node:fs", 9)),
                (4, Some(1), frame("(idle)", "", 0)),
                (5, Some(1), frame("(program)", "", 0)),
            ] {
                builder.announce(id, parent, frames.number(frame));
            }
            for id in [2, 3, 3, 4, 5] {
                builder.sample(id, 10);
            }
            builder.extend_to(start_us + 100);
            builder.finish()
        };
        // The same file has another script id in a second process.
        let profiles = vec![recording(1000, 7), recording(2000, 8)];
        let threads = vec![Thread { id: 0, name: "main".into(), profiles }];
        recorded.processes.push(Process {
            pid: 42,
            name: "nx".into(),
            threads,
            ..Process::default()
        });
        recorded.clocks.push(Clock { boot: None, start_us: 1000, end_us: 2100 });
        let mut out = Vec::new();
        write(&recorded, "x.json", &mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            json["shared"]["frames"],
            json!([
                { "name": "(unknown)" },
                { "name": "a", "file": "/r/a b.js", "line": 12, "col": 3 },
                { "name": "(anonymous node:fs:12)", "file": "node:fs", "line": 12, "col": 3 },
                { "name": "(program)" },
            ])
        );
        assert_eq!(
            json["profiles"],
            json!([{
                "type": "sampled", "unit": "microseconds", "name": "nx (pid 42) - main",
                "startValue": 10, "endValue": 1100,
                "samples": [[1], [1, 2], [], [3], [], [1], [1, 2], [], [3]],
                "weights": [10, 20, 10, 50, 910, 10, 20, 10, 50],
            }])
        );
    }
}
