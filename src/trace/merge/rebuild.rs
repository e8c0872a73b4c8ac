//! One thread's profile, written anew: from several recordings, or into several files.
//!
//! A node is announced in each file where a sample needs it, before that sample, under one id for
//! one path.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::MergeError;
use super::part::Parts;
use crate::trace::encode::Events;
use crate::trace::event::{Args, Data, Event, Node, Phase, ProfileChunk, Scope};
use crate::trace::thread::{PROFILER, SAMPLES_PER_CHUNK, TIMELINE};

/// A node of the source.
#[derive(Deserialize)]
pub struct SourceNode<'a> {
    /// Its id in this recording.
    pub id: u64,
    /// Its parent's.
    pub parent: Option<u64>,
    /// `callFrame`
    #[serde(borrow, rename = "callFrame")]
    pub call_frame: &'a RawValue,
}

/// A thread's profile on its way.
pub struct Rebuilt {
    pid: u32,
    tid: u32,
    profile_id: String,
    frames: Vec<Box<RawValue>>,
    frame_numbers: FxHashMap<String, u32>,
    /// By id less one.
    nodes: Vec<Place>,
    paths: FxHashMap<(u32, u32), u32>,
    /// This recording's ids to ours.
    ids: FxHashMap<u64, u32>,
    /// The time of this recording's last sample, or its start.
    time_us: i64,
    /// The latest time there is of this recording.
    end_us: i64,
    /// For each file the time of its last sample, once it has begun.
    last_us: Vec<Option<i64>>,
    /// What names the thread, in each file.
    names: Vec<Vec<u8>>,
    is_first: bool,
    pending: Pending,
}

/// Where a node stands.
struct Place {
    parent: u32,
    frame: u32,
    /// The file that it was announced in last, counted from 1. A thread goes through the files in
    /// their order.
    announced: usize,
}

/// No node.
const NONE: u32 = 0;
/// The first node there is.
const ROOT: u32 = 1;

#[derive(Default)]
struct Pending {
    part: usize,
    nodes: Vec<u32>,
    samples: Vec<u32>,
    deltas: Vec<i64>,
}

impl Rebuilt {
    /// Nothing yet.
    pub fn new(pid: u32, tid: u32, profile_id: String, parts: usize) -> Self {
        Self {
            pid,
            tid,
            profile_id,
            frames: Vec::new(),
            frame_numbers: FxHashMap::default(),
            nodes: Vec::new(),
            paths: FxHashMap::default(),
            ids: FxHashMap::default(),
            time_us: 0,
            end_us: i64::MIN,
            last_us: vec![None; parts],
            names: Vec::new(),
            is_first: true,
            pending: Pending::default(),
        }
    }

    /// Begins a recording, which starts after the one before.
    pub fn begin(&mut self, start_us: i64, parts: &mut Parts) -> Result<(), MergeError> {
        self.ids.clear();
        if !std::mem::replace(&mut self.is_first, false) {
            // What was on top last must not seem to go on until now. Nothing is drawn for the root.
            let end_us = self.end_us.max(self.time_us).min(start_us);
            if !self.nodes.is_empty() {
                self.sample(ROOT, end_us, parts)?;
                self.flush(parts)?;
            }
        }
        self.time_us = start_us;
        self.end_us = start_us;
        if let Some(part) = parts.windows.part(start_us) {
            self.begin_part(part, parts)?;
        }
        Ok(())
    }

    /// Adds what names the thread. The same is said once.
    pub fn name(&mut self, event: &[u8], parts: &mut Parts) -> Result<(), MergeError> {
        if self.names.iter().any(|name| name == event) {
            return Ok(());
        }
        for (part, last) in parts.list.iter_mut().zip(&self.last_us) {
            if last.is_some() {
                part.events(event)?;
            }
        }
        self.names.push(event.to_owned());
        Ok(())
    }

    /// Adds an event that is neither a name nor of the profile.
    pub fn other(&mut self, event: &[u8], ts: i64, parts: &mut Parts) -> Result<(), MergeError> {
        self.end_us = self.end_us.max(ts);
        let Some(part) = parts.windows.part(ts) else { return Ok(()) };
        self.begin_part(part, parts)?;
        parts.list[part].note(self.pid, ts);
        parts.list[part].events(event)
    }

    /// Adds a `ProfileChunk`. False if it cannot be read.
    pub fn chunk(&mut self, event: &[u8], parts: &mut Parts) -> Result<bool, MergeError> {
        #[derive(Deserialize)]
        struct Chunk<'a> {
            #[serde(borrow)]
            args: ChunkArgs<'a>,
        }
        #[derive(Deserialize)]
        struct ChunkArgs<'a> {
            #[serde(borrow)]
            data: ChunkData<'a>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ChunkData<'a> {
            #[serde(borrow, default)]
            cpu_profile: Profile<'a>,
            #[serde(default)]
            time_deltas: Vec<i64>,
        }
        #[derive(Deserialize, Default)]
        struct Profile<'a> {
            #[serde(borrow, default)]
            nodes: Vec<SourceNode<'a>>,
            #[serde(default)]
            samples: Vec<u64>,
        }
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(event) else { return Ok(false) };
        let ChunkData { cpu_profile, time_deltas } = chunk.args.data;
        self.nodes(&cpu_profile.nodes);
        self.samples(&cpu_profile.samples, &time_deltas, parts)?;
        Ok(true)
    }

    /// Adds a `Profile` or a `ProfileChunk` of a trace that is not ours.
    pub fn profile_event(
        &mut self,
        event: &[u8],
        is_start: bool,
        ts: i64,
        parts: &mut Parts,
    ) -> Result<(), MergeError> {
        if !is_start {
            return self.chunk(event, parts).map(|_| ());
        }
        let value = serde_json::from_slice::<serde_json::Value>(event).ok();
        let start = value.and_then(|value| value.pointer("/args/data/startTime")?.as_f64());
        self.begin(start.map_or(ts, |start| start as i64), parts)
    }

    /// Adds nodes, parents before their children.
    pub fn nodes(&mut self, nodes: &[SourceNode<'_>]) {
        for node in nodes {
            let parent = node.parent.and_then(|parent| self.ids.get(&parent)).copied();
            let id = match parent {
                Some(parent) => self.node(parent, node.call_frame),
                // There is one root, whoever wrote it.
                None if !self.nodes.is_empty() => ROOT,
                None => self.node(NONE, node.call_frame),
            };
            self.ids.insert(node.id, id);
        }
    }

    /// Adds samples, and microseconds before each. A sample of a node that was never announced is
    /// left out.
    pub fn samples(
        &mut self,
        samples: &[u64],
        deltas: &[i64],
        parts: &mut Parts,
    ) -> Result<(), MergeError> {
        for (sample, delta) in samples.iter().zip(deltas) {
            self.time_us = self.time_us.saturating_add(*delta);
            if let Some(id) = self.ids.get(sample).copied() {
                self.sample(id, self.time_us, parts)?;
            }
        }
        self.end_us = self.end_us.max(self.time_us);
        self.flush(parts)
    }

    fn node(&mut self, parent: u32, frame: &RawValue) -> u32 {
        let number = match self.frame_numbers.get(frame.get()) {
            Some(number) => *number,
            None => {
                let number = self.frames.len() as u32;
                self.frames.push(frame.to_owned());
                self.frame_numbers.insert(frame.get().to_owned(), number);
                number
            }
        };
        *self.paths.entry((parent, number)).or_insert_with(|| {
            self.nodes.push(Place { parent, frame: number, announced: 0 });
            self.nodes.len() as u32
        })
    }

    fn sample(&mut self, id: u32, time_us: i64, parts: &mut Parts) -> Result<(), MergeError> {
        let Some(part) = parts.windows.part(time_us) else { return Ok(()) };
        if part != self.pending.part || self.pending.samples.len() >= SAMPLES_PER_CHUNK {
            self.flush(parts)?;
            self.pending.part = part;
        }
        self.begin_part(part, parts)?;
        let from = self.pending.nodes.len();
        let mut at = id;
        while at != NONE {
            let node = &mut self.nodes[at as usize - 1];
            if node.announced == part + 1 {
                break;
            }
            node.announced = part + 1;
            self.pending.nodes.push(at);
            at = node.parent;
        }
        self.pending.nodes[from..].reverse();
        let last_us = self.last_us[part].get_or_insert(time_us);
        let delta = (time_us - *last_us).max(0);
        *last_us += delta;
        self.pending.samples.push(id);
        self.pending.deltas.push(delta);
        Ok(())
    }

    /// Writes the samples that wait.
    fn flush(&mut self, parts: &mut Parts) -> Result<(), MergeError> {
        let Pending { part, nodes, samples, deltas } = &self.pending;
        if samples.is_empty() {
            return Ok(());
        }
        let number = *part;
        let encoded: Vec<Node<'_>> = nodes
            .iter()
            .map(|id| {
                let place = &self.nodes[*id as usize - 1];
                let parent = (place.parent != NONE).then_some(place.parent);
                Node { id: *id, parent, call_frame: &self.frames[place.frame as usize] }
            })
            .collect();
        let chunk = Data::ProfileChunk {
            cpu_profile: ProfileChunk { nodes: &encoded, samples },
            time_deltas: deltas,
        };
        let ts = self.last_us[number].unwrap_or_default();
        let mut events = Events::default();
        self.push(&mut events, "ProfileChunk", ts, Args::Data { data: chunk });
        parts.list[number].note(self.pid, ts);
        parts.list[number].events(events.as_bytes())?;
        let Pending { nodes, samples, deltas, .. } = &mut self.pending;
        nodes.clear();
        samples.clear();
        deltas.clear();
        Ok(())
    }

    /// Names the thread in a file, and begins its profile there.
    fn begin_part(&mut self, part: usize, parts: &mut Parts) -> Result<(), MergeError> {
        if self.last_us[part].is_some() {
            return Ok(());
        }
        let start_us = parts.windows.start(part, self.time_us.min(self.end_us));
        self.last_us[part] = Some(start_us);
        let out = &mut parts.list[part];
        for name in &self.names {
            out.events(name)?;
        }
        out.note(self.pid, start_us);
        let mut events = Events::default();
        events.push(&Event {
            cat: TIMELINE,
            name: "thread.start",
            phase: Phase::Instant(Scope::Thread),
            pid: self.pid,
            tid: self.tid,
            ts: start_us,
            args: Args::Empty {},
        });
        let profile = Args::Data { data: Data::Profile { start_time: start_us } };
        self.push(&mut events, "Profile", start_us, profile);
        out.events(events.as_bytes())
    }

    fn push(&self, events: &mut Events, name: &str, ts: i64, args: Args<'_>) {
        let phase = Phase::Sample { id: &self.profile_id };
        events.push(&Event { cat: PROFILER, name, phase, pid: self.pid, tid: self.tid, ts, args });
    }
}
