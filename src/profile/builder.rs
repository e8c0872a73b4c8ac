//! Builds a thread's profile from nodes and samples that come in any order.

use rustc_hash::FxHashMap;

use super::frame_table::FrameTable;
use super::order;
use super::thread_profile::{NONE, ProfileNode, ProfileSample, ReadScope, ThreadProfile};
use super::timeline::WrittenTimeline;

/// A profile that is being read.
#[derive(Debug)]
pub(crate) struct ProfileBuilder {
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
    /// Indices of nodes by their ids.
    indices: FxHashMap<u64, u32>,
    profile: ThreadProfile,
}

impl ProfileBuilder {
    /// Returns a profile that starts at `start_us`.
    pub(crate) fn new(start_us: i64, scope: ReadScope) -> Self {
        Self {
            scope,
            start_us,
            time: WrittenTimeline::new(start_us),
            open: None,
            first_us: None,
            known_end_us: i64::MIN,
            count: 0,
            hits: Vec::new(),
            indices: FxHashMap::default(),
            profile: ThreadProfile::default(),
        }
    }

    /// Returns whether there is neither a node nor a sample.
    pub(crate) fn is_empty(&self) -> bool {
        self.profile.nodes.is_empty()
    }

    /// Returns whether there is a sample.
    pub(crate) fn has_samples(&self) -> bool {
        self.count > 0
    }

    /// Returns the time of the last sample, or the start: microseconds.
    pub(crate) fn last_us(&self) -> i64 {
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
    pub(crate) fn announce(&mut self, id: u64, parent: Option<u64>, frame: u32) {
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
    pub(crate) fn sample(&mut self, id: u64, delta_us: i64) {
        let node = self.index(id);
        let now_us = self.time.sample(delta_us);
        if self.profile.nodes[node as usize].frame == FrameTable::ROOT {
            return self.pause(now_us);
        }
        self.charge(now_us);
        self.open = Some(ProfileSample { time_us: now_us, node });
        self.first_us.get_or_insert(now_us);
        self.count += 1;
        if (self.scope.from_us..=self.scope.to_us).contains(&now_us) {
            self.profile.sample_count += 1;
        }
        self.keep(now_us, node);
    }

    /// Adds the count of a node's samples, for a profile without samples.
    pub(crate) fn hits(&mut self, id: u64, hits: u64) {
        let node = self.index(id);
        self.hits.push((node, hits));
    }

    /// Notes that the recording lasts at least until a time.
    pub(crate) fn extend_to(&mut self, time_us: i64) {
        self.known_end_us = self.known_end_us.max(time_us);
    }

    /// Ends the recording. Later samples belong to the next recording of the thread.
    pub(crate) fn end_at(&mut self, time_us: i64) {
        self.extend_to(time_us);
        self.pause(time_us);
    }

    /// Ends the last sample. The time until the next sample belongs to no node.
    fn pause(&mut self, time_us: i64) {
        if self.open.is_some() {
            let end_us = self.time.move_to(time_us);
            self.charge(end_us);
            self.keep(end_us, NONE);
        }
    }

    /// Returns the profile.
    pub(crate) fn finish(mut self) -> ThreadProfile {
        let end_us = self.end_us();
        self.charge(end_us);
        self.share_out_hits(end_us);
        let mut profile = self.profile;
        let is_end = |sample: &ProfileSample| sample.node == NONE && sample.time_us >= end_us;
        if profile.samples.last().is_some_and(is_end) {
            profile.samples.pop();
        }
        let in_scope = |time: i64| time.max(self.scope.from_us).min(self.scope.to_us);
        profile.recorded_us = (self.start_us, end_us.max(self.start_us));
        profile.start_us = in_scope(self.start_us);
        profile.end_us = in_scope(end_us).max(profile.start_us);
        order::parents_first(&mut profile);
        profile
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
        let Some(ProfileSample { time_us, node }) = self.open.take() else { return };
        let from = time_us.max(self.scope.from_us);
        let to = now_us.min(self.scope.to_us);
        let us = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let self_us = &mut self.profile.nodes[node as usize].self_us;
        *self_us = self_us.saturating_add(us);
    }

    /// Shares the recording's time out by the counts of samples, if there are no samples.
    fn share_out_hits(&mut self, end_us: i64) {
        let total = self.hits.iter().fold(0_u64, |sum, (_, hits)| sum.saturating_add(*hits));
        if self.count > 0 || total == 0 {
            return;
        }
        let from = self.start_us.max(self.scope.from_us);
        let to = end_us.min(self.scope.to_us);
        let us = u128::try_from(to.saturating_sub(from)).unwrap_or(0);
        for (node, hits) in &self.hits {
            let share = us * u128::from(*hits) / u128::from(total);
            self.profile.nodes[*node as usize].self_us = u64::try_from(share).unwrap_or(0);
        }
        self.profile.sample_count = total;
    }

    fn keep(&mut self, time_us: i64, node: u32) {
        if self.scope.samples {
            self.profile.samples.push(ProfileSample { time_us, node });
        }
    }

    /// Returns the index of a node, which may be announced later, or never.
    fn index(&mut self, id: u64) -> u32 {
        *self.indices.entry(id).or_insert_with(|| {
            let nodes = &mut self.profile.nodes;
            nodes.push(ProfileNode { parent: NONE, frame: FrameTable::UNKNOWN, self_us: 0 });
            (nodes.len() - 1) as u32
        })
    }
}

#[cfg(test)]
mod tests;
