//! The output of a rewritten thread: its names, and its profile in each part.

use crate::merge::output::parts::OutputParts;
use crate::merge::result::MergeError;
use cpu_prof_core::format::trace::write::event::{Event, SAMPLES_PER_CHUNK};
use cpu_prof_core::format::trace::write::event_args::{ChunkNode, ChunkSamples, ProfileChunk};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::session::thinner::Thinned;
use cpu_prof_core::profile::timeline::Timeline;
use cpu_prof_core::profile::window::path_ids::NodeId;

use super::tree::{ROOT, RewrittenTree};

/// The output of one thread.
pub(super) struct ThreadOutput {
    pub pid: u32,
    pub tid: u32,
    profile_id: String,
    /// Events that name the thread, for each part.
    names: Vec<Vec<u8>>,
    /// Times of the samples in each part where the profile has begun.
    timelines: Vec<Option<Timeline>>,
    pending: PendingChunk,
}

/// The samples of the next chunk.
#[derive(Default)]
struct PendingChunk {
    part: usize,
    nodes: Vec<NodeId>,
    ids: Vec<NodeId>,
    samples: ChunkSamples,
}

/// A sample of a node, whatever its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSample {
    pub node: NodeId,
    pub position: SourcePosition,
}

impl NodeSample {
    /// Returns a sample without a position.
    pub(super) fn of(node: NodeId) -> Self {
        Self { node, position: SourcePosition::default() }
    }
}

impl Thinned for NodeSample {
    type Node = NodeId;

    fn node(&self) -> NodeId {
        self.node
    }

    fn line(&self) -> u32 {
        self.position.line
    }

    fn is_pause(&self) -> bool {
        self.node == ROOT
    }
}

impl ThreadOutput {
    pub(super) fn new(pid: u32, tid: u32, profile_id: String, parts: usize) -> Self {
        Self {
            pid,
            tid,
            profile_id,
            names: Vec::new(),
            timelines: vec![None; parts],
            pending: PendingChunk::default(),
        }
    }

    /// Returns whether the profile has begun in a part.
    pub(super) fn has_begun(&self) -> bool {
        self.timelines.iter().any(Option::is_some)
    }

    /// Adds an event that names the thread, unless the thread has the same event.
    pub(super) fn name(&mut self, event: &[u8], parts: &mut OutputParts) -> Result<(), MergeError> {
        if self.names.iter().any(|name| name == event) {
            return Ok(());
        }
        for (part, timeline) in parts.list.iter_mut().zip(&self.timelines) {
            if timeline.is_some() {
                part.events(event)?;
            }
        }
        self.names.push(event.to_owned());
        Ok(())
    }

    /// Names the thread in a part, and begins its profile there, unless the profile has begun.
    /// `start_us` is the start of the recording, which may be before the part.
    pub(super) fn begin_part(
        &mut self,
        part: usize,
        start_us: i64,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if self.timelines[part].is_some() {
            return Ok(());
        }
        let start_us = parts.slices.start(part, start_us);
        self.timelines[part] = Some(Timeline::new(start_us));
        let out = &mut parts.list[part];
        for name in &self.names {
            out.events(name)?;
        }
        out.note(self.pid, start_us);
        let mut events = Events::default();
        events.push(&Event::thread_start(self.pid, self.tid, start_us, None));
        events.push(&Event::profile(&self.profile_id, self.pid, self.tid, start_us));
        out.events(events.as_bytes())
    }

    /// Adds a sample to a part, where the profile has begun.
    pub(super) fn sample(
        &mut self,
        NodeSample { node, position }: NodeSample,
        time_us: i64,
        part: usize,
        tree: &mut RewrittenTree,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        if part != self.pending.part || self.pending.ids.len() >= SAMPLES_PER_CHUNK {
            self.flush(tree, parts)?;
            self.pending.part = part;
        }
        tree.announce_in(part, node, &mut self.pending.nodes);
        let timeline = self.timelines[part].get_or_insert_with(|| Timeline::new(time_us));
        self.pending.ids.push(node);
        self.pending.samples.push(timeline.delta(time_us), position);
        Ok(())
    }

    /// Writes the pending samples.
    pub(super) fn flush(
        &mut self,
        tree: &RewrittenTree,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let PendingChunk { part, nodes, ids, samples } = &mut self.pending;
        if ids.is_empty() {
            return Ok(());
        }
        let encoded: Vec<ChunkNode<'_>> = nodes.iter().map(|node| tree.encoded(*node)).collect();
        let chunk = ProfileChunk { nodes: &encoded, samples: ids };
        let ts = self.timelines[*part].map_or(0, |timeline| timeline.last_us());
        let (id, pid, tid) = (&self.profile_id, self.pid, self.tid);
        let mut events = Events::default();
        events.push(&Event::profile_chunk(id, pid, tid, ts, chunk, samples));
        let out = &mut parts.list[*part];
        out.note(pid, ts);
        out.events(events.as_bytes())?;
        nodes.clear();
        ids.clear();
        samples.clear();
        Ok(())
    }
}
