//! The function that has the most of the work, with the work of Node's and native code that it calls.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::shared::frame_index::{FrameIndex, FrameKind};
use crate::shared::path_tree::downward;
use cpu_prof_core::profile::session::Session;
use cpu_prof_core::profile::session::thread_profile::{
    NONE, NodeTimes, ProfileNode, ThreadProfile,
};

/// Part of a function's time that a built-in function needs to be named, and a caller likewise.
const MOST: f64 = 0.6;
/// Part of a function's time that tells where the function ran.
const NEARLY_ALL: f64 = 0.9;

/// The time of a function without that of other code that it calls, microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct OwnTime {
    work_us: u64,
    critical_us: u64,
}

/// A function with the most of something.
#[derive(Debug, Clone, Default)]
pub(super) struct Culprit {
    /// Index into [`FrameIndex::functions`].
    pub function: usize,
    /// Time with the time of the Node's and native functions that it calls, microseconds.
    pub work_us: u64,
    /// Node's or native function that has most of the time.
    pub built_in: Option<usize>,
    /// Code that calls most of the time.
    pub caller: Option<usize>,
    /// Share of the wall time, microseconds.
    pub critical_us: u64,
    /// Indices of the processes and threads in which the function took nearly all of its time.
    pub threads: Vec<(usize, usize)>,
}

/// What the tables of a session do not tell.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkFacts {
    /// The function with the most critical time.
    pub culprit: Option<Culprit>,
    /// Time of Node's start, and of loading and compiling modules without the modules' own code: microseconds.
    pub loading_us: u64,
    /// Time of collections under the function under which most collections ran, microseconds.
    pub collector: Option<(usize, u64)>,
}

/// The nearest code on a stack.
#[derive(Debug, Clone, Copy, Default)]
struct NearestCode {
    function: Option<usize>,
    /// The nearest code above that is another function.
    caller: Option<usize>,
    /// Whether Node loads a module or starts, below that code.
    is_loading: bool,
}

/// Files of Node that load modules, and that start a process or a worker.
const LOADING: [&str; 4] = [
    "node:internal/modules/",
    "node:internal/bootstrap/",
    "node:internal/main/",
    "node:internal/process/pre_execution",
];

/// Returns the work of all processes but launchers.
pub(super) fn work(session: &Session, launchers: &[bool], index: &FrameIndex) -> WorkFacts {
    let is_code = index.code_functions();
    let mut own: FxHashMap<usize, OwnTime> = FxHashMap::default();
    let mut collectors: FxHashMap<usize, u64> = FxHashMap::default();
    let mut loading_us: u64 = 0;
    each_profile(session, launchers, |_, profile| {
        let nearest =
            each_node(profile, index, &is_code, |node, times, code| match code.function {
                _ if matches!(index.kind(node.frame), FrameKind::Idle | FrameKind::Unrecorded) => {}
                _ if code.is_loading => loading_us = loading_us.saturating_add(times.self_us),
                Some(function) => {
                    let time = own.entry(function).or_default();
                    time.work_us = time.work_us.saturating_add(times.self_us);
                    time.critical_us = time.critical_us.saturating_add(times.critical_us);
                }
                None => {}
            });
        add_collections(profile, &nearest, index, &mut collectors);
    });
    let collector = collectors.into_iter().max_by_key(|(function, us)| (*us, *function));
    let most = own.iter().max_by_key(|(function, time)| {
        (time.critical_us.max(1), time.work_us, usize::MAX - **function)
    });
    let culprit = most.map(|(function, time)| {
        let culprit = Culprit {
            function: *function,
            work_us: time.work_us,
            critical_us: time.critical_us,
            ..Culprit::default()
        };
        details(culprit, session, launchers, index, &is_code)
    });
    WorkFacts { culprit, loading_us, collector }
}

/// Adds the times of a profile's collections to the functions that ran: V8 gives collections no stack, so the
/// function of the sample before counts. `nearest` are the nearest code of the nodes.
fn add_collections(
    profile: &ThreadProfile,
    nearest: &[NearestCode],
    index: &FrameIndex,
    times: &mut FxHashMap<usize, u64>,
) {
    let mut last = None;
    for step in profile.steps.spans() {
        let node = step.node as usize;
        if index.kind(profile.nodes[node].frame) != FrameKind::Gc {
            last = nearest[node].function;
        } else if let Some(function) = last {
            *times.entry(function).or_default() += step.to_us.abs_diff(step.from_us);
        }
    }
}

/// Adds what the function calls, who calls it, and where.
fn details(
    mut culprit: Culprit,
    session: &Session,
    launchers: &[bool],
    index: &FrameIndex,
    is_code: &[bool],
) -> Culprit {
    let mut built_ins: FxHashMap<usize, u64> = FxHashMap::default();
    let mut callers: FxHashMap<usize, u64> = FxHashMap::default();
    let mut of_threads: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    each_profile(session, launchers, |thread, profile| {
        each_node(profile, index, is_code, |node, times, code| {
            if code.is_loading || code.function != Some(culprit.function) {
                return;
            }
            *of_threads.entry(thread).or_default() += times.self_us;
            if let Some(caller) = code.caller {
                *callers.entry(caller).or_default() += times.self_us;
            }
            let top = index.function(node.frame).filter(|function| !is_code[*function]);
            if let Some(built_in) = top {
                *built_ins.entry(built_in).or_default() += times.self_us;
            }
        });
    });
    let least_us = MOST * culprit.work_us as f64;
    let most = |times: FxHashMap<usize, u64>| {
        let most = times.into_iter().max_by_key(|(function, us)| (*us, *function));
        most.filter(|(_, us)| *us as f64 >= least_us).map(|(function, _)| function)
    };
    culprit.built_in = most(built_ins);
    culprit.caller = most(callers);
    let mut of_threads: Vec<_> = of_threads.into_iter().collect();
    of_threads.sort_unstable_by_key(|(thread, us)| (Reverse(*us), *thread));
    let mut rest_us = culprit.work_us as f64 * NEARLY_ALL;
    for (thread, us) in of_threads {
        if rest_us <= 0.0 {
            break;
        }
        rest_us -= us as f64;
        culprit.threads.push(thread);
    }
    culprit
}

/// Calls `take` with each profile, and the indices of its process and its thread.
pub(super) fn each_profile<'a>(
    session: &'a Session,
    launchers: &[bool],
    mut take: impl FnMut((usize, usize), &'a ThreadProfile),
) {
    let shown = session.processes.iter().enumerate().filter(|(number, _)| !launchers[*number]);
    for (number, process) in shown {
        for (thread_number, thread) in process.threads.iter().enumerate() {
            for profile in &thread.profiles {
                take((number, thread_number), profile);
            }
        }
    }
}

/// Returns the nearest code on the stacks of all nodes. Calls `take` with the nodes that have time, their
/// times and that code.
fn each_node(
    profile: &ThreadProfile,
    index: &FrameIndex,
    is_code: &[bool],
    mut take: impl FnMut(&ProfileNode, NodeTimes, NearestCode),
) -> Vec<NearestCode> {
    downward(profile, |above: NearestCode, _, node| {
        let kind = index.kind(node.frame);
        let code = match kind {
            FrameKind::Function(function) if is_code[function] => NearestCode {
                function: Some(function),
                caller: if above.function == Some(function) {
                    above.caller
                } else {
                    above.function
                },
                is_loading: false,
            },
            FrameKind::Function(function) => {
                let path = &index.files[index.functions[function].file].path;
                let is_loading = LOADING.iter().any(|start| path.starts_with(start));
                NearestCode { is_loading: above.is_loading || is_loading, ..above }
            }
            _ => above,
        };
        if node.times != NONE {
            take(node, profile.times(node), code);
        }
        code
    })
}

/// Returns the nearest code above a built-in function for most of the time in which the function was blocked.
pub(super) fn caller_of_blocked(
    session: &Session,
    launchers: &[bool],
    index: &FrameIndex,
    function: usize,
) -> Option<usize> {
    let is_code = index.code_functions();
    if is_code[function] {
        return None;
    }
    let mut callers: FxHashMap<usize, u64> = FxHashMap::default();
    let mut all_us: u64 = 0;
    each_profile(session, launchers, |_, profile| {
        each_node(profile, index, &is_code, |node, times, code| {
            if index.function(node.frame) == Some(function) {
                all_us = all_us.saturating_add(times.blocked_us);
                if let Some(caller) = code.function {
                    *callers.entry(caller).or_default() += times.blocked_us;
                }
            }
        });
    });
    let (caller, us) = callers.into_iter().max_by_key(|(caller, us)| (*us, *caller))?;
    (us as f64 >= MOST * all_us as f64 && us > 0).then_some(caller)
}
