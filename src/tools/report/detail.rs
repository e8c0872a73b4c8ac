//! One function: who calls it, what it calls, its hottest lines, and the processes it ran in.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::json::{ReportCall, ReportDetail, ReportProcessTime, ReportTime};
use crate::analysis::costs::WeightedTree;
use crate::analysis::frame_index::{FrameIndex, SourceFunction};
use crate::analysis::lines::LineCosts;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::path_text::as_in_place;
use cpu_prof_session::model::Process;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Functions of a report that match one text.
const MAX_DETAILS: usize = 3;
/// Callers, callees, lines and processes of a function.
const MAX_ROWS: usize = 20;

/// The times of one function.
#[derive(Default)]
struct FunctionTimes {
    all: ReportTime,
    /// Times of the calls from each function; none is the event loop.
    callers: FxHashMap<Option<usize>, u64>,
    callees: FxHashMap<usize, u64>,
    /// By the indices of processes.
    processes: FxHashMap<usize, ReportTime>,
}

/// Returns the functions that a text means, the one with the most time first: those of this name, or
/// else those with the text in their name or in their `path:line`.
pub(super) fn details<'a>(wanted: &str, view: &'a SessionView<'_>) -> Vec<ReportDetail<'a>> {
    let mut found: Vec<_> = matching(wanted, &view.index)
        .into_iter()
        .map(|function| (function, FunctionTimes::of(function, view)))
        .filter(|(_, times)| times.all.total_us > 0)
        .collect();
    found.cold_sort_by_key(|(function, times)| (Reverse(times.all.total_us), *function));
    found.truncate(MAX_DETAILS);
    found.into_iter().map(|(function, times)| times.detail(function, view)).collect()
}

/// Returns these functions in their order.
pub(super) fn details_of<'a>(
    functions: &[usize],
    view: &'a SessionView<'_>,
) -> Vec<ReportDetail<'a>> {
    let of = |function: &usize| FunctionTimes::of(*function, view).detail(*function, view);
    functions.iter().map(of).collect()
}

fn matching(wanted: &str, index: &FrameIndex) -> Vec<usize> {
    let wanted = wanted.to_lowercase();
    let of = |is_match: &dyn Fn(&SourceFunction) -> bool| -> Vec<usize> {
        let functions = index.functions.iter().enumerate();
        functions.filter(|(_, function)| is_match(function)).map(|(number, _)| number).collect()
    };
    let exact = of(&|function| function.name.to_lowercase() == wanted);
    if !exact.is_empty() {
        return exact;
    }
    let place = |function: &SourceFunction| {
        format!("{}:{}", index.files[function.file].path, function.line).to_lowercase()
    };
    let at = of(&|function| {
        let place = place(function);
        place.ends_with(&*as_in_place(&wanted, &place))
    });
    if !at.is_empty() {
        return at;
    }
    of(&|function| {
        let place = place(function);
        function.name.to_lowercase().contains(&wanted)
            || place.contains(&*as_in_place(&wanted, &place))
    })
}

impl FunctionTimes {
    fn of(wanted: usize, view: &SessionView<'_>) -> Self {
        let mut times = Self::default();
        for (number, process) in view.shown() {
            let profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
            let before = times.all;
            profiles.for_each(|profile| times.add(wanted, profile, &view.index));
            let of_process = ReportTime {
                self_us: times.all.self_us - before.self_us,
                total_us: times.all.total_us - before.total_us,
            };
            if of_process.total_us > 0 {
                times.processes.insert(number, of_process);
            }
        }
        times
    }

    fn add(&mut self, wanted: usize, profile: &ThreadProfile, index: &FrameIndex) {
        let function = |node: u32| index.function(profile.nodes[node as usize].frame);
        if !(0..profile.nodes.len() as u32).any(|node| function(node) == Some(wanted)) {
            return;
        }
        let tree = WeightedTree::of(profile);
        let above = |node: u32| {
            let parent =
                |node: &u32| Some(profile.nodes[*node as usize].parent).filter(|n| *n != NONE);
            std::iter::successors(parent(&node), parent)
        };
        for (node, data) in (0_u32..).zip(&profile.nodes) {
            let total_us = tree.total_us(node);
            if function(node) == Some(wanted) {
                self.all.self_us += profile.times(data).self_us;
                // Recursion counts once.
                if !above(node).any(|node| function(node) == Some(wanted)) {
                    self.all.total_us += total_us;
                    *self.callers.entry(above(node).find_map(function)).or_default() += total_us;
                }
                continue;
            }
            let parent = Some(data.parent).filter(|parent| *parent != NONE);
            if let Some(callee) = function(node)
                && parent.and_then(function) == Some(wanted)
                && !above(node).any(|node| function(node) == Some(callee))
            {
                *self.callees.entry(callee).or_default() += total_us;
            }
        }
    }

    fn detail<'a>(self, number: usize, view: &'a SessionView<'_>) -> ReportDetail<'a> {
        let &SessionView { session, ref index, .. } = view;
        let mut lines = LineCosts::default();
        for thread in session.processes.iter().flat_map(|process| &process.threads) {
            for profile in &thread.profiles {
                lines.add(profile, index, |function| function == number);
            }
        }
        let callees = self.callees.into_iter().map(|(callee, us)| (Some(callee), us));
        let mut processes: Vec<_> = self.processes.into_iter().collect();
        processes.cold_sort_by_key(|(process, times)| (Reverse(times.total_us), *process));
        let process = |(process, time): (usize, ReportTime)| {
            let Process { pid, name, .. } = &session.processes[process];
            ReportProcessTime { pid: *pid, name, time }
        };
        ReportDetail {
            function: index.place(number),
            time: self.all,
            callers: calls(self.callers.into_iter().collect(), index),
            callees: calls(callees.collect(), index),
            lines: lines.top(index, MAX_ROWS),
            processes: processes.into_iter().take(MAX_ROWS).map(process).collect(),
        }
    }
}

fn calls(mut calls: Vec<(Option<usize>, u64)>, index: &FrameIndex) -> Vec<ReportCall<'_>> {
    calls.retain(|(_, us)| *us > 0);
    calls.cold_sort_by_key(|(function, us)| (Reverse(*us), *function));
    let call = |(function, total_us): (Option<usize>, u64)| ReportCall {
        function: function.map(|function| index.place(function)),
        total_us,
    };
    calls.into_iter().take(MAX_ROWS).map(call).collect()
}
