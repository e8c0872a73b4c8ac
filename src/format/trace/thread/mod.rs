//! One thread's events: the names and markers that DevTools needs, then chunk after chunk.

use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{
    Args, CallFrameJson, ChunkNode, Data, Event, Flush, Phase, ProcessFrame, ProfileChunk,
};
use crate::format::ascii_json::{encode, encode_raw};
use crate::format::trace::events::Events;
use crate::format::trace::own;
use crate::format::url::frame_url;
use crate::profile::call_tree::Placed;
use crate::profile::frame::CallFrame;
use crate::profile::program::NodeModules;
use crate::profile::program::{Program, shortened};
use crate::profile::timeline::Timeline;
use crate::profile::window::Window;

/// DevTools fails at chunks of 125,000 samples; small ones also keep a torn file's loss small.
pub(crate) const SAMPLES_PER_CHUNK: usize = 1000;

/// The category of what DevTools' timeline reads.
pub(crate) const TIMELINE: &str = "disabled-by-default-devtools.timeline";
/// The category of V8's profiles.
pub(crate) const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";

/// What a trace says of the thread it is about.
#[derive(Debug, Clone)]
pub(crate) struct ThreadInfo {
    /// The process it belongs to.
    pub program: Program,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// How its `node_modules` frames are written.
    pub node_modules: NodeModules,
    /// Between two samples, microseconds.
    pub interval_us: u32,
    /// When the recording started: ISO 8601, UTC.
    pub started: String,
}

/// A profile's id: DevTools wants it hexadecimal, and unique in the whole trace.
pub(crate) fn profile_id(pid: u32, tid: u32) -> String {
    format!("0x{pid:x}{tid:06x}")
}

/// What is added to a thread's script ids. Small ids would take names from the page that DevTools
/// is attached to, and two isolates number their scripts alike.
pub(crate) fn script_offset(pid: u32, tid: u32) -> u64 {
    1_000_000_000 + (u64::from(pid) * 1000 + u64::from(tid % 1000)) * 100_000
}

/// A node's `callFrame`.
pub(crate) fn encode_frame(
    frame: &CallFrame,
    url: &str,
    script_offset: u64,
) -> Option<Box<RawValue>> {
    let script_id = match frame.script_id {
        0 => 0,
        id => script_offset + u64::from(id),
    };
    encode_raw(&CallFrameJson {
        function_name: &frame.function_name,
        script_id: &script_id.to_string(),
        url,
        line_number: frame.line,
        column_number: frame.column,
    })
}

/// Turns a thread's windows into events.
pub(crate) struct ThreadTrace {
    info: ThreadInfo,
    profile_id: String,
    script_offset: u64,
    time: Timeline,
}

impl ThreadTrace {
    /// A trace that starts at `start_us`.
    pub(crate) fn new(info: ThreadInfo, start_us: i64) -> Self {
        let (pid, tid) = (info.program.pid, info.thread_id);
        Self {
            profile_id: profile_id(pid, tid),
            script_offset: script_offset(pid, tid),
            time: Timeline::new(start_us),
            info,
        }
    }

    /// The file's text up to and with the events that come once.
    pub(crate) fn head(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Header<'a> {
            source: &'a str,
            #[serde(rename = "startTime")]
            start_time: &'a str,
            #[serde(rename = "dataOrigin")]
            data_origin: &'a str,
            #[serde(rename = "cpu-prof")]
            own: Own<'a>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Own<'a> {
            version: &'a str,
            #[serde(flatten)]
            program: &'a Program,
            thread_id: u32,
            interval_us: u32,
        }
        let metadata = Header {
            source: own::SOURCE,
            start_time: &self.info.started,
            data_origin: "TraceEvents",
            own: Own {
                version: env!("CARGO_PKG_VERSION"),
                program: &self.info.program,
                thread_id: self.info.thread_id,
                interval_us: self.info.interval_us,
            },
        };
        let mut out = br#"{"metadata":"#.to_vec();
        encode(&mut out, &metadata);
        out.extend_from_slice(b",\"traceEvents\":[\n");
        let mut events = Events::default();
        self.open(&mut events);
        out.extend_from_slice(events.as_bytes());
        out
    }

    fn open(&self, events: &mut Events) {
        let program = &self.info.program;
        let url = program.url_label();
        let short = program.short_label();
        let started = Data::TracingStarted {
            frame_tree_node_id: 1,
            persistent_ids: true,
            frames: [ProcessFrame {
                frame: "NODE",
                is_in_primary_main_frame: true,
                is_outermost_main_frame: true,
                parent: None,
                name: "",
                process_id: program.pid,
                url: &url,
            }],
        };
        let ts = self.time.last_us();
        self.instant(events, "TracingStartedInBrowser", ts, Args::Data { data: started });
        self.name(events, "process_name", 0, 0, &short);
        match self.info.thread_id {
            // DevTools goes by the last name in the file, speedscope by the last in time.
            0 => {
                self.name(events, "thread_name", 0, 1, &format!("{short} - main"));
                self.name(events, "thread_name", 0, 0, "CrRendererMain");
            }
            tid => self.name(events, "thread_name", tid, 1, &format!("{short} - worker {tid}")),
        }
        self.instant(events, "thread.start", ts, Args::Empty {});
        let profile = Args::Data { data: Data::Profile { start_time: ts } };
        self.sample(events, "Profile", ts, profile);
    }

    /// The window's new nodes and samples, and a heartbeat that carries the visible range on.
    pub(crate) fn window(
        &mut self,
        events: &mut Events,
        window: &Window,
        placed: &Placed,
        flush: Flush,
    ) {
        // A window's new nodes share their frames, and a frame is most of a node's text.
        let mut encoded: Vec<Option<Box<RawValue>>> = vec![None; window.frames.len()];
        for node in &placed.new_nodes {
            let index = node.frame as usize;
            if encoded[index].is_none() {
                let frame = &window.frames[index];
                let url = frame_url(&frame.url, self.info.node_modules);
                encoded[index] = encode_frame(frame, &url, self.script_offset);
            }
        }
        let nodes: Vec<ChunkNode<'_>> = placed
            .new_nodes
            .iter()
            .filter_map(|node| {
                let call_frame = encoded[node.frame as usize].as_deref()?;
                Some(ChunkNode { id: node.id, parent: node.parent, call_frame })
            })
            .collect();
        let mut nodes = nodes.as_slice();
        for samples in window.samples.chunks(SAMPLES_PER_CHUNK) {
            let ids: Vec<u32> =
                samples.iter().map(|sample| placed.ids[sample.node as usize]).collect();
            let deltas: Vec<i64> =
                samples.iter().map(|sample| self.time.delta(sample.time_us)).collect();
            let chunk = Data::ProfileChunk {
                cpu_profile: ProfileChunk { nodes: std::mem::take(&mut nodes), samples: &ids },
                time_deltas: &deltas,
            };
            self.sample(events, "ProfileChunk", self.time.last_us(), Args::Data { data: chunk });
        }
        let flush = Args::Data { data: Data::Flush(flush) };
        self.instant(events, "thread.flush", window.end_us.max(self.time.last_us()), flush);
    }

    /// The end of the visible range.
    pub(crate) fn close(&self, events: &mut Events, end_us: i64) {
        self.instant(events, "trace.end", end_us.max(self.time.last_us()), Args::Empty {});
    }

    /// Names a worker by its script, which Node tells only after the preload.
    pub(crate) fn rename_worker(&self, events: &mut Events, script: &str) {
        let tid = self.info.thread_id;
        let short = self.info.program.short_label();
        let file = shortened(script.rsplit('/').next().unwrap_or_default());
        self.name(events, "thread_name", tid, 2, &format!("{short} - worker {tid}: {file}"));
    }

    fn instant(&self, events: &mut Events, name: &str, ts: i64, args: Args<'_>) {
        self.push(events, TIMELINE, name, Phase::Instant, ts, args);
    }

    fn sample(&self, events: &mut Events, name: &str, ts: i64, args: Args<'_>) {
        self.push(events, PROFILER, name, Phase::Sample { id: &self.profile_id }, ts, args);
    }

    fn push(
        &self,
        events: &mut Events,
        cat: &str,
        name: &str,
        phase: Phase<'_>,
        ts: i64,
        args: Args<'_>,
    ) {
        let (pid, tid) = (self.info.program.pid, self.info.thread_id);
        events.push(&Event { cat, name, phase, pid, tid, ts, args });
    }

    fn name(&self, events: &mut Events, event: &str, tid: u32, ts: i64, name: &str) {
        let args = Args::Name { name };
        let pid = self.info.program.pid;
        events.push(&Event {
            cat: "__metadata",
            name: event,
            phase: Phase::Metadata,
            pid,
            tid,
            ts,
            args,
        });
    }
}

#[cfg(test)]
mod tests;
