//! Reads the recordings of a thread sample by sample, and places the samples in the slice.

use std::mem;

use super::thread_output::{NodeSample, ThreadOutput};
use super::tree::{ROOT, RewrittenTree};
use crate::merge::options::MergeOptions;
use crate::merge::output::slice::OutputSlice;
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use crate::read::label_filter::LabelFilter;
use cpu_prof_core::profile::label_table::{LabelSet, LabelTable, NO_LABELS};
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::timeline::WrittenTimeline;
use cpu_prof_session::formats::deltas::{InOrder, deltas_or_even};
use cpu_prof_session::formats::label_json::AnnouncedLabels;
use cpu_prof_session::formats::node_json::NodeJson;
use cpu_prof_session::formats::trace::event::chunk_json::ChunkJson;
use cpu_prof_session::model::thinner::Thinner;

/// Rewrites the profile of one thread.
pub struct ProfileRewriter {
    output: ThreadOutput,
    tree: RewrittenTree,
    /// Label sets of all recordings of the thread, whose numbers are the ids in the output.
    labels: LabelTable,
    /// Label sets of the current recording.
    announced: AnnouncedLabels,
    label_filter: LabelFilter,
    thinner: Option<Thinner<NodeSample>>,
    /// Samples that are to be placed now, each with its time in microseconds.
    ready: Vec<(NodeSample, i64)>,
    /// Whether samples are left out because of their stacks.
    is_filtered: bool,
    /// Whether no recording has begun.
    is_first: bool,
    /// Times of the current recording's samples.
    time: WrittenTimeline,
    has_samples: bool,
    /// The last sample, until the next one ends it.
    open: Option<OpenSample>,
    /// Latest time of the recording's events, microseconds.
    known_end_us: i64,
    /// End of the recording, where an event gives it: microseconds.
    stop_us: Option<i64>,
    /// Offset of the trace's clock from V8's, microseconds.
    offset_us: i64,
    /// Whether the `Profile` event was read.
    is_announced: bool,
}

/// A sample of a recording.
#[derive(Debug, Clone, Copy)]
pub struct SourceSample {
    /// Id of the node in the recording.
    pub node: u64,
    /// Time before the sample, microseconds.
    pub delta_us: i64,
    pub position: SourcePosition,
    /// Number of the label set in the rewriter.
    pub labels: u32,
}

/// A sample that may go on at the start of the slice, or until its end.
#[derive(Clone, Copy)]
struct OpenSample {
    sample: NodeSample,
    /// Whether the sample is in the slice. Another one is before the slice.
    is_written: bool,
}

impl ProfileRewriter {
    /// Returns the rewriter of a thread.
    pub fn new(pid: u32, tid: u32, profile_id: String, options: &MergeOptions) -> Self {
        Self {
            output: ThreadOutput::new(pid, tid, profile_id),
            tree: RewrittenTree::new(options.filter.stacks.clone()),
            labels: LabelTable::default(),
            announced: AnnouncedLabels::default(),
            label_filter: options.filter.labels.clone(),
            thinner: options.interval_us.map(Thinner::new),
            ready: Vec::new(),
            is_filtered: options.filter.limits_samples(),
            is_first: true,
            time: WrittenTimeline::new(0),
            has_samples: false,
            open: None,
            known_end_us: i64::MIN,
            stop_us: None,
            offset_us: 0,
            is_announced: false,
        }
    }

    /// Begins a recording, which starts after the one before.
    pub fn begin(&mut self, start_us: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        self.tree.begin();
        self.announced.clear();
        if !mem::replace(&mut self.is_first, false) {
            // The last sample of the recording before must not last until now. The next segment of
            // a recording starts without a pause.
            let end_us = self.known_end_us.max(self.time.last_us());
            if end_us < start_us {
                self.pause(end_us, trace)?;
            }
        }
        self.time = WrittenTimeline::new(start_us);
        (self.has_samples, self.known_end_us, self.stop_us) = (false, start_us, None);
        // A thread of which no stack passes is not in the output.
        if self.is_filtered || !trace.slice.has(start_us) {
            return Ok(());
        }
        self.begin_profile(start_us, trace)
    }

    /// Ends the last recording. Returns whether anything was written.
    pub fn finish(&mut self, trace: &mut OutputTrace) -> Result<bool, MergeError> {
        // The events that tell the end of the recording are not written beside some of the stacks.
        let stop_us = self.stop_us.or(self.is_filtered.then_some(self.known_end_us));
        match stop_us {
            Some(stop_us) => self.pause(stop_us.max(self.time.last_us()), trace)?,
            None => {
                self.place_rest(self.known_end_us, trace)?;
                self.carry_over(self.known_end_us, trace)?;
                self.output.flush(&self.tree, trace)?;
            }
        }
        Ok(self.output.has_begun())
    }

    /// Notes that the recording lasts at least until a time.
    pub fn extend_to(&mut self, ts: i64) {
        self.known_end_us = self.known_end_us.max(ts);
    }

    /// Notes that the recording ends at a time, or with its last sample.
    pub fn end_at(&mut self, ts: i64) {
        self.extend_to(ts);
        self.stop_us = self.stop_us.max(Some(ts));
    }

    /// Returns whether the profile is that of a thread.
    pub fn is_of(&self, pid: u32, tid: u32) -> bool {
        (self.output.pid, self.output.tid) == (pid, tid)
    }

    /// Adds an event that names the thread. The same event is written once.
    pub fn name(&mut self, event: &[u8], trace: &mut OutputTrace) -> Result<(), MergeError> {
        self.output.name(event, trace)
    }

    /// Adds an event that is neither a name nor part of the profile.
    pub fn other(
        &mut self,
        event: &[u8],
        ts: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        self.write_until(ts, trace)?;
        // These events have the counters of the thread, which are those of all stacks.
        if self.is_filtered || !trace.slice.has(ts) {
            return Ok(());
        }
        self.begin_profile(ts, trace)?;
        trace.note(self.output.pid, ts);
        trace.events(event)
    }

    /// Adds a `ProfileChunk`. Returns whether the event can be read.
    pub fn chunk(&mut self, event: &[u8], trace: &mut OutputTrace) -> Result<bool, MergeError> {
        let Ok((ts, chunk)) = ChunkJson::from_event(event) else { return Ok(false) };
        if self.is_first {
            // Without a Profile event, a chunk is known to end about when it was written.
            self.begin(ts.saturating_sub(chunk.length_us()), trace)?;
        }
        self.nodes(chunk.nodes());
        let (ids, span_us) = (chunk.samples(), ts.saturating_sub(self.time.last_us()));
        let deltas = deltas_or_even(ids.len(), chunk.deltas(), !self.has_samples, span_us);
        let positions = chunk.positions();
        self.announced.announce(chunk.label_sets, &mut self.labels);
        let labels = self.announced.numbers(chunk.labels);
        let InOrder { list, rest_us } = InOrder::of(deltas);
        let samples = list.into_iter().map(|(index, delta)| {
            let position = positions.get(index).copied().unwrap_or_default();
            let labels = labels.get(index).copied().unwrap_or(NO_LABELS);
            SourceSample { node: ids[index].0, delta_us: delta, position, labels }
        });
        self.samples(samples, trace)?;
        self.time.run_back(rest_us);
        if let Some(end) = chunk.end_time {
            self.end_at(end.0.saturating_add(self.offset_us));
        }
        Ok(true)
    }

    /// Adds a `Profile` of another tool's trace. Returns whether the event can be read.
    pub fn start(
        &mut self,
        event: &[u8],
        ts: i64,
        trace: &mut OutputTrace,
    ) -> Result<bool, MergeError> {
        let Ok((_, start)) = ChunkJson::from_event(event) else { return Ok(false) };
        self.offset_us = start.start_time.map_or(0, |start| ts.saturating_sub(start.0));
        // The event can come after the first chunks.
        if mem::replace(&mut self.is_announced, true) || self.is_first {
            self.begin(ts, trace)?;
        }
        Ok(true)
    }

    /// Adds nodes, parents before their children.
    pub fn nodes(&mut self, nodes: &[NodeJson<'_>]) {
        self.tree.add(nodes);
    }

    /// Returns the number of a label set for samples.
    pub(crate) fn number_labels(&mut self, set: &LabelSet) -> u32 {
        self.labels.number(set)
    }

    /// Adds samples.
    pub fn samples(
        &mut self,
        samples: impl Iterator<Item = SourceSample>,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        for SourceSample { node, delta_us, position, labels } in samples {
            let time_us = self.time.sample(delta_us);
            self.has_samples = true;
            let is_kept = self.label_filter.keeps(self.labels.get(labels));
            let node = if is_kept { self.tree.node_of_sample(node) } else { self.tree.root() };
            let sample = match node {
                ROOT => NodeSample::of(ROOT),
                node => NodeSample { node, position, labels },
            };
            match &mut self.thinner {
                Some(thinner) => thinner.sample(sample, time_us, &mut self.ready),
                None => self.ready.push((sample, time_us)),
            }
            self.place_ready(trace)?;
        }
        self.extend_to(self.time.last_us());
        self.output.flush(&self.tree, trace)
    }

    /// Writes the samples until a time, before an event of this time is written.
    pub(crate) fn write_until(
        &mut self,
        ts: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        self.extend_to(ts);
        if let Some(thinner) = &mut self.thinner {
            thinner.end_at(ts.max(self.time.last_us()), &mut self.ready);
            self.place_ready(trace)?;
            self.output.flush(&self.tree, trace)?;
        }
        Ok(())
    }

    /// Places the samples that wait for the end of their interval.
    fn place_rest(&mut self, end_us: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        if let Some(thinner) = &mut self.thinner {
            thinner.end_at(end_us, &mut self.ready);
            thinner.finish();
        }
        self.place_ready(trace)
    }

    fn place_ready(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        for index in 0..self.ready.len() {
            let (sample, time_us) = self.ready[index];
            self.sample(sample, time_us, trace)?;
        }
        self.ready.clear();
        Ok(())
    }

    fn sample(
        &mut self,
        sample: NodeSample,
        time_us: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        // Several stacks in a row that do not pass are one gap.
        if self.is_filtered && sample.node == ROOT && self.open.is_none() {
            return Ok(());
        }
        self.carry_over(time_us, trace)?;
        let is_written = trace.slice.has(time_us);
        let goes_on = sample.node != ROOT && time_us < trace.slice.to_us;
        self.open = goes_on.then_some(OpenSample { sample, is_written });
        if is_written { self.write(sample, time_us, trace) } else { Ok(()) }
    }

    /// Ends the last sample by a sample of the root, for which viewers draw nothing.
    fn pause(&mut self, time_us: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        self.place_rest(time_us, trace)?;
        if self.open.is_some() {
            let root = NodeSample::of(self.tree.root());
            self.sample(root, time_us, trace)?;
        }
        self.output.flush(&self.tree, trace)
    }

    /// Carries the last sample over the edges of the slice, until a time: the sample begins again at the
    /// start of the slice, and ends with the slice.
    fn carry_over(&mut self, until_us: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        let Some(OpenSample { sample, is_written }) = self.open else { return Ok(()) };
        let OutputSlice { from_us, to_us, .. } = trace.slice;
        if !is_written && until_us > from_us {
            self.write(sample, from_us, trace)?;
            self.open = Some(OpenSample { sample, is_written: true });
        }
        if until_us < to_us {
            return Ok(());
        }
        self.open = None;
        let root = NodeSample::of(self.tree.root());
        self.write(root, to_us, trace)
    }

    /// Writes a sample.
    fn write(
        &mut self,
        sample: NodeSample,
        time_us: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        self.begin_profile(time_us, trace)?;
        self.output.sample(sample, time_us, (&mut self.tree, &self.labels), trace)
    }

    /// Begins the profile, at the start of the slice if the recording is older.
    fn begin_profile(&mut self, time_us: i64, trace: &mut OutputTrace) -> Result<(), MergeError> {
        let start_us = time_us.min(self.time.last_us()).min(self.known_end_us);
        self.output.begin(start_us, trace)
    }
}
