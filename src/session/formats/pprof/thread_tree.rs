//! The call tree of one thread, from stacks with sums.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::values::KnownValues;
use crate::model::frame_table::FrameTable;
use crate::model::lists::sample_list::{ProfileSample, SampleList};
use crate::model::thread_profile::{NONE, NodeTimes, ProfileLine, ProfileNode, ThreadProfile};
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::read_scope::ReadScope;

/// A call tree that grows. Times are nanoseconds until the end: many small ones are a microsecond together.
pub(super) struct ThreadTree {
    profile: ThreadProfile,
    /// Nodes by the node above and the frame.
    children: FxHashMap<(u32, u32), u32>,
    /// Nodes for samples with labels, by the node without and the number of the label set.
    labelled: FxHashMap<(u32, u32), u32>,
    lines: BTreeMap<(u32, u32), LineSum>,
}

#[derive(Clone, Copy, Default)]
struct LineSum {
    samples: u64,
    nanos: u64,
}

impl ThreadTree {
    pub(super) fn new() -> Self {
        let root = ProfileNode::new(NONE, FrameTable::ROOT);
        Self {
            profile: ThreadProfile { nodes: vec![root], ..ThreadProfile::default() },
            children: FxHashMap::default(),
            labelled: FxHashMap::default(),
            lines: BTreeMap::new(),
        }
    }

    /// Returns the count of nodes.
    pub(super) fn len(&self) -> usize {
        self.profile.nodes.len()
    }

    /// Returns the node of a stack of at least one function, from the root.
    pub(super) fn node(&mut self, frames: impl Iterator<Item = u32>, labels: u32) -> u32 {
        let nodes = &mut self.profile.nodes;
        let mut at = 0;
        for frame in frames {
            at = *self.children.entry((at, frame)).or_insert_with(|| {
                nodes.push(ProfileNode::new(at, frame));
                (nodes.len() - 1) as u32
            });
        }
        if labels == NO_LABELS {
            return at;
        }
        *self.labelled.entry((at, labels)).or_insert_with(|| {
            let ProfileNode { parent, frame, .. } = nodes[at as usize];
            nodes.push(ProfileNode::new(parent, frame));
            (nodes.len() - 1) as u32
        })
    }

    /// Adds the values of a sample to its node, on top of which is a line, from 1, or 0. `state` tells why
    /// the thread was not on a core.
    pub(super) fn add(
        &mut self,
        node: u32,
        line: u32,
        values: KnownValues,
        state: Option<OffCore>,
    ) {
        let KnownValues { samples, work_nanos, other_nanos } = values;
        self.profile.sample_count = self.profile.sample_count.saturating_add(samples);
        let times = self.profile.times_mut(node);
        let others = match state {
            Some(OffCore::Blocked) => &mut times.blocked_us,
            Some(OffCore::Waiting) => &mut times.waiting_us,
            // Time of no state is that of an idle thread.
            Some(OffCore::Idle) | None => &mut times.self_us,
        };
        *others = others.saturating_add(other_nanos);
        times.self_us = times.self_us.saturating_add(work_nanos);
        if state.is_none() {
            let sum = self.lines.entry((node, line)).or_default();
            sum.samples = sum.samples.saturating_add(samples);
            sum.nanos = sum.nanos.saturating_add(work_nanos).saturating_add(other_nanos);
        }
    }

    /// Returns the sum of all times, microseconds.
    pub(super) fn all_us(&self) -> u64 {
        let all = self.profile.times.iter().map(|times| micros(*times).all_us());
        all.fold(0, u64::saturating_add)
    }

    /// Makes the thread idle for the rest of `length_us`, which no sample has.
    pub(super) fn rest(&mut self, length_us: u64) {
        let rest_us = length_us.saturating_sub(self.all_us());
        if rest_us > 0 {
            let node = self.node([FrameTable::IDLE].into_iter(), NO_LABELS);
            let self_us = &mut self.profile.times_mut(node).self_us;
            *self_us = self_us.saturating_add(rest_us.saturating_mul(1000));
        }
    }

    /// Returns the profile, which starts at `start_us` and lasts as long as all of its times, or
    /// `least_us`: what is left of these is the time of no stack.
    pub(super) fn finish(self, start_us: i64, least_us: u64, scope: ReadScope) -> ThreadProfile {
        let Self { mut profile, labelled, lines, .. } = self;
        if !labelled.is_empty() {
            profile.labels.resize(profile.nodes.len(), NO_LABELS);
            for ((_, set), node) in labelled {
                profile.labels[node as usize] = set;
            }
        }
        let mut all_us: u64 = 0;
        for times in &mut profile.times {
            *times = micros(*times);
            all_us = all_us.saturating_add(times.all_us());
            profile.tells_blocked |= times.blocked_us > 0;
            profile.tells_waiting |= times.waiting_us > 0;
        }
        if scope.lines || scope.samples {
            profile.lines = lines_of(&profile, lines);
        }
        // Steps tell what ran at one time, which the sums of a file do not.
        if scope.samples && !scope.steps {
            lay_out(&mut profile, start_us);
            if least_us > all_us {
                let time_us = start_us.saturating_add_unsigned(all_us);
                let position = SourcePosition::default();
                profile.samples.push(ProfileSample { time_us, node: NONE, position });
            }
        }
        let end_us = start_us.saturating_add_unsigned(all_us.max(least_us));
        (profile.start_us, profile.end_us) = (start_us, end_us);
        profile.recorded_us = (start_us, end_us);
        profile.has_ended = true;
        if !scope.lines {
            profile.lines = Vec::new();
        }
        profile
    }
}

/// Returns times that are given in nanoseconds in microseconds.
fn micros(times: NodeTimes) -> NodeTimes {
    let NodeTimes { self_us, blocked_us, waiting_us, critical_us } = times;
    NodeTimes {
        self_us: self_us / 1000,
        blocked_us: blocked_us / 1000,
        waiting_us: waiting_us / 1000,
        critical_us,
    }
}

/// Returns the lines of a profile, whose times are not more than those of their nodes.
fn lines_of(profile: &ThreadProfile, lines: BTreeMap<(u32, u32), LineSum>) -> Vec<ProfileLine> {
    let mut left = (NONE, 0);
    let line = |((node, line), LineSum { samples, nanos })| {
        if left.0 != node {
            left = (node, profile.times(&profile.nodes[node as usize]).self_us);
        }
        let self_us = (nanos / 1000).min(left.1);
        left.1 -= self_us;
        ProfileLine { node, position: SourcePosition::line(line), self_us, samples }
    };
    lines.into_iter().map(line).collect()
}

/// Gives a profile samples: the time of one line after the other, in the order of the nodes.
fn lay_out(profile: &mut ThreadProfile, start_us: i64) {
    let mut at_us = start_us;
    let mut samples = SampleList::default();
    let mut lines = profile.lines.iter().peekable();
    for (number, node) in (0_u32..).zip(&profile.nodes) {
        let mut left_us = profile.times(node).all_us();
        let mut add = |us: u64, position| {
            if us > 0 {
                samples.push(ProfileSample { time_us: at_us, node: number, position });
                at_us = at_us.saturating_add_unsigned(us);
            }
        };
        while let Some(line) = lines.next_if(|line| line.node <= number) {
            let us = line.self_us.min(left_us);
            left_us -= us;
            add(us, line.position);
        }
        add(left_us, SourcePosition::default());
    }
    profile.samples = samples;
}
