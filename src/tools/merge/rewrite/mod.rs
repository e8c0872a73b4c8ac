//! One thread's profile, written anew: from several recordings, or into several files.
//!
//! A node is announced in each file where a sample needs it, before that sample, under one id for
//! one path.

use super::outcome::MergeError;
use super::part::OutputParts;
use crate::format::deltas::deltas_or_even;
use crate::format::node_json::NodeJson;
use crate::format::trace::chunk_json::ChunkJson;
use crate::format::trace::event::{ChunkNode, Event, ProfileChunk, SAMPLES_PER_CHUNK};
use crate::format::trace::events::Events;

mod tree;

use tree::{PathTree, ROOT};

/// A thread's profile on its way.
pub(super) struct ProfileRewriter {
    pid: u32,
    tid: u32,
    profile_id: String,
    tree: PathTree,
    /// The time of this recording's last sample, or its start.
    time_us: i64,
    /// The same as it was written, which may run back.
    written_us: i64,
    has_samples: bool,
    /// The last sample, until the next.
    open: Option<OpenSample>,
    /// The latest time there is of this recording.
    end_us: i64,
    /// Its end, where it tells one.
    stop_us: Option<i64>,
    /// From V8's clock to the trace's.
    offset_us: i64,
    /// Whether there was a `Profile` event.
    is_announced: bool,
    /// For each file the time of its last sample, once it has begun.
    last_us: Vec<Option<i64>>,
    /// What names the thread, in each file.
    names: Vec<Vec<u8>>,
    is_first: bool,
    pending: Pending,
}

/// A sample that may go on in the next file.
#[derive(Clone, Copy)]
struct OpenSample {
    node: u32,
    /// How many files' edges it has passed: 0 before the first file.
    edges: usize,
    /// Whether the file after these has it.
    is_written: bool,
}

#[derive(Default)]
struct Pending {
    part: usize,
    nodes: Vec<u32>,
    samples: Vec<u32>,
    deltas: Vec<i64>,
}

impl ProfileRewriter {
    /// Nothing yet.
    pub(super) fn new(pid: u32, tid: u32, profile_id: String, parts: usize) -> Self {
        Self {
            pid,
            tid,
            profile_id,
            tree: PathTree::default(),
            time_us: 0,
            written_us: 0,
            has_samples: false,
            open: None,
            end_us: i64::MIN,
            stop_us: None,
            offset_us: 0,
            is_announced: false,
            last_us: vec![None; parts],
            names: Vec::new(),
            is_first: true,
            pending: Pending::default(),
        }
    }

    /// Begins a recording, which starts after the one before.
    pub(super) fn begin(
        &mut self,
        start_us: i64,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        self.tree.begin();
        if !std::mem::replace(&mut self.is_first, false) {
            // What was on top last must not seem to go on until now.
            self.pause(self.end_us.max(self.time_us).min(start_us), parts)?;
        }
        (self.time_us, self.written_us, self.end_us) = (start_us, start_us, start_us);
        (self.has_samples, self.stop_us) = (false, None);
        if let Some(part) = parts.slices.part(start_us) {
            self.begin_part(part, start_us, parts)?;
        }
        Ok(())
    }

    /// Ends the last recording.
    pub(super) fn finish(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        match self.stop_us {
            Some(stop_us) => self.pause(stop_us.max(self.time_us), parts),
            None => {
                self.carry(self.end_us, parts)?;
                self.flush(parts)
            }
        }
    }

    /// The recording went on until then, at least.
    pub(super) fn seen(&mut self, ts: i64) {
        self.end_us = self.end_us.max(ts);
    }

    /// Whether events of this thread are of this profile.
    pub(super) fn is_of(&self, pid: u32, tid: u32) -> bool {
        (self.pid, self.tid) == (pid, tid)
    }

    /// Adds what names the thread. The same is said once.
    pub(super) fn name(&mut self, event: &[u8], parts: &mut OutputParts) -> Result<(), MergeError> {
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
    pub(super) fn other(
        &mut self,
        event: &[u8],
        ts: i64,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        self.seen(ts);
        let Some(part) = parts.slices.part(ts) else { return Ok(()) };
        self.begin_part(part, ts, parts)?;
        parts.list[part].note(self.pid, ts);
        parts.list[part].events(event)
    }

    /// Adds a `ProfileChunk`. False if it cannot be read.
    pub(super) fn chunk(
        &mut self,
        event: &[u8],
        parts: &mut OutputParts,
    ) -> Result<bool, MergeError> {
        let Ok((ts, chunk)) = ChunkJson::from_event(event) else { return Ok(false) };
        if self.is_first {
            // It is known to end about when it was written.
            self.begin(ts.saturating_sub(chunk.length_us()), parts)?;
        }
        self.nodes(chunk.nodes());
        let (ids, span_us) = (chunk.samples(), ts.saturating_sub(self.time_us));
        let deltas = deltas_or_even(ids.len(), chunk.deltas(), !self.has_samples, span_us);
        self.samples(ids.iter().map(|number| number.node_id()).zip(deltas), parts)?;
        if let Some(end) = chunk.end_time {
            let stop_us = end.0.saturating_add(self.offset_us);
            self.seen(stop_us);
            self.stop_us = self.stop_us.max(Some(stop_us));
        }
        Ok(true)
    }

    /// Adds a `Profile` or a `ProfileChunk` of a trace that is not ours. False if it cannot be
    /// read.
    pub(super) fn profile_event(
        &mut self,
        event: &[u8],
        is_start: bool,
        ts: i64,
        parts: &mut OutputParts,
    ) -> Result<bool, MergeError> {
        if !is_start {
            return self.chunk(event, parts);
        }
        let Ok((_, start)) = ChunkJson::from_event(event) else { return Ok(false) };
        self.offset_us = start.start_time.map_or(0, |start| ts.saturating_sub(start.0));
        // It can come after the first chunks.
        if std::mem::replace(&mut self.is_announced, true) || self.is_first {
            self.begin(ts, parts)?;
        }
        Ok(true)
    }

    /// Adds nodes, parents before their children.
    pub(super) fn nodes(&mut self, nodes: &[NodeJson<'_>]) {
        self.tree.announce(nodes);
    }

    /// Adds samples: nodes, and microseconds before each.
    pub(super) fn samples(
        &mut self,
        samples: impl Iterator<Item = (u64, i64)>,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        for (source, delta) in samples {
            self.written_us = self.written_us.saturating_add(delta);
            self.time_us = self.time_us.max(self.written_us);
            self.has_samples = true;
            let node = self.tree.of_sample(source);
            self.sample(node, self.time_us, parts)?;
        }
        self.seen(self.time_us);
        self.flush(parts)
    }

    fn sample(
        &mut self,
        node: u32,
        time_us: i64,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        self.carry(time_us, parts)?;
        let edges = parts.slices.passed(time_us);
        let part = parts.slices.after(edges);
        let is_written = part.is_some();
        self.open = (node != ROOT).then_some(OpenSample { node, edges, is_written });
        part.map_or(Ok(()), |part| self.put(node, time_us, part, parts))
    }

    /// Nothing is known from then on. Nothing is drawn for the root.
    fn pause(&mut self, time_us: i64, parts: &mut OutputParts) -> Result<(), MergeError> {
        if self.open.is_some() {
            let root = self.tree.root();
            self.sample(root, time_us, parts)?;
        }
        self.flush(parts)
    }

    /// Has the last sample go on until then: it ends with its file, and begins anew in the next.
    fn carry(&mut self, until_us: i64, parts: &mut OutputParts) -> Result<(), MergeError> {
        let Some(mut open) = self.open else { return Ok(()) };
        while let Some(end_us) = parts.slices.edge(open.edges) {
            let part = open.edges.checked_sub(1);
            if let Some(part) = part.filter(|_| !open.is_written)
                && let Some(start_us) = parts.slices.edge(part).filter(|start| until_us > *start)
            {
                self.put(open.node, start_us, part, parts)?;
                open.is_written = true;
            }
            if until_us < end_us {
                break;
            }
            if let Some(part) = part.filter(|_| open.is_written) {
                let root = self.tree.root();
                self.put(root, end_us, part, parts)?;
            }
            open.edges += 1;
            open.is_written = false;
        }
        self.open = Some(open);
        Ok(())
    }

    /// Adds a sample to a file.
    fn put(
        &mut self,
        node: u32,
        time_us: i64,
        part: usize,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if part != self.pending.part || self.pending.samples.len() >= SAMPLES_PER_CHUNK {
            self.flush(parts)?;
            self.pending.part = part;
        }
        self.begin_part(part, time_us, parts)?;
        self.tree.needed(node, part, &mut self.pending.nodes);
        let last_us = self.last_us[part].get_or_insert(time_us);
        let delta = time_us.saturating_sub(*last_us).max(0);
        *last_us += delta;
        self.pending.samples.push(node);
        self.pending.deltas.push(delta);
        Ok(())
    }

    /// Writes the samples that wait.
    fn flush(&mut self, parts: &mut OutputParts) -> Result<(), MergeError> {
        let Pending { part, nodes, samples, deltas } = &self.pending;
        if samples.is_empty() {
            return Ok(());
        }
        let number = *part;
        let encoded: Vec<ChunkNode<'_>> =
            nodes.iter().map(|node| self.tree.encoded(*node)).collect();
        let chunk = ProfileChunk { nodes: &encoded, samples };
        let ts = self.last_us[number].unwrap_or_default();
        let mut events = Events::default();
        let (pid, tid) = (self.pid, self.tid);
        events.push(&Event::profile_chunk(&self.profile_id, pid, tid, ts, chunk, deltas));
        parts.list[number].note(self.pid, ts);
        parts.list[number].events(events.as_bytes())?;
        let Pending { nodes, samples, deltas, .. } = &mut self.pending;
        nodes.clear();
        samples.clear();
        deltas.clear();
        Ok(())
    }

    /// Names the thread in a file, and begins its profile there, not after `time_us`.
    fn begin_part(
        &mut self,
        part: usize,
        time_us: i64,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if self.last_us[part].is_some() {
            return Ok(());
        }
        let start_us = parts.slices.start(part, time_us.min(self.time_us).min(self.end_us));
        self.last_us[part] = Some(start_us);
        let out = &mut parts.list[part];
        for name in &self.names {
            out.events(name)?;
        }
        out.note(self.pid, start_us);
        let mut events = Events::default();
        events.push(&Event::thread_start(self.pid, self.tid, start_us));
        events.push(&Event::profile(&self.profile_id, self.pid, self.tid, start_us));
        out.events(events.as_bytes())
    }
}
