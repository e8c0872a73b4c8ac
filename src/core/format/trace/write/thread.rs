//! The events of one thread: names and markers that DevTools needs, then chunk after chunk.

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{At, Event, SAMPLES_PER_CHUNK};
use super::event_args::{
    Args, ChunkNode, ChunkSamples, Data, Flush, ProcessFrame, ProfileChunk, TraceEnd,
};
use super::events::Events;
use super::thread_names::{each_name, full_name, thread_name, worker_name};
use crate::base::numbering::FxIndexSet;
use crate::base::settings::start::StartReason;
use crate::base::system::cpu_times::CpuTimes;
use crate::format::ascii_json::encode;
use crate::format::frame_json::CallFrameJson;
use crate::format::script_id::ScriptIdOffset;
use crate::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use crate::format::trace::ours::{self, OurMember};
use crate::format::url::{frame_url, is_unfolded};
use crate::profile::gap::Gap;
use crate::profile::label_table::NO_LABELS;
use crate::profile::met_condition::MetCondition;
use crate::profile::position::SourcePosition;
use crate::profile::program::{NodeModules, Program};
use crate::profile::timeline::Timeline;
use crate::profile::window::Window;
use crate::profile::window::call_tree::PlacedWindow;
use crate::profile::window::path_ids::NodeId;

/// The facts that a trace has about its thread, as its metadata has them.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadInfo {
    /// Process of the thread.
    #[serde(flatten)]
    pub program: Program,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// The system's thread id, if known. Other tools name threads by this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os_thread_id: Option<u32>,
    /// Form of the frames under `node_modules`.
    #[serde(skip)]
    pub node_modules: NodeModules,
    /// Whether frames that DevTools can fold are shown as long as the thread has no others.
    #[serde(skip)]
    pub shows_bare: bool,
    /// Time between two samples, microseconds.
    pub interval_us: u32,
    /// Whether V8 was shown the frames that code had not made, so that their callers have their samples.
    #[serde(skip_serializing_if = "is_false")]
    pub finds_leaves: bool,
    /// Start of the trace: ISO 8601, UTC.
    #[serde(skip)]
    pub started: String,
    /// CPU times at the start, if they are known.
    #[serde(skip)]
    pub cpu: Option<CpuTimes>,
    /// The place of the trace in its recording, if the recording is a chain of traces.
    #[serde(flatten)]
    pub segment: Option<Segment>,
    /// Label of the recording, if the program gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording_label: Option<String>,
    /// Why the recording started, if not with its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartReason>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The place of a trace in a chain.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Segment {
    /// Number of the recording in its process.
    pub recording: u32,
    /// Number of the trace in the recording, from 1.
    pub segment: u32,
}

impl Segment {
    /// Returns the first of a recording.
    pub fn first_of(recording: u32) -> Self {
        Self { recording, segment: 1 }
    }
}

/// Returns a profile's id. DevTools expects it hexadecimal, and unique in the whole trace.
pub fn profile_id(pid: u32, tid: u32) -> String {
    format!("0x{pid:x}{tid:06x}")
}

/// The most label sets that a trace is known to have.
const MAX_ANNOUNCED: usize = 100_000;

/// Turns a thread's windows into events.
#[derive(Clone)]
pub struct ThreadTrace {
    info: ThreadInfo,
    profile_id: String,
    script_offset: ScriptIdOffset,
    /// Time of the last sample; at first the start. An earlier state takes back the samples since then,
    /// which were not written.
    pub time: Timeline,
    /// CPU times when that time was written.
    pub cpu: CpuTimes,
    /// Ids of the label sets that the trace has.
    pub announced: FxIndexSet<u32>,
    /// Name of the worker, once it is known.
    worker_name: Option<String>,
    /// Whether the thread has a function so far that DevTools does not fold.
    has_unfolded: bool,
}

impl ThreadTrace {
    /// Returns a trace that starts at `start_us`.
    pub fn new(info: ThreadInfo, start_us: i64) -> Self {
        let (pid, tid) = (info.program.pid, info.thread_id);
        Self {
            profile_id: profile_id(pid, tid),
            script_offset: ScriptIdOffset::of_thread(pid, tid),
            time: Timeline::new(start_us),
            cpu: info.cpu.unwrap_or_default(),
            announced: FxIndexSet::default(),
            worker_name: None,
            has_unfolded: false,
            info,
        }
    }

    /// Begins the next trace of the recording, which needs a head of its own.
    pub fn begin_next(&mut self, start_us: i64, started: String, cpu: CpuTimes) {
        self.time = Timeline::new(start_us);
        self.cpu = cpu;
        self.announced.clear();
        self.info.started = started;
        self.info.cpu = Some(cpu);
        if let Some(segment) = &mut self.info.segment {
            segment.segment += 1;
        }
    }

    /// Returns the file's text up to the events that stand once in it, with these.
    pub fn head(&self) -> Vec<u8> {
        let mut out = br#"{"metadata":"#.to_vec();
        self.encode_metadata(&mut out);
        out.extend_from_slice(b",\"traceEvents\":[\n");
        let mut events = Events::default();
        self.start(&mut events);
        out.extend_from_slice(events.as_bytes());
        out
    }

    fn encode_metadata(&self, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct RecordingMetadata<'a> {
            // Readers recognise the file by this member, which has to be the first.
            source: &'a str,
            #[serde(rename = "startTime")]
            start_time: &'a str,
            #[serde(rename = "dataOrigin")]
            data_origin: &'a str,
            #[serde(flatten)]
            own: OurMember<RecordingFacts<'a>>,
        }
        #[derive(Serialize)]
        struct RecordingFacts<'a> {
            version: &'a str,
            #[serde(flatten)]
            info: &'a ThreadInfo,
        }
        let facts = RecordingFacts { version: env!("CARGO_PKG_VERSION"), info: &self.info };
        let metadata = RecordingMetadata {
            source: ours::SOURCE,
            start_time: &self.info.started,
            data_origin: "TraceEvents",
            own: OurMember { facts },
        };
        encode(out, &metadata);
    }

    /// Adds the events that come before the first window.
    fn start(&self, events: &mut Events) {
        let At { pid, tid, ts } = self.now();
        let label = self.recording_label();
        // DevTools shows a worker by its name, and a main thread by the label of the process.
        let url = self.info.program.url_label_with(label.filter(|_| tid == 0));
        let frame = ProcessFrame::new(ProcessFrame::ROOT, None, pid, &url);
        events.push(&Event::tracing_started(tid, ts, frame));
        each_name(pid, tid, &self.info.program.short_label(), label, |name| events.push(name));
        self.name_worker(events);
        events.push(&Event::thread_start(self.now(), self.info.cpu));
        events.push(&Event::profile(&self.profile_id, self.now()));
        let is_first = self.info.segment.is_none_or(|segment| segment.segment == 1);
        if let Some(met) = MetCondition::of_start(self.info.start.as_ref(), tid.into())
            && is_first
        {
            self.met_condition(events, ts, &met);
        }
    }

    /// Adds the new nodes and the samples of a window, and a heartbeat that extends the visible
    /// range.
    pub fn window(
        &mut self,
        events: &mut Events,
        window: &Window,
        placed: &PlacedWindow,
        flush: Flush,
    ) {
        self.has_unfolded |= placed.new_nodes.iter().any(|node| {
            let frame = &window.frames[node.frame as usize];
            !frame.is_native() && is_unfolded(&frame.url, self.info.node_modules)
        });
        let call_frames = self.encode_frames(window, placed);
        let deopts: FxHashMap<NodeId, &str> = placed.deopts(window).collect();
        let nodes: Vec<ChunkNode<'_>> = placed
            .new_nodes
            .iter()
            .filter_map(|node| {
                let call_frame = call_frames[node.frame as usize].as_deref()?;
                let deopt_reason = deopts.get(&node.id).copied();
                Some(ChunkNode { id: node.id, parent: node.parent, call_frame, deopt_reason })
            })
            .collect();
        let mut nodes = nodes.as_slice();
        // A trace may announce a set again.
        if self.announced.len() > MAX_ANNOUNCED {
            self.announced.clear();
        }
        let mut label_sets: Vec<_> = window.label_sets.iter().collect();
        for samples in window.samples.chunks(SAMPLES_PER_CHUNK) {
            let ids: Vec<u32> =
                samples.iter().map(|sample| placed.ids[sample.node as usize]).collect();
            let mut chunk_samples = ChunkSamples::default();
            for (id, set) in label_sets.drain(..) {
                if self.announced.insert(*id) {
                    chunk_samples.announce(*id, set.clone());
                }
            }
            for sample in samples {
                let delta_us = self.time.delta(sample.time_us);
                chunk_samples.push(delta_us, sample.position, sample.labels);
            }
            let chunk = ProfileChunk { nodes: std::mem::take(&mut nodes), samples: &ids };
            let (id, at) = (&self.profile_id, self.now());
            events.push(&Event::profile_chunk(id, at, chunk, &chunk_samples));
        }
        self.cpu = flush.cpu;
        self.flush(events, window.end_us.max(self.time.last_us()), flush);
    }

    /// Adds the end of a gap. `root` is the id of the root, if the file has one: a sample of the root
    /// ends the last sample before the gap. `cpu` are the CPU times at the end of the gap. A name that
    /// was given in the gap is given again.
    pub fn gap(&mut self, events: &mut Events, root: Option<NodeId>, gap: Gap, cpu: CpuTimes) {
        if let Some(root) = root {
            self.time = self.sample(events, gap.from_us, root);
        }
        let flush = Flush { cpu, lost: Some(gap.lost()), ..Flush::default() };
        self.flush(events, gap.to_us.max(self.time.last_us()), flush);
        self.name_worker(events);
    }

    /// Adds the events that extend a trace to `now_us` while its thread waits. `idle` is the time at
    /// which the thread became idle, and the id of the idle node. The extension belongs at the end
    /// of the trace, and the next window replaces it.
    pub fn extension(
        &self,
        events: &mut Events,
        idle: Option<(i64, NodeId)>,
        now_us: i64,
        flush: Flush,
    ) {
        let mut time = self.time;
        if let Some((time_us, node)) = idle {
            time = self.sample(events, time_us, node);
        }
        self.flush(events, now_us.max(time.last_us()), flush);
    }

    /// Adds a heartbeat, which extends the visible range.
    fn flush(&self, events: &mut Events, ts: i64, flush: Flush) {
        let args = Args::Data { data: Data::Flush(flush) };
        events.push(&Event::instant("thread.flush", self.at(ts), args));
    }

    /// Adds a chunk of one sample. Returns the state of the time line after it.
    fn sample(&self, events: &mut Events, time_us: i64, node: NodeId) -> Timeline {
        let mut time = self.time;
        let mut samples = ChunkSamples::default();
        samples.push(time.delta(time_us), SourcePosition::default(), NO_LABELS);
        let chunk = ProfileChunk { nodes: &[], samples: &[node] };
        let (id, at) = (&self.profile_id, self.at(time.last_us()));
        events.push(&Event::profile_chunk(id, at, chunk, &samples));
        time
    }

    /// Encodes the frames of a window's new nodes, by their index in the window. Nodes share
    /// frames, and a frame is most of a node's text.
    fn encode_frames(&self, window: &Window, placed: &PlacedWindow) -> Vec<Option<Box<RawValue>>> {
        // 'On ignore list' is all that DevTools would show of a thread whose frames it folds.
        let node_modules = match self.info.shows_bare && !self.has_unfolded {
            true => NodeModules::AllShown,
            false => self.info.node_modules,
        };
        let mut encoded = vec![None; window.frames.len()];
        for node in &placed.new_nodes {
            let index = node.frame as usize;
            if encoded[index].is_none() {
                let frame = &window.frames[index];
                // Who wants native functions wants those of addons, too.
                let is_unfolded = self.info.shows_bare && frame.module().is_some();
                let node_modules = if is_unfolded { NodeModules::Shown } else { node_modules };
                let url = frame_url(&frame.url, node_modules);
                encoded[index] = CallFrameJson::new(frame, &url, self.script_offset).encode();
            }
        }
        encoded
    }

    /// Adds the source map of a script, as JSON without line ends. `script` is V8's name of the script.
    pub fn source_map(&self, events: &mut Events, script_id: u32, script: &str, map: &[u8]) {
        let url = frame_url(script, self.info.node_modules);
        let id = self.script_offset.of_script(script_id);
        if let Ok(map) = serde_json::from_slice(map) {
            let data = Data::ScriptSourceMap { script_id: id, url: &url, source_map: map };
            events.push(&Event::instant(SCRIPT_SOURCE_MAP, self.now(), Args::Data { data }));
        }
    }

    /// Adds the end of the recording, which is the end of the visible range, with the CPU times up to
    /// the end: a thread that has waited since its last window has no later ones.
    pub fn close(&self, events: &mut Events, end_us: i64, end: Option<TraceEnd>) {
        let ts = end_us.max(self.time.last_us());
        events.push(&Event::trace_end(self.at(ts), end));
    }

    /// Names a worker. Its name is known only after the recording has started.
    pub fn rename_worker(&mut self, events: &mut Events, name: &str) {
        self.worker_name = Some(name.to_owned());
        self.name_worker(events);
    }

    fn name_worker(&self, events: &mut Events) {
        if let Some(name) = &self.worker_name {
            let (label, recording_label) =
                (self.info.program.short_label(), self.recording_label());
            let At { pid, tid, .. } = self.now();
            let name = thread_name(tid, Some(name));
            worker_name(pid, tid, &label, &name, recording_label, |name| {
                events.push(name);
            });
        }
    }

    /// Returns the name that the thread has from its start: that of a worker changes when its script is known.
    pub(super) fn first_name(&self) -> String {
        full_name(&self.info.program.short_label(), &thread_name(self.info.thread_id, None))
    }

    fn recording_label(&self) -> Option<&str> {
        self.info.recording_label.as_deref()
    }

    /// Returns this thread at a time, microseconds.
    pub(super) fn at(&self, ts: i64) -> At {
        At { pid: self.info.program.pid, tid: self.info.thread_id, ts }
    }

    /// Returns this thread at the time of its last sample.
    fn now(&self) -> At {
        self.at(self.time.last_us())
    }
}

#[cfg(test)]
pub mod tests;
