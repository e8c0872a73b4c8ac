//! The function that has the most of the work, with the work of Node's and native code that it calls.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::thresholds::{IN_ONE, MAX_BUILT_INS, MOST_OF_FUNCTION, NEARLY_ALL, NOTABLE_OF_FUNCTION};
use crate::analysis::built_ins::{built_ins, is_no_call, name_of};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::lines::LineCosts;
use crate::analysis::native::module::module_of;
use crate::analysis::process::session_view::SessionView;
use crate::names::originals::source_lines::SourceLines;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::package::is_loader;
use cpu_prof_session::model::thread_profile::{NONE, NodeTimes, ProfileNode, ThreadProfile};

/// End of the names of V8's own functions.
const OF_V8: &str = " of V8";

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
    /// Names of the built-in functions that it calls, with their times in microseconds: the longest first.
    pub built_ins: Vec<(String, u64)>,
    /// Code that calls most of the time.
    pub caller: Option<usize>,
    /// Share of the wall time, microseconds.
    pub critical_us: u64,
    /// Indices of the processes and threads in which the function took nearly all of its time; or one that has
    /// most of the time.
    pub threads: Vec<(usize, usize)>,
    /// Whether the other threads have a notable part of the time.
    pub has_more_threads: bool,
}

/// What the tables of a session do not tell.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkFacts {
    /// The function with the most critical time.
    pub culprit: Option<Culprit>,
    /// The native function with the most time of its own, whoever called it, and that time: microseconds. None if
    /// native functions were not recorded.
    pub largest_native: Option<(usize, u64)>,
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
    /// Node's or native function that the code called.
    built_in: Option<usize>,
    /// Whether Node loads a module or starts, below that code.
    is_loading: bool,
}

/// Returns the work of all processes but launchers.
pub(super) fn work(view: &SessionView<'_>, sources: &mut SourceLines) -> WorkFacts {
    let index = &view.index;
    let is_code = index.code_functions();
    let mut own: FxHashMap<usize, OwnTime> = FxHashMap::default();
    let mut collectors: FxHashMap<usize, u64> = FxHashMap::default();
    let mut natives: FxHashMap<usize, u64> = FxHashMap::default();
    let mut loading_us: u64 = 0;
    each_profile(view, |_, profile| {
        let nearest = each_node(profile, index, &is_code, |node, times, code| {
            if let Some(native) = index.function(node.frame).filter(|at| index.is_in_module(*at)) {
                let us = natives.entry(native).or_default();
                *us = us.saturating_add(times.self_us);
            }
            match code.function {
                _ if matches!(index.kind(node.frame), FrameKind::Idle | FrameKind::Unrecorded) => {}
                _ if code.is_loading => loading_us = loading_us.saturating_add(times.self_us),
                Some(function) => {
                    let time = own.entry(function).or_default();
                    time.work_us = time.work_us.saturating_add(times.self_us);
                    time.critical_us = time.critical_us.saturating_add(times.critical_us);
                }
                None => {}
            }
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
        let mut culprit = details(culprit, view, &is_code);
        culprit.add_built_ins_of_lines(view, sources);
        culprit
    });
    let largest_native = natives.into_iter().max_by_key(|(function, us)| (*us, *function));
    WorkFacts { culprit, largest_native, loading_us, collector }
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
fn details(mut culprit: Culprit, view: &SessionView<'_>, is_code: &[bool]) -> Culprit {
    let index = &view.index;
    let mut built_ins: FxHashMap<usize, u64> = FxHashMap::default();
    let mut callers: FxHashMap<usize, u64> = FxHashMap::default();
    let mut of_threads: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    each_profile(view, |thread, profile| {
        each_node(profile, index, is_code, |_, times, code| {
            if code.is_loading || code.function != Some(culprit.function) {
                return;
            }
            *of_threads.entry(thread).or_default() += times.self_us;
            if let Some(caller) = code.caller {
                *callers.entry(caller).or_default() += times.self_us;
            }
            if let Some(built_in) = code.built_in {
                *built_ins.entry(built_in).or_default() += times.self_us;
            }
        });
    });
    let caller = callers.into_iter().max_by_key(|(function, us)| (*us, *function));
    let caller = caller.filter(|(_, us)| *us as f64 >= MOST_OF_FUNCTION * culprit.work_us as f64);
    culprit.caller = caller.map(|(function, _)| function);
    for (built_in, us) in built_ins {
        culprit.add_built_in(&name_of(&index.place(built_in)), us);
    }
    let mut of_threads: Vec<_> = of_threads.into_iter().collect();
    of_threads.sort_unstable_by_key(|(thread, us)| (Reverse(*us), *thread));
    let first_us = of_threads.first().map_or(0, |(_, us)| *us) as f64;
    let is_in_one = first_us >= IN_ONE * culprit.work_us as f64;
    let mut rest_us = culprit.work_us as f64 * NEARLY_ALL;
    for (thread, us) in of_threads {
        if rest_us <= 0.0 || (is_in_one && !culprit.threads.is_empty()) {
            break;
        }
        rest_us -= us as f64;
        culprit.threads.push(thread);
    }
    culprit.has_more_threads = rest_us > 0.0;
    culprit
}

impl Culprit {
    /// Adds the built-in functions that lines of the function call.
    fn add_built_ins_of_lines(&mut self, view: &SessionView<'_>, sources: &mut SourceLines) {
        let index = &view.index;
        let mut lines = LineCosts::default();
        each_profile(view, |_, profile| {
            lines.add(profile, index, |function| function == self.function);
        });
        let of_lines =
            built_ins([(self.function, self.work_us)].into_iter(), &lines, index, sources);
        let of_lines: Vec<_> = of_lines.into_values().flatten().collect();
        // What V8 does in the functions that the lines name.
        if !of_lines.is_empty() {
            self.built_ins.retain(|(name, _)| !name.ends_with(OF_V8));
        }
        for built_in in of_lines {
            self.add_built_in(built_in.name.trim_start_matches('.'), built_in.self_us);
        }
        self.built_ins
            .cold_sort_by(|(name, us), (other, other_us)| (other_us, name).cmp(&(us, other)));
    }

    fn add_built_in(&mut self, name: &str, us: u64) {
        match self.built_ins.iter_mut().find(|(known, _)| known == name) {
            Some((_, known_us)) => *known_us = known_us.saturating_add(us),
            None => self.built_ins.push((name.to_owned(), us)),
        }
    }

    /// Returns the few built-in functions that have most of the function's time, and their time: microseconds.
    pub(super) fn main_built_ins(&self) -> Option<(Vec<&str>, u64)> {
        let least_us = |part: f64| (part * self.work_us as f64) as u64;
        let notable = self.built_ins.iter().filter(|(_, us)| *us >= least_us(NOTABLE_OF_FUNCTION));
        let (names, times): (Vec<&str>, Vec<u64>) =
            notable.take(MAX_BUILT_INS).map(|(name, us)| (name.as_str(), *us)).unzip();
        let us = times.into_iter().sum();
        (us >= least_us(MOST_OF_FUNCTION).max(1)).then_some((names, us))
    }
}

/// Calls `take` with each profile, and the indices of its process and its thread.
pub(super) fn each_profile<'a>(
    view: &SessionView<'a>,
    mut take: impl FnMut((usize, usize), &'a ThreadProfile),
) {
    for (number, process) in view.shown() {
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
    profile.downward(|above: NearestCode, _, node| {
        let kind = index.kind(node.frame);
        let code = match kind {
            FrameKind::Function(function) if is_code[function] => NearestCode {
                function: Some(function),
                caller: if above.function == Some(function) {
                    above.caller
                } else {
                    above.function
                },
                built_in: None,
                is_loading: false,
            },
            FrameKind::Function(function) => {
                let place = index.place(function);
                let is_loading = is_loader(place.file);
                let built_in = match above.built_in {
                    known if is_no_call(&place) => known,
                    // By what V8 and Node call an addon, or a library, says nothing.
                    Some(known) if leads_to(known, function, index) => Some(function),
                    // V8's own wrappers of functions of Node are native.
                    Some(known) if index.is_native(function) || !index.is_native(known) => {
                        Some(known)
                    }
                    _ => Some(function),
                };
                NearestCode { built_in, is_loading: above.is_loading || is_loading, ..above }
            }
            _ => above,
        };
        if node.times != NONE {
            take(node, profile.times(node), code);
        }
        code
    })
}

/// Returns whether a native function is V8's or Node's own way to another one, which is not.
fn leads_to(function: usize, called: usize, index: &FrameIndex) -> bool {
    let is_engine = |function: usize| {
        let place = index.place(function);
        matches!(&*module_of(place.file, place.name), "V8" | "node")
    };
    let are_native = index.is_in_module(function) && index.is_in_module(called);
    are_native && is_engine(function) && !is_engine(called)
}

/// Returns the nearest code above a built-in function for most of the time in which the function was blocked.
pub(super) fn caller_of_blocked(view: &SessionView<'_>, function: usize) -> Option<usize> {
    let index = &view.index;
    let is_code = index.code_functions();
    if is_code[function] {
        return None;
    }
    let mut callers: FxHashMap<usize, u64> = FxHashMap::default();
    let mut all_us: u64 = 0;
    each_profile(view, |_, profile| {
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
    (us as f64 >= MOST_OF_FUNCTION * all_us as f64 && us > 0).then_some(caller)
}
