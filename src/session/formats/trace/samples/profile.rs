//! Writes the samples of a thread as the events of a profile.

use std::fmt::Write;

use super::frames::{NONE, SampleFrames};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::format::frame_json::CallFrameJson;
use cpu_prof_core::format::script_id::ScriptIdOffset;
use cpu_prof_core::format::trace::ours::PROFILER;
use cpu_prof_core::profile::frame::CallFrame;

/// The most samples of an event: DevTools does not load events with many more.
const SAMPLES_PER_CHUNK: usize = 1000;

/// A pause between samples that is longer than so many usual ones belongs to nobody: nothing was sampled.
const LONGEST: i64 = 5;

/// Id of the root, which stands for no stack.
const ROOT: u64 = 1;
/// Id of the node of samples whose stacks are not known.
const UNKNOWN: u64 = 2;
/// Id of the node of the first frame.
const FIRST: u64 = 3;

/// A sample with its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedSample {
    /// Time, microseconds.
    pub at_us: i64,
    /// Index of the innermost frame; of none for an empty stack.
    pub frame: u32,
}

/// Appends the events of a thread's profile, by its ids of process and thread.
pub(super) fn profile_events(
    (pid, tid): (u32, u32),
    mut samples: Vec<PlacedSample>,
    frames: &SampleFrames,
    events: &mut Vec<Vec<u8>>,
) {
    samples.cold_sort_by_key(|sample| sample.at_us);
    let Some(first) = samples.first() else { return };
    let usual_us = usual_length(&samples);
    let event = |name: &str, ts: i64, data: &str| {
        format!(
            "{{\"cat\":\"{PROFILER}\",\"name\":\"{name}\",\"ph\":\"P\",\"id\":\"0x{pid:x}{tid:08x}\",\
             \"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"args\":{{\"data\":{{{data}}}}}}}"
        )
        .into_bytes()
    };
    let start_us = first.at_us;
    events.push(event("Profile", start_us, &format!("\"startTime\":{start_us}")));
    let mut chunk = Chunk::new(frames, start_us);
    let ends = samples.iter().skip(1).map(|next| Some(next.at_us)).chain([None]);
    for (sample, next_us) in samples.iter().zip(ends) {
        chunk.sample(*sample);
        let usual_end_us = sample.at_us.saturating_add(usual_us);
        match next_us {
            Some(next_us)
                if next_us.saturating_sub(sample.at_us) > usual_us.saturating_mul(LONGEST) =>
            {
                chunk.pause(usual_end_us);
            }
            Some(_) => {}
            None => chunk.end_us = Some(usual_end_us),
        }
        if chunk.ids.len() >= SAMPLES_PER_CHUNK || chunk.end_us.is_some() {
            let ts = chunk.end_us.unwrap_or(chunk.last_us);
            events.push(event("ProfileChunk", ts, &chunk.take()));
        }
    }
}

/// Returns the usual time between two samples, microseconds: the median.
fn usual_length(samples: &[PlacedSample]) -> i64 {
    const UNKNOWN_US: i64 = 1000;
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let mut lengths: Vec<i64> =
        pairs.map(|(one, next)| next.at_us - one.at_us).filter(|length| *length > 0).collect();
    let middle = lengths.len() / 2;
    if lengths.is_empty() { UNKNOWN_US } else { *lengths.select_nth_unstable(middle).1 }
}

/// The part of a profile that the next event holds.
struct Chunk<'a> {
    frames: &'a SampleFrames,
    /// Whether the node of each frame was announced.
    is_announced: Vec<bool>,
    nodes: String,
    ids: Vec<u64>,
    deltas: Vec<i64>,
    lines: Vec<(u32, u32)>,
    last_us: i64,
    end_us: Option<i64>,
}

impl<'a> Chunk<'a> {
    fn new(frames: &'a SampleFrames, start_us: i64) -> Self {
        let mut chunk = Self {
            frames,
            is_announced: Vec::new(),
            nodes: String::new(),
            ids: Vec::new(),
            deltas: Vec::new(),
            lines: Vec::new(),
            last_us: start_us,
            end_us: None,
        };
        chunk.node(ROOT, None, &CallFrame::root());
        chunk.node(UNKNOWN, Some(ROOT), &CallFrame::unknown());
        chunk
    }

    fn sample(&mut self, sample: PlacedSample) {
        let Some(frame) = self.frames.get(sample.frame).filter(|frame| frame.call_frame.is_some())
        else {
            return self.push(UNKNOWN, sample.at_us, (0, 0));
        };
        let id = self.announce(sample.frame);
        self.push(id, sample.at_us, (frame.position.line, frame.position.column));
    }

    /// Ends the last sample by one of the root, for which viewers draw nothing.
    fn pause(&mut self, at_us: i64) {
        self.push(ROOT, at_us, (0, 0));
    }

    fn push(&mut self, id: u64, at_us: i64, line: (u32, u32)) {
        self.ids.push(id);
        self.deltas.push(at_us - self.last_us);
        self.lines.push(line);
        self.last_us = at_us;
    }

    /// Announces the node of a frame after those of its callers. Returns its id.
    fn announce(&mut self, frame: u32) -> u64 {
        let mut open = Vec::new();
        let mut at = frame;
        while let Some(next) = self.frames.get(at) {
            if self.is_announced.get(at as usize).copied().unwrap_or(false) {
                break;
            }
            open.push(at);
            at = next.parent;
        }
        while let Some(at) = open.pop() {
            let index = at as usize;
            if self.is_announced.len() <= index {
                self.is_announced.resize(index + 1, false);
            }
            self.is_announced[index] = true;
            let Some(frame) = self.frames.get(at) else { continue };
            let parent = self.id(frame.parent);
            if self.id(at) != ROOT {
                let unknown = CallFrame::unknown();
                self.node(self.id(at), Some(parent), frame.call_frame.as_ref().unwrap_or(&unknown));
            }
        }
        self.id(frame)
    }

    /// Returns the id of a frame's node. A root that the file has is that of the profile.
    fn id(&self, frame: u32) -> u64 {
        let Some(known) = self.frames.get(frame) else { return ROOT };
        let root = CallFrame::root();
        let is_root = known.parent == NONE && known.call_frame.as_ref() == Some(&root);
        if is_root { ROOT } else { FIRST + u64::from(frame) }
    }

    fn node(&mut self, id: u64, parent: Option<u64>, frame: &CallFrame) {
        let separator = if self.nodes.is_empty() { "" } else { "," };
        let frame = CallFrameJson::new(frame, &frame.url, ScriptIdOffset::NONE).encode();
        let frame = frame.as_ref().map_or("{}", |frame| frame.get());
        // A string accepts everything.
        let _ = write!(self.nodes, "{separator}{{\"id\":{id}");
        if let Some(parent) = parent {
            let _ = write!(self.nodes, ",\"parent\":{parent}");
        }
        let _ = write!(self.nodes, ",\"callFrame\":{frame}}}");
    }

    /// Returns the data of an event, and begins the next part.
    fn take(&mut self) -> String {
        let list =
            |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(",");
        let ids = list(&mut self.ids.drain(..).map(|id| id.to_string()));
        let deltas = list(&mut self.deltas.drain(..).map(|delta| delta.to_string()));
        let nodes = std::mem::take(&mut self.nodes);
        let mut data = format!(
            "\"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[{ids}]}},\"timeDeltas\":[{deltas}]"
        );
        if self.lines.iter().any(|(line, _)| *line > 0) {
            let lines = list(&mut self.lines.iter().map(|(line, _)| line.to_string()));
            let columns = list(&mut self.lines.iter().map(|(_, column)| column.to_string()));
            let _ = write!(data, ",\"lines\":[{lines}],\"columns\":[{columns}]");
        }
        self.lines.clear();
        if let Some(end_us) = self.end_us {
            let _ = write!(data, ",\"endTime\":{end_us}");
        }
        data
    }
}
