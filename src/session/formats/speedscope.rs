//! Writes speedscope's own format: <https://www.speedscope.app/file-format-schema.json>.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::model::frame_table::FrameTable;
use crate::model::lists::sample_list::ProfileSample;
use crate::model::thread_profile::{NONE, ThreadProfile};
use crate::model::{Session, Thread};
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::format::url::numbered_path;
use cpu_prof_core::profile::frame::CallFrame;

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

/// Writes a profile for each thread. Idle time, and time between two recordings, has an empty stack.
pub(super) fn write(session: &Session, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let (frames, indices) = shared_frames(&session.frames);
    out.write_all(
        b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":",
    )?;
    value(out, &concat!("cpu-prof@", env!("CARGO_PKG_VERSION")))?;
    out.write_all(b",\"name\":")?;
    value(out, &name)?;
    out.write_all(b",\"activeProfileIndex\":0,\"shared\":{\"frames\":")?;
    value(out, &frames)?;
    out.write_all(b"},\"profiles\":[")?;
    let threads = session
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)));
    for (index, (process, thread)) in threads.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        let name = format!("{} - {}", process.label(), thread.full_name());
        write_thread(thread, &name, session.clock(process).start_us, &indices, out)?;
    }
    out.write_all(b"\n]}\n")
}

/// Returns the frames of all profiles, which the file holds once, and their indices by the numbers of
/// frames; none for the root and for idle time.
fn shared_frames(frames: &FrameTable) -> (Vec<SpeedscopeFrame>, Vec<Option<u32>>) {
    let mut list = FxIndexSet::default();
    let indices = frames.list().iter().map(|frame| {
        let is_hidden =
            frame.is_meta() && matches!(frame.function_name.as_str(), "(root)" | "(idle)");
        (!is_hidden).then(|| list.insert_full(SpeedscopeFrame::of(frame)).0 as u32)
    });
    let indices = indices.collect();
    (list.into_iter().collect(), indices)
}

impl SpeedscopeFrame {
    fn of(frame: &CallFrame) -> Self {
        let from_1 = |place: i32| (place >= 0).then(|| place.saturating_add(1));
        let file = frame.has_file().then(|| numbered_path(frame).into_owned());
        let line = from_1(frame.line);
        let name = match (frame.function_name.as_str(), &file, line) {
            // speedscope lists names alone. It gives these names when it reads V8's profiles.
            ("", Some(file), Some(line)) => {
                format!("(anonymous {}:{line})", file.rsplit('/').next().unwrap_or_default())
            }
            ("", _, _) => "(anonymous)".to_owned(),
            (name, _, _) => name.to_owned(),
        };
        Self { name, file, line, col: from_1(frame.column) }
    }
}

/// Writes a thread's profile. Stacks and weights go out one by one, because they can be many.
fn write_thread(
    thread: &Thread,
    name: &str,
    clock_start_us: i64,
    frame_indices: &[Option<u32>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let spans = spans(thread);
    let start_us = spans.first().map_or(thread.start_us(), |span| span.from_us);
    let end_us = spans.last().map_or(start_us, |span| span.to_us);
    out.write_all(b"{\"type\":\"sampled\",\"unit\":\"microseconds\",\"name\":")?;
    value(out, &name)?;
    write!(
        out,
        ",\"startValue\":{},\"endValue\":{},\"samples\":",
        start_us.saturating_sub(clock_start_us),
        end_us.saturating_sub(clock_start_us)
    )?;
    list(out, spans.iter().map(|span| span.stack(frame_indices)))?;
    out.write_all(b",\"weights\":")?;
    list(out, spans.iter().map(|span| span.to_us.saturating_sub(span.from_us)))?;
    out.write_all(b"}")
}

/// A time with one stack.
struct StackSpan<'a> {
    profile: &'a ThreadProfile,
    /// Index into the profile's nodes; [`NONE`] for an empty stack.
    node: u32,
    from_us: i64,
    to_us: i64,
}

impl StackSpan<'_> {
    /// Returns the indices of the stack's frames, from the root.
    fn stack(&self, frame_indices: &[Option<u32>]) -> Vec<u32> {
        let mut stack = Vec::new();
        let nodes = &self.profile.nodes;
        let mut at = nodes.get(self.node as usize);
        while let Some(node) = at {
            stack.extend(frame_indices[node.frame as usize]);
            at = nodes.get(node.parent as usize);
        }
        stack.reverse();
        stack
    }
}

/// Returns the spans of a thread. Consecutive samples of one stack are one span.
fn spans(thread: &Thread) -> Vec<StackSpan<'_>> {
    let mut spans: Vec<StackSpan<'_>> = Vec::new();
    for profile in &thread.profiles {
        if let (Some(last), Some(first)) = (spans.last(), profile.samples.first()) {
            let (from_us, to_us) = (last.to_us, first.time_us);
            spans.push(StackSpan { profile, node: NONE, from_us, to_us: to_us.max(from_us) });
        }
        let mut samples = profile.samples.iter().peekable();
        while let Some(ProfileSample { time_us, node, .. }) = samples.next() {
            let to_us = samples.peek().map_or(profile.end_us, |next| next.time_us);
            match spans.last_mut() {
                Some(last) if last.node == node && std::ptr::eq(last.profile, profile) => {
                    last.to_us = to_us.max(last.to_us);
                }
                last => {
                    let from_us = last.map_or(time_us, |last| last.to_us);
                    let to_us = to_us.max(from_us);
                    spans.push(StackSpan { profile, node, from_us, to_us });
                }
            }
        }
    }
    spans
}

fn list<T: Serialize>(out: &mut dyn Write, items: impl Iterator<Item = T>) -> io::Result<()> {
    Ok(serde_json::Serializer::new(out).collect_seq(items)?)
}

fn value(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::builder::ProfileBuilder;
    use crate::model::{Clock, Process};
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use serde_json::{Value, json};

    #[test]
    fn a_profile_for_each_thread() {
        let mut session = Session::default();
        let frame = |name: &str, url: &str, script_id| CallFrame {
            function_name: name.into(),
            url: url.into(),
            script_id,
            line: if url.is_empty() { -1 } else { 11 },
            column: if url.is_empty() { -1 } else { 2 },
            ..CallFrame::root()
        };
        let frames = &mut session.frames;
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
                builder.sample(id, 10, SourcePosition::line(0));
            }
            builder.extend_to(start_us + 100);
            builder.finish()
        };
        // The same file has another script id in a second process.
        let profiles = vec![recording(1000, 7), recording(2000, 8)];
        let threads = vec![Thread { id: 0, name: "main".into(), profiles, ..Thread::default() }];
        session.processes.push(Process {
            pid: 42,
            name: "nx".into(),
            threads,
            ..Process::default()
        });
        session.clocks.push(Clock { start_us: 1000, end_us: 2100, ..Clock::default() });
        let mut out = Vec::new();
        write(&session, "x.json", &mut out).unwrap();
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
