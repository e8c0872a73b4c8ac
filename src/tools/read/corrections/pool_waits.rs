//! Tells a pool's worker that waits for its next task from one that is blocked in a task.
//!
//! Piscina, tinypool and loops of one's own wait by `Atomics.wait`, which has no frame in V8's profiles: the function
//! that calls it is on top of the stack, or below `wait`. A loop that waits for tasks has only the worker's own file on its
//! stack. A task that waits, for the answer of the main thread perhaps, is code of another file.

use std::mem;

use rustc_hash::FxHashSet;

use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::package::{is_built_in, package_of};
use cpu_prof_session::model::Session;
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::thread_profile::{NONE, ProfileNode, ThreadProfile};

/// Makes the time in which workers waited for their next task idle.
pub(in crate::read) fn make_idle(session: &mut Session) {
    let Session { processes, frames, .. } = session;
    for process in processes {
        for thread in process.threads.iter_mut().filter(|thread| !thread.is_main()) {
            for profile in &mut thread.profiles {
                make_profile_idle(profile, frames);
            }
        }
    }
}

fn make_profile_idle(profile: &mut ThreadProfile, frames: &FrameTable) {
    let blocked = (0_u32..).zip(profile.all_times()).filter(|(_, times)| times.blocked_us > 0);
    let waits: FxHashSet<u32> = blocked
        .map(|(index, _)| index)
        .filter(|index| waits_for_task(profile, frames, *index))
        .collect();
    let mut idle_us: u64 = 0;
    for index in &waits {
        let blocked_us = &mut profile.times_mut(*index).blocked_us;
        idle_us = idle_us.saturating_add(mem::take(blocked_us));
    }
    for span in &mut profile.off_core {
        if span.state == OffCore::Blocked && waits.contains(&span.node) {
            span.state = OffCore::Idle;
        }
    }
    if idle_us > 0 {
        let idle = idle_node(profile);
        let idle = profile.times_mut(idle);
        idle.self_us = idle.self_us.saturating_add(idle_us);
    }
}

/// Returns whether a thread that is blocked in a node waits for a task: all code on the stack is of one file.
fn waits_for_task(profile: &ThreadProfile, frames: &FrameTable, node: u32) -> bool {
    let frame = |node: &ProfileNode| &frames.list()[node.frame as usize];
    let is_code =
        |frame: &CallFrame| !frame.is_native() && !is_built_in(package_of(&file_path(&frame.url)));
    let above = |node: &&ProfileNode| profile.nodes.get(node.parent as usize);
    let top = &profile.nodes[node as usize];
    let is_wait = frame(top).is_native() && frame(top).function_name == "wait";
    let top = above(&top).filter(|_| is_wait).unwrap_or(top);
    let url = &frame(top).url;
    let mut callers = std::iter::successors(above(&top), above).map(frame);
    // Another native function on top is a call that blocks: a read, or `spawnSync`.
    is_code(frame(top)) && callers.all(|caller| caller.url == *url || !is_code(caller))
}

/// Returns the index of the node of idle time.
fn idle_node(profile: &mut ThreadProfile) -> u32 {
    let nodes = &mut profile.nodes;
    let at = nodes.iter().position(|node| node.frame == FrameTable::IDLE);
    let at = at.unwrap_or_else(|| {
        let root = nodes.iter().position(|node| node.frame == FrameTable::ROOT);
        nodes.push(ProfileNode::new(root.map_or(NONE, |root| root as u32), FrameTable::IDLE));
        nodes.len() - 1
    });
    at as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::model::thread_profile::OffCoreSpan;
    use cpu_prof_session::model::{Process, Thread};

    fn frame(name: &str, url: &str) -> CallFrame {
        CallFrame {
            function_name: name.into(),
            url: url.into(),
            script_id: u32::from(!url.is_empty()),
            line: 0,
            column: 0,
            ..CallFrame::root()
        }
    }

    /// A thread that is blocked for 100 µs with each of these stacks, outermost first.
    fn blocked(id: i64, stacks: &[&[(&str, &str)]]) -> Session {
        let mut session = Session::default();
        let mut profile = ThreadProfile::default();
        profile.nodes.push(ProfileNode::new(NONE, FrameTable::ROOT));
        for stack in stacks {
            let mut parent = 0;
            for (name, url) in *stack {
                let frame = session.frames.number(frame(name, url));
                profile.nodes.push(ProfileNode::new(parent, frame));
                parent = profile.nodes.len() as u32 - 1;
            }
            profile.times_mut(parent).blocked_us = 100;
            let span =
                OffCoreSpan { from_us: 0, to_us: 100, node: parent, state: OffCore::Blocked };
            profile.off_core.push(span);
        }
        let thread = Thread {
            id,
            name: format!("worker {id}"),
            profiles: vec![profile],
            ..Thread::default()
        };
        session.processes.push(Process { threads: vec![thread], ..Process::default() });
        session
    }

    const NODE: (&str, &str) = ("emit", "node:events");
    const LOOP: (&str, &str) = ("atomicsWaitLoop", "file:///a/node_modules/piscina/dist/worker.js");

    fn states(session: &mut Session) -> (Vec<OffCore>, u64) {
        make_idle(session);
        let profile = &session.processes[0].threads[0].profiles[0];
        let states = profile.off_core.iter().map(|span| span.state).collect();
        (states, profile.all_times().map(|times| times.blocked_us).sum())
    }

    #[test]
    fn a_worker_that_waits_in_its_own_file_is_idle() {
        let own = [("onMessage", LOOP.1), LOOP];
        let wait = ("wait", "");
        let mut session = blocked(3, &[&[NODE, own[0], NODE, own[1]], &[NODE, LOOP, wait]]);
        assert_eq!(states(&mut session), (vec![OffCore::Idle; 2], 0));
        let profile = &session.processes[0].threads[0].profiles[0];
        let idle = profile.nodes.last().unwrap();
        let self_us = profile.times(idle).self_us;
        assert_eq!((idle.frame, self_us, idle.parent), (FrameTable::IDLE, 200, 0));
    }

    #[test]
    fn a_task_that_waits_is_blocked() {
        let task = ("lint", "file:///a/task.js");
        let native = ("readSync", "");
        let mut session =
            blocked(3, &[&[NODE, LOOP, task], &[LOOP, task, NODE], &[LOOP, native], &[NODE]]);
        assert_eq!(states(&mut session), (vec![OffCore::Blocked; 4], 400));
    }

    #[test]
    fn a_main_thread_has_no_pool() {
        assert_eq!(states(&mut blocked(0, &[&[LOOP]])), (vec![OffCore::Blocked], 100));
    }
}
