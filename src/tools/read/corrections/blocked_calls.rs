//! Gives the time in which native functions are blocked to the function of JavaScript that called them.
//!
//! A thread that waits in `spawnSync` or `Atomics.wait` is in `poll` or a futex. Its native functions say how a call
//! waits; the call says for what.

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_session::model::Session;
use cpu_prof_session::model::thread_profile::{NONE, NodeTimes, ProfileNode, ThreadProfile};

/// Gives blocked native functions of all threads to their callers.
pub(in crate::read) fn charge_callers(session: &mut Session) {
    let Session { processes, frames, .. } = session;
    let is_native = |frame: &CallFrame| frame.module().is_some() || frame.is_truncated();
    let natives: Vec<bool> = frames.list().iter().map(is_native).collect();
    if !natives.contains(&true) {
        return;
    }
    let threads = processes.iter_mut().flat_map(|process| &mut process.threads);
    for profile in threads.flat_map(|thread| &mut thread.profiles) {
        charge(profile, &natives);
    }
}

/// Gives blocked native functions of a profile to their callers. `natives` tells which frames are native.
fn charge(profile: &mut ThreadProfile, natives: &[bool]) {
    let is_native = |node: &ProfileNode| natives.get(node.frame as usize) == Some(&true);
    // The nearest node of JavaScript; none for the root, which is no function.
    let callers = profile.downward(|above: Option<u32>, number, node| match is_native(node) {
        true => above,
        false => (node.parent != NONE).then_some(number),
    });
    let caller_of = |number: u32| {
        let node = profile.nodes.get(number as usize)?;
        let NodeTimes { blocked_us, .. } = profile.times(node);
        let is_blocked = blocked_us > 0 && blocked_us >= profile.times(node).all_us() / 2;
        let caller = callers[number as usize].filter(|_| is_native(node) && is_blocked)?;
        (profile.labels(caller) == profile.labels(number)).then_some(caller)
    };
    let moved: Vec<u32> =
        (0..profile.nodes.len() as u32).map(|number| caller_of(number).unwrap_or(number)).collect();
    if (0..).zip(&moved).all(|(number, caller)| number == *caller) {
        return;
    }
    for (number, caller) in (0_u32..).zip(&moved).filter(|(number, caller)| number != *caller) {
        let times = std::mem::take(profile.times_mut(number));
        profile.times_mut(*caller).add(times);
    }
    let to = |node: u32| moved.get(node as usize).copied().unwrap_or(node);
    profile.samples.change(|mut sample| {
        sample.node = to(sample.node);
        sample
    });
    profile.steps.renumber(|node| Some(to(node)));
    profile.off_core.iter_mut().for_each(|span| span.node = to(span.node));
    let lines = &mut profile.lines;
    lines.iter_mut().for_each(|line| line.node = to(line.node));
    lines.sort_by_key(|line| (line.node, line.position));
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::base::native_code::BuildId;
    use cpu_prof_core::profile::off_core::OffCore;
    use cpu_prof_session::model::frame_table::FrameTable;
    use cpu_prof_session::model::thread_profile::OffCoreSpan;
    use cpu_prof_session::model::{Process, Thread};

    #[test]
    fn only_native_functions_that_mostly_wait_are_charged_to_their_callers() {
        let mut session = Session::default();
        let native =
            |address| CallFrame::in_module("/usr/lib/libc.so", BuildId::default(), 1, address);
        let mut number = |frame| session.frames.number(frame);
        let frames = [
            number(CallFrame { url: "/r/a.js".into(), script_id: 1, ..CallFrame::state("wait") }),
            number(native(1)),
            number(native(2)),
            number(native(3)),
        ];
        let mut profile = ThreadProfile::default();
        profile.nodes.push(ProfileNode::new(NONE, FrameTable::ROOT));
        // wait → 1 → 2, wait → 3, and 2 below the root.
        for (parent, frame) in [(0, 0), (1, 1), (2, 2), (1, 3), (0, 2)] {
            profile.nodes.push(ProfileNode::new(parent, frames[frame]));
        }
        let blocked =
            |self_us, blocked_us| NodeTimes { self_us, blocked_us, ..NodeTimes::default() };
        *profile.times_mut(3) = blocked(5, 100);
        *profile.times_mut(4) = blocked(100, 5);
        *profile.times_mut(5) = blocked(0, 100);
        let span = |node| OffCoreSpan { from_us: 0, to_us: 9, node, state: OffCore::Blocked };
        profile.off_core = vec![span(3), span(4), span(5)];
        let thread = Thread { profiles: vec![profile], ..Thread::default() };
        session.processes.push(Process { threads: vec![thread], ..Process::default() });
        charge_callers(&mut session);
        let profile = &session.processes[0].threads[0].profiles[0];
        let times: Vec<_> =
            profile.all_times().map(|times| (times.self_us, times.blocked_us)).collect();
        assert_eq!(times, [(0, 0), (5, 100), (0, 0), (0, 0), (100, 5), (0, 100)]);
        let nodes: Vec<u32> = profile.off_core.iter().map(|span| span.node).collect();
        assert_eq!(nodes, [1, 4, 5]);
    }
}
