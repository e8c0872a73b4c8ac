//! Builds a thread's profile from nodes and samples that come in any order.

use rustc_hash::FxHashMap;

use crate::profile::timeline::Timeline;

use super::frame_table::FrameTable;
use super::order;
use super::thread_profile::{NONE, ProfileNode, ProfileSample, ReadScope, ThreadProfile};

/// A profile that is being read.
#[derive(Debug)]
pub(crate) struct ProfileBuilder {
    wanted: ReadScope,
    start_us: i64,
    /// The samples' times as they were written, which may run back.
    written_us: i64,
    time: Timeline,
    /// The last sample, until its time is known.
    open: Option<ProfileSample>,
    first_us: Option<i64>,
    /// How far the recording is known to have gone.
    seen_us: i64,
    /// All of them, wanted or not.
    count: u64,
    hits: Vec<(u32, u64)>,
    indices: FxHashMap<u64, u32>,
    profile: ThreadProfile,
}

impl ProfileBuilder {
    /// A profile that starts at `start_us`.
    pub(crate) fn new(start_us: i64, wanted: ReadScope) -> Self {
        Self {
            wanted,
            start_us,
            written_us: start_us,
            time: Timeline::new(start_us),
            open: None,
            first_us: None,
            seen_us: i64::MIN,
            count: 0,
            hits: Vec::new(),
            indices: FxHashMap::default(),
            profile: ThreadProfile::default(),
        }
    }

    /// Whether there has been a node or a sample.
    pub(crate) fn is_empty(&self) -> bool {
        self.profile.nodes.is_empty()
    }

    /// Whether there has been a sample.
    pub(crate) fn has_samples(&self) -> bool {
        self.count > 0
    }

    /// The last sample's time, or the start: microseconds.
    pub(crate) fn last_us(&self) -> i64 {
        self.time.last_us()
    }

    /// When it starts, if that is told only now. Samples that there are stay where they are.
    pub(crate) fn starts(&mut self, start_us: i64) {
        if self.count == 0 {
            self.start_us = start_us;
            self.written_us = start_us;
            self.time = Timeline::new(start_us);
        } else {
            self.start_us = start_us.min(self.start_us);
        }
    }

    /// A node, whose parent may still be unknown. `frame` is a number of [`FrameTable`].
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

    /// `child` is a child of `parent`, unless it has another parent.
    pub(crate) fn adopt(&mut self, parent: u64, child: u64) {
        let (parent, child) = (self.index(parent), self.index(child));
        let node = &mut self.profile.nodes[child as usize];
        if node.parent == NONE && parent != child {
            node.parent = parent;
        }
    }

    /// A sample of node `id`, `delta_us` after the one before, or the start.
    pub(crate) fn sample(&mut self, id: u64, delta_us: i64) {
        let node = self.index(id);
        self.written_us = self.written_us.saturating_add(delta_us);
        self.time.delta(self.written_us);
        let now_us = self.time.last_us();
        if self.profile.nodes[node as usize].frame == FrameTable::ROOT {
            return self.pause(now_us);
        }
        self.charge(now_us);
        self.open = Some(ProfileSample { time_us: now_us, node });
        self.first_us.get_or_insert(now_us);
        self.count += 1;
        if (self.wanted.from_us..=self.wanted.to_us).contains(&now_us) {
            self.profile.sample_count += 1;
        }
        self.keep(now_us, node);
    }

    /// The count of a node's samples, for a profile without any.
    pub(crate) fn hits(&mut self, id: u64, hits: u64) {
        let node = self.index(id);
        self.hits.push((node, hits));
    }

    /// The recording went on until then, at least.
    pub(crate) fn seen(&mut self, time_us: i64) {
        self.seen_us = self.seen_us.max(time_us);
    }

    /// The recording ended then; what comes now belongs to the next one of this thread.
    pub(crate) fn ended(&mut self, time_us: i64) {
        self.seen(time_us);
        self.pause(time_us);
    }

    /// Nothing is known from then on until the next sample.
    fn pause(&mut self, time_us: i64) {
        if self.open.is_some() {
            self.time.delta(time_us);
            let end_us = self.time.last_us();
            self.charge(end_us);
            self.keep(end_us, NONE);
        }
    }

    /// The profile. It ends where it was last seen. If that is no later than the last sample, this
    /// one is as long as they are on average, as DevTools has it.
    pub(crate) fn finish(mut self) -> ThreadProfile {
        let last_us = self.time.last_us();
        let mut end_us = self.seen_us.max(last_us);
        if self.open.is_some() && self.seen_us <= last_us && self.count > 1 {
            let first_us = self.first_us.unwrap_or(last_us);
            let average = last_us.saturating_sub(first_us) / (self.count - 1) as i64;
            end_us = last_us.saturating_add(average);
        }
        self.charge(end_us);
        self.share_out(end_us);
        let mut profile = self.profile;
        let is_end = |sample: &ProfileSample| sample.node == NONE && sample.time_us >= end_us;
        if profile.samples.last().is_some_and(is_end) {
            profile.samples.pop();
        }
        let window = |time: i64| time.max(self.wanted.from_us).min(self.wanted.to_us);
        profile.recorded_us = (self.start_us, end_us.max(self.start_us));
        profile.start_us = window(self.start_us);
        profile.end_us = window(end_us).max(profile.start_us);
        order::parents_first(&mut profile);
        profile
    }

    /// Gives the time up to now to the last sample.
    fn charge(&mut self, now_us: i64) {
        let Some(ProfileSample { time_us, node }) = self.open.take() else { return };
        let from = time_us.max(self.wanted.from_us);
        let to = now_us.min(self.wanted.to_us);
        let us = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let self_us = &mut self.profile.nodes[node as usize].self_us;
        *self_us = self_us.saturating_add(us);
    }

    /// Without samples, there still are counts of them.
    fn share_out(&mut self, end_us: i64) {
        let total = self.hits.iter().fold(0_u64, |sum, (_, hits)| sum.saturating_add(*hits));
        if self.count > 0 || total == 0 {
            return;
        }
        let from = self.start_us.max(self.wanted.from_us);
        let to = end_us.min(self.wanted.to_us);
        let us = u128::try_from(to.saturating_sub(from)).unwrap_or(0);
        for (node, hits) in &self.hits {
            let share = us * u128::from(*hits) / u128::from(total);
            self.profile.nodes[*node as usize].self_us = u64::try_from(share).unwrap_or(0);
        }
        self.profile.sample_count = total;
    }

    fn keep(&mut self, time_us: i64, node: u32) {
        if self.wanted.samples {
            self.profile.samples.push(ProfileSample { time_us, node });
        }
    }

    /// The node's index. It may be announced later than it is spoken of, or never.
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
