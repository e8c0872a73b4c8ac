//! The output of a rewritten thread: its names, and its profile.

use std::mem;

use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::format::trace::write::event::{At, Event, SAMPLES_PER_CHUNK};
use cpu_prof_core::format::trace::write::event_args::{ChunkNode, ChunkSamples, ProfileChunk};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::label_table::{LabelTable, NO_LABELS};
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::timeline::Timeline;
use cpu_prof_core::profile::window::path_ids::NodeId;
use cpu_prof_session::model::thinner::Thinned;

use super::tree::{ROOT, RewrittenTree};

/// The output of one thread.
pub(super) struct ThreadOutput {
    pub pid: u32,
    pub tid: u32,
    profile_id: String,
    /// Events that name the thread.
    names: Vec<Vec<u8>>,
    /// Times of the samples; none before the profile has begun.
    timeline: Option<Timeline>,
    /// Whether each label set was announced, by its number.
    announced: Vec<bool>,
    pending: PendingChunk,
}

/// The samples of the next chunk.
#[derive(Default)]
struct PendingChunk {
    nodes: Vec<NodeId>,
    ids: Vec<NodeId>,
    samples: ChunkSamples,
}

/// A sample of a node, whatever its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSample {
    pub node: NodeId,
    pub position: SourcePosition,
    /// Number of the label set.
    pub labels: u32,
}

impl NodeSample {
    /// Returns a sample without a position.
    pub(super) fn of(node: NodeId) -> Self {
        Self { node, position: SourcePosition::default(), labels: NO_LABELS }
    }
}

impl Thinned for NodeSample {
    /// With the labels.
    type Node = (NodeId, u32);

    fn node(&self) -> Self::Node {
        (self.node, self.labels)
    }

    fn line(&self) -> u32 {
        self.position.line
    }

    fn is_pause(&self) -> bool {
        self.node == ROOT
    }
}

impl ThreadOutput {
    pub(super) fn new(pid: u32, tid: u32, profile_id: String) -> Self {
        Self {
            pid,
            tid,
            profile_id,
            names: Vec::new(),
            timeline: None,
            announced: Vec::new(),
            pending: PendingChunk::default(),
        }
    }

    /// Returns whether the profile has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.timeline.is_some()
    }

    /// Adds an event that names the thread, unless the thread has the same event.
    pub(super) fn name(&mut self, event: &[u8], trace: &mut OutputTrace) -> Result<(), MergeError> {
        if self.names.iter().any(|name| name == event) {
            return Ok(());
        }
        if self.has_begun() {
            trace.events(event)?;
        }
        self.names.push(event.to_owned());
        Ok(())
    }

    /// Names the thread and begins its profile, unless the profile has begun. `start_us` is the start of
    /// the recording, which may be before the slice.
    pub(super) fn begin(
        &mut self,
        start_us: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        if self.has_begun() {
            return Ok(());
        }
        let start_us = trace.slice.from_us.max(start_us);
        self.timeline = Some(Timeline::new(start_us));
        for name in &self.names {
            trace.events(name)?;
        }
        trace.note(self.pid, start_us);
        let mut events = Events::default();
        let at = At { pid: self.pid, tid: self.tid, ts: start_us };
        events.push(&Event::thread_start(at, None));
        events.push(&Event::profile(&self.profile_id, at));
        trace.events(events.as_bytes())
    }

    /// Adds a sample to the profile, which has begun.
    pub(super) fn sample(
        &mut self,
        NodeSample { node, position, labels }: NodeSample,
        time_us: i64,
        (tree, table): (&mut RewrittenTree, &LabelTable),
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        if self.pending.ids.len() >= SAMPLES_PER_CHUNK {
            self.flush(tree, trace)?;
        }
        tree.announce(node, &mut self.pending.nodes);
        let timeline = self.timeline.get_or_insert_with(|| Timeline::new(time_us));
        self.pending.ids.push(node);
        self.pending.samples.push(timeline.delta(time_us), position, labels);
        if let Some(set) = table.get(labels) {
            let at = labels as usize;
            self.announced.resize(self.announced.len().max(at + 1), false);
            if !mem::replace(&mut self.announced[at], true) {
                self.pending.samples.announce(labels, set.clone());
            }
        }
        Ok(())
    }

    /// Writes the pending samples.
    pub(super) fn flush(
        &mut self,
        tree: &RewrittenTree,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        let PendingChunk { nodes, ids, samples } = &mut self.pending;
        if ids.is_empty() {
            return Ok(());
        }
        let encoded: Vec<ChunkNode<'_>> = nodes.iter().map(|node| tree.encoded(*node)).collect();
        let chunk = ProfileChunk { nodes: &encoded, samples: ids };
        let ts = self.timeline.map_or(0, |timeline| timeline.last_us());
        let at = At { pid: self.pid, tid: self.tid, ts };
        let mut events = Events::default();
        events.push(&Event::profile_chunk(&self.profile_id, at, chunk, samples));
        trace.note(self.pid, ts);
        trace.events(events.as_bytes())?;
        nodes.clear();
        ids.clear();
        samples.clear();
        Ok(())
    }
}
