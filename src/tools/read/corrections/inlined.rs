//! Gives the time of inlined functions back to these.
//!
//! The V8 of Node 20 charges samples of an inlined function to its caller, with the line of the inlined
//! function. A line before the caller's first line is not in the caller. Of the functions that the caller has
//! called and that begin before the line, the nearest has the sample; or one that these have called, as
//! V8 inlines several levels.

use cpu_prof_core::profile::frame_table::FrameTable;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::session::thread_profile::{NONE, ThreadProfile};
use cpu_prof_core::profile::session::{Process, Session};

/// Levels of calls that are looked at.
const MAX_LEVELS: usize = 3;

/// Gives the time of inlined functions to these, in the recordings of Node 20.
pub(in crate::read) fn charge_inlined(session: &mut Session) {
    let Session { processes, frames, .. } = session;
    let is_affected = |process: &&mut Process| {
        process.node.as_deref().is_some_and(|node| node.starts_with("v20."))
    };
    for profile in processes
        .iter_mut()
        .filter(is_affected)
        .flat_map(|process| &mut process.threads)
        .flat_map(|thread| &mut thread.profiles)
    {
        charge(profile, frames);
    }
}

fn charge(profile: &mut ThreadProfile, frames: &FrameTable) {
    let is_foreign = |node: u32, position: SourcePosition| {
        first_line(profile, frames, node).is_some_and(|first| (1..first).contains(&position.line))
    };
    if !profile.lines.iter().any(|line| is_foreign(line.node, line.position)) {
        return;
    }
    let children = Children::of(profile);
    let owner = |node: u32, position: SourcePosition| {
        is_foreign(node, position)
            .then(|| children.nearest(profile, frames, node, position.line))
            .flatten()
    };
    // Nodes with the nodes that get a part of their time, and that part: microseconds.
    let mut moves = Vec::new();
    let mut lines = profile.lines.clone();
    for line in &mut lines {
        if let Some(child) = owner(line.node, line.position) {
            moves.push((line.node, child, line.self_us));
            line.node = child;
        }
    }
    let mut samples = profile.samples.clone();
    for sample in samples.iter_mut().filter(|sample| sample.node != NONE) {
        if let Some(child) = owner(sample.node, sample.position) {
            sample.node = child;
        }
    }
    lines.sort_unstable_by_key(|line| (line.node, line.position));
    (profile.lines, profile.samples) = (lines, samples);
    for (from, to, us) in moves {
        let giver = profile.times_mut(from);
        let us = us.min(giver.self_us);
        let part = us as f64 / giver.self_us.max(1) as f64;
        let critical_us = (giver.critical_us as f64 * part).round() as u64;
        giver.self_us -= us;
        giver.critical_us = giver.critical_us.saturating_sub(critical_us);
        let taker = profile.times_mut(to);
        taker.self_us = taker.self_us.saturating_add(us);
        taker.critical_us = taker.critical_us.saturating_add(critical_us);
    }
}

/// Returns the first line of a node's function, from 1; none for a function without a script.
fn first_line(profile: &ThreadProfile, frames: &FrameTable, node: u32) -> Option<u32> {
    let frame = &frames.list()[profile.nodes[node as usize].frame as usize];
    (!frame.is_native()).then(|| u32::try_from(frame.line.saturating_add(1)).ok()).flatten()
}

/// The children of all nodes.
struct Children {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Children {
    fn of(profile: &ThreadProfile) -> Self {
        let count = profile.nodes.len();
        let mut children = Self { first: vec![NONE; count], next: vec![NONE; count] };
        for (index, node) in (0_u32..).zip(&profile.nodes) {
            if let Some(first) = children.first.get_mut(node.parent as usize) {
                children.next[index as usize] = std::mem::replace(first, index);
            }
        }
        children
    }

    /// Returns the callee whose function begins last of those that begin before a line, of the first level
    /// that has one.
    fn nearest(
        &self,
        profile: &ThreadProfile,
        frames: &FrameTable,
        node: u32,
        line: u32,
    ) -> Option<u32> {
        let mut level = vec![node];
        for _ in 0..MAX_LEVELS {
            level = level.into_iter().flat_map(|node| self.of_node(node)).collect();
            let starts = level.iter().filter_map(|child| {
                let start = first_line(profile, frames, *child)?;
                (1..=line).contains(&start).then_some((start, *child))
            });
            if let Some((_, child)) = starts.max() {
                return Some(child);
            }
        }
        None
    }

    fn of_node(&self, node: u32) -> impl Iterator<Item = u32> {
        let existing = |node: u32| (node != NONE).then_some(node);
        let first = existing(self.first[node as usize]);
        std::iter::successors(first, move |child| existing(self.next[*child as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::frame::CallFrame;
    use cpu_prof_core::profile::session::Thread;
    use cpu_prof_core::profile::session::thread_profile::{
        NodeTimes, ProfileLine, ProfileNode, ProfileSample,
    };

    /// A caller that begins on line 12, with callees on lines 4 and 40, and a sample on each of these
    /// lines of the caller.
    fn charged(node: &str, lines: &[u32]) -> (Vec<u64>, Vec<u32>) {
        let mut session = Session::default();
        let frame = |name: &str, line: i32| CallFrame {
            function_name: name.into(),
            url: "file:///a.js".into(),
            script_id: 1,
            line: line - 1,
            column: 0,
            ..CallFrame::root()
        };
        let mut profile = ThreadProfile::default();
        for (parent, (name, line)) in
            [NONE, 0, 0].into_iter().zip([("caller", 12), ("low", 4), ("high", 40)])
        {
            let number = session.frames.number(frame(name, line));
            profile.nodes.push(ProfileNode::new(parent, number));
        }
        for line in lines {
            let position = SourcePosition { line: *line, column: 1 };
            let times = profile.times_mut(0);
            times.self_us += 10;
            times.critical_us += 10;
            profile.lines.push(ProfileLine { node: 0, position, self_us: 10, samples: 1 });
            profile.samples.push(ProfileSample { time_us: 0, node: 0, position });
        }
        let thread = Thread { profiles: vec![profile], ..Thread::default() };
        let node = Some(node.to_owned());
        session.processes.push(Process { threads: vec![thread], node, ..Process::default() });
        charge_inlined(&mut session);
        let profile = &session.processes[0].threads[0].profiles[0];
        let self_us = |times: NodeTimes| {
            assert_eq!(times.self_us, times.critical_us);
            times.self_us
        };
        (
            profile.all_times().map(self_us).collect(),
            profile.samples.iter().map(|sample| sample.node).collect(),
        )
    }

    #[test]
    fn a_line_before_the_caller_is_that_of_a_callee() {
        assert_eq!(charged("v20.9.0", &[5, 13, 4]), (vec![10, 20, 0], vec![1, 0, 1]));
    }

    #[test]
    fn a_line_that_can_be_the_callers_or_nobodys_stays() {
        assert_eq!(charged("v20.9.0", &[12, 41, 0, 3]), (vec![40, 0, 0], vec![0; 4]));
    }

    #[test]
    fn other_versions_charge_the_right_function() {
        assert_eq!(charged("v22.1.0", &[5]), (vec![10, 0, 0], vec![0]));
    }
}
