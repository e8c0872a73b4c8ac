//! The frames of other tools' traces: a page's frames, or the labels of processes.

use serde_json::Value;

use crate::merge::inputs::event::SoundEvent;
use crate::merge::output::process_labels::{ForeignFrame, Labels, ProcessLabel};
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::base::outside_text::process_label;
use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::event_names::FRAMES;
use cpu_prof_core::format::trace::write::event_args::ProcessFrame;
use cpu_prof_session::formats::trace::read::process_names::without_pid;

/// The text of an event that names frames, and its time in microseconds.
pub(super) struct FrameEvent {
    json: Value,
    ts: i64,
    is_start: bool,
}

impl FrameEvent {
    /// Reads an event; none if the event names no frames.
    pub(super) fn read(event: SoundEvent<'_>) -> Option<Self> {
        if !FRAMES.contains(&event.name()) {
            return None;
        }
        let is_start = event.name() == b"TracingStartedInBrowser";
        let mut json: Value = serde_json::from_slice(event.text).ok()?;
        clean_labels(&mut json);
        let ts = json.get("ts").and_then(Value::as_f64).unwrap_or_default() as i64;
        (is_start || json.pointer("/args/data").is_some()).then_some(Self { json, ts, is_start })
    }

    /// Returns whether the event begins the trace of a browser without a list of frames.
    fn lacks_list(&self) -> bool {
        self.is_start && !self.json.pointer("/args/data/frames").is_some_and(Value::is_array)
    }

    fn frames(&self) -> Vec<&Value> {
        let Some(data) = self.json.pointer("/args/data") else { return Vec::new() };
        match data.get("frames").and_then(Value::as_array) {
            Some(frames) => frames.iter().collect(),
            None => vec![data],
        }
    }

    /// Returns the id of the page's main frame, as DevTools chooses it.
    fn main_frame(&self) -> Option<String> {
        let frames = self.frames();
        let flag = |frame: &&Value, key: &str| frame.get(key).and_then(Value::as_bool);
        let is_main = |frame: &&Value| {
            flag(frame, "isOutermostMainFrame").unwrap_or(true)
                && flag(frame, "isInPrimaryMainFrame").unwrap_or(true)
                && frame.get("parent").is_none()
        };
        let main = frames.iter().copied().rfind(is_main).or(frames.first().copied())?;
        main.get("frame").and_then(Value::as_str).map(str::to_owned)
    }

    /// Gives the frames and the event the pids of the output.
    fn renumber(&mut self, mut pid: impl FnMut(u32) -> u32) {
        let mut change = |member: Option<&mut Value>| {
            if let Some(member) = member
                && let Some(foreign) = member.as_u64().and_then(|pid| u32::try_from(pid).ok())
            {
                *member = pid(foreign).into();
            }
        };
        change(self.json.get_mut("pid"));
        if let Some(data) = self.json.pointer_mut("/args/data") {
            change(data.get_mut("processId"));
            let frames = data.get_mut("frames").and_then(Value::as_array_mut);
            for frame in frames.into_iter().flatten() {
                change(frame.get_mut("processId"));
            }
        }
    }

    /// Writes the event. An event before the slice counts from its start.
    fn write(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        if trace.slice.from_us > self.ts {
            self.json["ts"] = trace.slice.from_us.into();
        }
        let mut text = Vec::new();
        encode(&mut text, &self.json);
        trace.events(&text)
    }
}

/// Takes secrets out of the labels of processes, which older recordings have.
fn clean_labels(event: &mut Value) {
    let Some(data) = event.pointer_mut("/args/data") else { return };
    let clean = |frame: &mut Value| {
        if let Some(url) = frame.get_mut("url")
            && let Some(label) = url.as_str().filter(|url| without_pid(url).is_some())
        {
            *url = process_label(label).into();
        }
    };
    clean(data);
    data.get_mut("frames").and_then(Value::as_array_mut).into_iter().flatten().for_each(clean);
}

/// Where the frames of a trace go.
#[derive(Debug, Default)]
pub(super) struct TraceFrames {
    /// Whether the trace names frames.
    pub is_named: bool,
    /// Whether a list of frames is missing, without which DevTools refuses the trace.
    pub lacks_list: bool,
    /// Whether the frames are those of a page of Chrome, which stay as they are; none if not known.
    is_page: Option<bool>,
}

impl TraceFrames {
    /// Adds an event that names frames. `is_kept` tells whether the process of a pid goes into the
    /// trace, and `pid` returns the pid there.
    pub(super) fn add(
        &mut self,
        mut event: FrameEvent,
        is_kept: impl Fn(u32) -> bool,
        mut pid: impl FnMut(u32) -> u32,
        all: &mut Labels,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        if event.lacks_list() {
            // The merge writes such an event of its own.
            self.lacks_list = true;
            return Ok(());
        }
        let frames = event.frames();
        let is_ours = frames.iter().any(|frame| {
            let id = frame.get("frame").and_then(Value::as_str);
            id.is_some_and(|id| id.starts_with(ProcessFrame::ROOT))
        });
        let stays = !is_ours && *self.is_page.get_or_insert_with(|| all.claim_page());
        if !stays {
            let named: Vec<_> =
                frames.into_iter().filter_map(|frame| Some((frame, process(frame)?))).collect();
            let is_named = !named.is_empty();
            self.is_named |= is_named;
            let kept = named.into_iter().filter(|(_, process)| is_kept(*process));
            let labels: Vec<_> =
                kept.filter_map(|(frame, foreign)| label(frame, pid(foreign), event.ts)).collect();
            // Chrome can name a frame before the frame's process has an id.
            if is_named || event.is_start {
                labels.into_iter().for_each(|label| all.push(label));
                return Ok(());
            }
        } else if event.is_start
            && let Some(id) = event.main_frame()
        {
            all.set_main_frame(id);
        }
        self.is_named |= stays;
        event.renumber(pid);
        event.write(trace)
    }
}

/// Returns the pid of a frame's process; none if the frame names none.
fn process(frame: &Value) -> Option<u32> {
    u32::try_from(frame.get("processId")?.as_u64()?).ok()
}

/// Returns the label of a frame's process, which has this pid in the output.
fn label(frame: &Value, pid: u32, ts: i64) -> Option<ProcessLabel> {
    let text = |key| frame.get(key).and_then(Value::as_str).map(str::to_owned);
    let (url, id) = (text("url")?, text("frame")?);
    // The frames of recordings have ids with the pid, which may have changed.
    let is_ours = id.starts_with(ProcessFrame::ROOT);
    let foreign = (!is_ours).then(|| ForeignFrame { id, parent: text("parent") });
    Some(ProcessLabel { pid, url, start_us: ts, foreign, ..ProcessLabel::default() })
}
