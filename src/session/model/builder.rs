//! Builds a thread's profile from nodes and samples that come in any order.

use cpu_prof_core::profile::gc::{CollectionTotals, MemoryRange, MemoryUse};
use std::mem;

use rustc_hash::FxHashMap;

use self::labelled_nodes::LabelledNodes;
use super::line_times::LineTimes;
use super::lists::sample_list::ProfileSample;
use super::node_indices::NodeIndices;
use super::order;
use super::thread_profile::{NONE, OffCoreSpan, ProfileNode, ThreadProfile};
use crate::model::frame_table::FrameTable;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::gap::LostTime;
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::off_core::{CpuAccount, OffCoreTime};
use cpu_prof_core::profile::position::{PositionTicks, SourcePosition, Uncounted, spread};
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_core::profile::timeline::WrittenTimeline;

/// A profile that is being read.
#[derive(Debug, Clone)]
pub struct ProfileBuilder {
    scope: ReadScope,
    start_us: i64,
    time: WrittenTimeline,
    /// The last sample, until the next one ends it.
    open: Option<ProfileSample>,
    /// Time of the first sample, microseconds.
    first_us: Option<i64>,
    /// Time until which the recording lasts at least, microseconds.
    known_end_us: i64,
    /// Count of all samples, in the scope or not.
    count: u64,
    /// Nodes with the counts of their samples, of profiles without samples.
    hits: Vec<(u32, u64)>,
    /// Counts of samples on the lines of nodes, of profiles whose samples have no lines.
    ticks: Vec<PositionTicks>,
    line_times: LineTimes,
    /// Indices of nodes by their ids.
    indices: NodeIndices,
    labelled: LabelledNodes,
    cpu: CpuAccount,
    profile: ThreadProfile,
}

impl ProfileBuilder {
    /// Returns a profile that starts at `start_us`.
    pub fn new(start_us: i64, scope: ReadScope) -> Self {
        Self {
            scope,
            start_us,
            time: WrittenTimeline::new(start_us),
            open: None,
            first_us: None,
            known_end_us: i64::MIN,
            count: 0,
            hits: Vec::new(),
            ticks: Vec::new(),
            line_times: LineTimes::default(),
            indices: NodeIndices::default(),
            labelled: LabelledNodes::default(),
            cpu: CpuAccount::new(scope),
            profile: ThreadProfile::default(),
        }
    }

    /// Returns whether there is neither a node nor a sample.
    pub fn is_empty(&self) -> bool {
        self.profile.nodes.is_empty()
    }

    /// Returns whether there is a sample.
    pub fn has_samples(&self) -> bool {
        self.count > 0
    }

    /// Returns the time of the last sample, or the start: microseconds.
    pub fn last_us(&self) -> i64 {
        self.time.last_us()
    }

    /// Sets the start. Earlier samples keep their times.
    pub(crate) fn set_start(&mut self, start_us: i64) {
        if self.count == 0 {
            self.start_us = start_us;
            self.time = WrittenTimeline::new(start_us);
        } else {
            self.start_us = start_us.min(self.start_us);
        }
    }

    /// Adds a node, whose parent may be announced later. `frame` is a number of [`FrameTable`].
    pub fn announce(&mut self, id: u64, parent: Option<u64>, frame: u32) {
        let index = self.index(id);
        let node = &mut self.profile.nodes[index as usize];
        if node.frame == FrameTable::UNKNOWN {
            node.frame = frame;
        }
        if let Some(parent) = parent {
            self.adopt(parent, id);
        }
    }

    /// Makes `child` a child of `parent`, unless `child` has another parent.
    pub(crate) fn adopt(&mut self, parent: u64, child: u64) {
        let (parent, child) = (self.index(parent), self.index(child));
        let node = &mut self.profile.nodes[child as usize];
        if node.parent == NONE && parent != child {
            node.parent = parent;
        }
    }

    /// Adds a sample of a node, `delta_us` after the last sample, or the start.
    pub fn sample(&mut self, id: u64, delta_us: i64, position: SourcePosition) {
        self.labelled_sample(id, delta_us, position, NO_LABELS);
    }

    /// Adds a sample with the number of its label set.
    pub(crate) fn labelled_sample(
        &mut self,
        id: u64,
        delta_us: i64,
        position: SourcePosition,
        labels: u32,
    ) {
        let node = self.index(id);
        let now_us = self.time.sample(delta_us);
        if self.profile.nodes[node as usize].frame == FrameTable::ROOT {
            return self.pause(now_us);
        }
        let node = self.labelled.index(node, labels, &mut self.profile.nodes);
        self.charge(now_us);
        self.open = Some(ProfileSample { time_us: now_us, node, position });
        self.first_us.get_or_insert(now_us);
        self.count += 1;
        if (self.scope.from_us..=self.scope.to_us).contains(&now_us) {
            self.profile.sample_count += 1;
        }
        self.keep(now_us, node, position);
    }

    /// Moves the time from which the next sample counts, microseconds.
    pub fn run_back(&mut self, us: i64) {
        self.time.run_back(us);
    }

    /// Adds the count of a node's samples, for a profile without samples.
    pub fn hits(&mut self, id: u64, hits: u64) {
        let node = self.index(id);
        self.hits.push((node, hits));
    }

    /// Returns whether lines of samples are of use.
    pub fn has_lines(&self) -> bool {
        self.scope.lines || self.scope.samples
    }

    /// Adds the count of a node's samples on a line, for samples without lines.
    pub fn ticks(&mut self, id: u64, line: u32, ticks: u32) {
        let node = self.index(id);
        self.ticks.push(PositionTicks { node, position: SourcePosition::line(line), ticks });
    }

    /// Returns the positions of samples by the ticks so far, which are used up. `ids` are the ids of
    /// the samples' nodes.
    pub(crate) fn take_positions(&mut self, ids: impl Iterator<Item = u64>) -> Vec<SourcePosition> {
        if self.ticks.is_empty() {
            return Vec::new();
        }
        let nodes: Vec<u32> = ids.map(|id| self.index(id)).collect();
        spread(&nodes, mem::take(&mut self.ticks), Uncounted::Unknown)
    }

    /// Adds the reason why V8 does not optimize a node's function.
    pub(crate) fn deopt(&mut self, id: u64, reason: String) {
        if self.scope.samples {
            let node = self.index(id);
            self.profile.deopts.push((node, reason));
        }
    }

    /// Begins a recording of the thread with these counters.
    pub(crate) fn begin_cpu(&mut self, time_us: i64, times: CpuTimes) {
        if self.scope.lines {
            self.complete_reading();
            self.cpu.begin(time_us, times);
        }
    }

    /// Reads the counters at a time within the recording.
    pub(crate) fn read_cpu(&mut self, time_us: i64, times: CpuTimes) {
        if !self.scope.lines {
            return;
        }
        self.complete_reading();
        self.cpu.add_reading(time_us, times);
    }

    /// Counts the open sample up to the last reading: no other sample begins before that time.
    fn complete_reading(&mut self) {
        if let (Some(open), Some(until_us)) = (self.open, self.cpu.next_us()) {
            self.count_cpu(open, until_us);
        }
    }

    fn count_cpu(
        &mut self,
        ProfileSample { time_us, node, position }: ProfileSample,
        until_us: i64,
    ) {
        if self.cpu.is_in_use() {
            let is_idle = self.profile.nodes[node as usize].frame == FrameTable::IDLE;
            self.cpu.sample((node, position), is_idle, (time_us, until_us));
        }
    }

    /// Reads the counters at the end of a gap that the file lacks. Nothing is known of the time in the
    /// gap, also not whether the thread was blocked.
    pub(crate) fn end_gap(&mut self, time_us: i64, lost: LostTime, times: CpuTimes) {
        let from_us = time_us.saturating_sub(lost.lost_us.max(0)).max(self.scope.from_us);
        let lost_us = time_us.min(self.scope.to_us).saturating_sub(from_us).max(0);
        self.profile.lost_us = self.profile.lost_us.saturating_add(lost_us);
        self.begin_cpu(time_us, times);
    }

    /// Adds the collections of the time before a moment.
    pub fn add_collections(&mut self, time_us: i64, totals: CollectionTotals) {
        if self.scope.contains(time_us) {
            self.profile.collections.get_or_insert_default().add_totals(totals);
        }
    }

    /// Adds the memory at a moment.
    pub(crate) fn add_memory(&mut self, time_us: i64, memory: MemoryUse) {
        if self.scope.contains(time_us) {
            MemoryRange::add(&mut self.profile.memory, memory);
        }
    }

    /// Notes that the recording lasts at least until a time.
    pub fn extend_to(&mut self, time_us: i64) {
        self.known_end_us = self.known_end_us.max(time_us);
    }

    /// Ends the recording. Later samples belong to the next recording of the thread.
    pub fn end_at(&mut self, time_us: i64) {
        self.extend_to(time_us);
        self.pause(time_us);
        self.profile.has_ended = true;
    }

    /// Ends the last sample. The time until the next sample belongs to no node.
    fn pause(&mut self, time_us: i64) {
        if self.open.is_some() {
            let end_us = self.time.move_to(time_us);
            self.charge(end_us);
            self.keep(end_us, NONE, SourcePosition::default());
        }
    }

    /// Returns the profile.
    pub fn finish(mut self) -> ThreadProfile {
        let end_us = self.end_us();
        self.charge(end_us);
        self.share_out_hits(end_us);
        self.take_off_core_times();
        self.labelled.finish(&mut self.profile);
        let mut profile = self.profile;
        profile.lines = self.line_times.into_list();
        profile.cpu = self.cpu.finish();
        profile.tells_blocked = profile.cpu.is_some_and(|cpu| cpu.last.switches.is_some());
        profile.tells_waiting = profile.cpu.is_some_and(|cpu| cpu.wait_us.is_some());
        let is_end = |sample: ProfileSample| sample.node == NONE && sample.time_us >= end_us;
        profile.samples.pop_if(is_end);
        let in_scope = |time: i64| time.max(self.scope.from_us).min(self.scope.to_us);
        profile.recorded_us = (self.start_us, end_us.max(self.start_us));
        profile.start_us = in_scope(self.start_us);
        profile.end_us = in_scope(end_us).max(profile.start_us);
        order::parents_first(&mut profile);
        profile.lines.sort_unstable_by_key(|line| (line.node, line.position));
        profile.off_core.sort_unstable_by_key(|span| span.from_us);
        profile.fit();
        profile
    }

    /// Turns time of samples into blocked and waiting time of their nodes.
    fn take_off_core_times(&mut self) {
        for OffCoreTime { node: index, position, from_us, us, state } in self.cpu.take_found() {
            let node = self.profile.times_mut(index);
            let us = us.min(node.self_us);
            node.self_us -= us;
            let is_waiting = state == OffCore::Waiting;
            let sum_us = if is_waiting { &mut node.waiting_us } else { &mut node.blocked_us };
            *sum_us = sum_us.saturating_add(us);
            self.line_times.take_off(index, position, us);
            if self.scope.samples || self.scope.steps {
                let to_us = from_us.saturating_add_unsigned(us);
                let span = OffCoreSpan { from_us, to_us, node: index, state };
                OffCoreSpan::add(&mut self.profile.off_core, span);
            }
        }
    }

    /// Returns the end of the recording. Without a known end after the last sample, this sample is
    /// as long as the average sample, as in DevTools.
    fn end_us(&self) -> i64 {
        let last_us = self.time.last_us();
        if self.open.is_some() && self.known_end_us <= last_us && self.count > 1 {
            let first_us = self.first_us.unwrap_or(last_us);
            let average = last_us.saturating_sub(first_us) / (self.count - 1) as i64;
            return last_us.saturating_add(average);
        }
        self.known_end_us.max(last_us)
    }

    /// Ends the last sample, and adds its time to its node.
    fn charge(&mut self, now_us: i64) {
        let Some(open) = self.open.take() else { return };
        self.count_cpu(open, now_us);
        let ProfileSample { time_us, node, position } = open;
        let from = time_us.max(self.scope.from_us);
        let to = now_us.min(self.scope.to_us);
        let us = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let self_us = &mut self.profile.times_mut(node).self_us;
        *self_us = self_us.saturating_add(us);
        if self.scope.steps {
            self.profile.steps.add(node, from, us);
        }
        let is_in_scope = (self.scope.from_us..=self.scope.to_us).contains(&time_us);
        if self.scope.lines && self.scope.lines_of_samples {
            self.line_times.add(node, position, us, u64::from(is_in_scope || us > 0));
        }
    }

    /// Shares the recording's time out by the counts of samples, if there are no samples.
    fn share_out_hits(&mut self, end_us: i64) {
        let total = self.hits.iter().map(|(_, hits)| u128::from(*hits)).sum::<u128>();
        if self.count > 0 || total == 0 {
            return;
        }
        let from = self.start_us.max(self.scope.from_us);
        let to = end_us.min(self.scope.to_us);
        let us = u128::try_from(to.saturating_sub(from)).unwrap_or(0);
        let mut lines: FxHashMap<u32, Vec<PositionTicks>> = FxHashMap::default();
        for at in mem::take(&mut self.ticks) {
            lines.entry(at.node).or_default().push(at);
        }
        for (node, hits) in mem::take(&mut self.hits) {
            let share = us.saturating_mul(u128::from(hits)) / total;
            let self_us = u64::try_from(share).unwrap_or(0);
            let sum_us = &mut self.profile.times_mut(node).self_us;
            *sum_us = sum_us.saturating_add(self_us);
            if self.scope.lines {
                let ticks = lines.remove(&node).unwrap_or_default();
                self.line_times.share_out(node, self_us, hits, &ticks);
            }
        }
        self.profile.sample_count = u64::try_from(total).unwrap_or(u64::MAX);
    }

    fn keep(&mut self, time_us: i64, node: u32, position: SourcePosition) {
        if self.scope.samples {
            self.profile.samples.push(ProfileSample { time_us, node, position });
        }
    }

    /// Returns the index of a node, which may be announced later, or never.
    fn index(&mut self, id: u64) -> u32 {
        let nodes = &mut self.profile.nodes;
        let index = self.indices.number(id, nodes.len() as u32);
        if index as usize == nodes.len() {
            nodes.push(ProfileNode::new(NONE, FrameTable::UNKNOWN));
        }
        index
    }
}

mod growing;
mod labelled_nodes;
#[cfg(test)]
mod tests;
