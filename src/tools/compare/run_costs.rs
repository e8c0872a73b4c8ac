//! The costs of one run, by item.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::items::{ComparedItem, ItemKind, Items, Measure};
use super::short_path::{short_command, short_path};
use crate::analysis::costs::WeightedTree;
use crate::analysis::frame_index::FrameIndex;
use crate::analysis::heap;
use crate::analysis::json::{ReportCost, ReportTimes, ms};
use crate::analysis::label_costs::LabelBy;
use crate::analysis::process::cpu::cpu_of_processes;
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::times::{sum_of_times, thread_times};
use crate::analysis::session_costs::SessionCosts;
use crate::read::load::Loaded;
use crate::read::load_error::LoadError;
use crate::read::selection::Selection;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::Session;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Items with less than this part of the work are left out of a run.
const NOTABLE: f64 = 0.0002;
/// The same for the calls by which moved functions are recognized.
const NOTABLE_CALL: f64 = 0.001;
/// The longest time between two samples that is believed, milliseconds: waiting threads are not
/// sampled.
const MAX_INTERVAL_MS: f64 = 10.0;

/// Self time of Node's and of native functions, by their numbers and those of their nearest callers that
/// are code, microseconds.
pub(super) type CallersOfBuiltIns = FxHashMap<(usize, usize), u64>;

/// What one run cost.
#[derive(Debug, Clone, Default)]
pub(super) struct RunCosts {
    /// Milliseconds, bytes or counts, by the number of the item. An item that is missing had none.
    pub values: FxHashMap<(usize, Measure), f64>,
    /// Numbers of functions that called, and of those that they called.
    pub calls: FxHashSet<(usize, usize)>,
    /// Self time of functions that are not code, by the numbers of the function and of the caller.
    pub callers: CallersOfBuiltIns,
    /// Mean time between two samples, milliseconds.
    pub interval_ms: f64,
}

/// Reads the runs of both sides one after the other, so that one is in memory at a time. `take` gets
/// the side, 0 for base and 1 for head, the run, and its view. Returns all items, and the costs of the
/// runs of each side.
pub(super) fn read_runs(
    sides: [&[Vec<PathBuf>]; 2],
    selection: &Selection,
    mut take: impl FnMut(usize, &Loaded, &SessionView<'_>),
) -> Result<(Items, [Vec<RunCosts>; 2]), LoadError> {
    let mut items = Items::default();
    let mut costs = [Vec::new(), Vec::new()];
    for (side, runs) in sides.into_iter().enumerate() {
        for run in runs {
            let loaded = selection.load(run, ReadScope::LINES)?;
            let view = SessionView::of(&loaded.session);
            costs[side].push(run_costs(&view, loaded.is_slice, &mut items));
            take(side, &loaded, &view);
        }
    }
    Ok((items, costs))
}

/// Returns the costs of a run, and adds its items to `items`. `is_slice` is whether time of the recordings was
/// left out.
fn run_costs(view: &SessionView<'_>, is_slice: bool, items: &mut Items) -> RunCosts {
    let &SessionView { session, ref index, .. } = view;
    let mut run = RunCosts::default();
    let times = add_totals(&mut run, view, is_slice, items);
    run.interval_ms = interval_ms(session, times);
    let root = root(session);
    add_processes(&mut run, session, root, items);

    let least_us = (NOTABLE * times.work_us() as f64) as u64;
    let least_call_us = (NOTABLE_CALL * times.work_us() as f64) as u64;
    let is_code = index.code_functions();
    let mut callers = CallersOfBuiltIns::default();
    let costs = SessionCosts::of(view);
    let mut calls = FxHashSet::default();
    for profile in view.shown_profiles() {
        add_calls(&mut calls, profile, &WeightedTree::of(profile), index, least_call_us);
        add_callers(&mut callers, profile, index, &is_code);
    }
    let mut add = |item: ComparedItem, cost: ReportCost| {
        if cost.total_us < least_us {
            return None;
        }
        let number = items.insert_full(item).0;
        // Two copies of one file can have one name.
        *run.values.entry((number, Measure::SelfTime)).or_default() += ms(cost.self_us);
        *run.values.entry((number, Measure::TotalTime)).or_default() += ms(cost.total_us);
        Some(number)
    };
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    for (function, cost) in costs.functions.known() {
        if let Some(number) = add(function_item(function, index, root), cost) {
            numbers.insert(function, number);
        }
    }
    for (file, cost) in costs.files.known() {
        let source = &index.files[file];
        let package = index.packages[source.package].clone();
        let name = short_path(&source.path, root);
        add(ComparedItem { package, ..named(ItemKind::File, &name) }, cost);
    }
    for (package, cost) in costs.packages.known() {
        add(named(ItemKind::Package, &index.packages[package]), cost);
    }
    for owner in costs.owners.top(usize::MAX) {
        let name = short_path(owner.name, root);
        add(ComparedItem { owner: owner.kind, ..named(ItemKind::Owner, &name) }, owner.cost);
    }
    for key in costs.labels.keys() {
        for of_value in costs.labels.by(&LabelBy::Key(key.to_owned())) {
            if !of_value.labels.is_empty() {
                add(named(ItemKind::Label, &of_value.labels.to_string()), of_value.cost);
            }
        }
    }
    let known = |(caller, callee)| Some((*numbers.get(&caller)?, *numbers.get(&callee)?));
    run.calls = calls.into_iter().filter_map(known).collect();
    run.callers = callers.into_iter().filter_map(|(pair, us)| Some((known(pair)?, us))).collect();
    run
}

/// Adds the values of the whole run. Returns the times of all threads.
fn add_totals(
    run: &mut RunCosts,
    view: &SessionView<'_>,
    is_slice: bool,
    items: &mut Items,
) -> ReportTimes {
    let &SessionView { session, ref index, .. } = view;
    let threads = || session.processes.iter().flat_map(|process| &process.threads);
    let times = sum_of_times(threads().map(|thread| thread_times(thread, index)));
    let told: Option<u64> =
        threads().map(|thread| heap::collections(thread).map(|each| each.total_us)).sum();
    let cpu = cpu_of_processes(view, is_slice).into_iter();
    let cpu_us: Option<u64> = cpu.map(|cpu| Some(cpu?.javascript_us + cpu?.native_us)).sum();
    let memory = threads().filter_map(|thread| heap::memory(thread)?.rss_peak).max();
    let values = [
        (Measure::Wall, Some(session.length_us() as f64 / 1000.0)),
        (Measure::Work, Some(ms(times.work_us()))),
        (Measure::Cpu, cpu_us.map(ms)),
        (Measure::Gc, Some(ms(told.unwrap_or(times.gc_us)))),
        (Measure::Idle, Some(ms(times.idle_us))),
        (Measure::Waiting, times.waiting_us.map(ms)),
        (Measure::Blocked, times.blocked_us.map(ms)),
        (Measure::Memory, memory.map(|bytes| bytes as f64)),
        (Measure::Processes, Some(session.processes.len() as f64)),
    ];
    let all = items.insert_full(named(ItemKind::Total, "")).0;
    for (measure, value) in values {
        if let Some(value) = value {
            run.values.insert((all, measure), value);
        }
    }
    times
}

/// Adds the durations of processes, those of one command together.
fn add_processes(run: &mut RunCosts, session: &Session, root: &str, items: &mut Items) {
    for process in &session.processes {
        let command = short_command(&process.command, root);
        let number = items.insert_full(named(ItemKind::Process, &command)).0;
        let us = process.end_us().saturating_sub(process.start_us());
        *run.values.entry((number, Measure::Duration)).or_default() += us as f64 / 1000.0;
    }
}

/// Adds the calls of functions in the nodes that have some time.
fn add_calls(
    calls: &mut FxHashSet<(usize, usize)>,
    profile: &ThreadProfile,
    tree: &WeightedTree<'_>,
    index: &FrameIndex,
    least_us: u64,
) {
    for (node, data) in (0_u32..).zip(&profile.nodes) {
        if data.parent == NONE || tree.total_us(node) <= least_us {
            continue;
        }
        let caller = index.function(profile.nodes[data.parent as usize].frame);
        calls.extend(caller.zip(index.function(data.frame)));
    }
}

/// Adds the self times of a profile. `is_code` tells of each function whether it is neither Node's nor
/// native.
fn add_callers(
    callers: &mut CallersOfBuiltIns,
    profile: &ThreadProfile,
    index: &FrameIndex,
    is_code: &[bool],
) {
    profile.downward(|caller: Option<usize>, _, node| {
        let function = index.function(node.frame);
        let is_built_in = function.is_some_and(|function| !is_code[function]);
        if is_built_in
            && let self_us = profile.times(node).self_us
            && self_us > 0
            && let Some(pair) = function.zip(caller)
        {
            let us = callers.entry(pair).or_default();
            *us = us.saturating_add(self_us);
        }
        function.filter(|function| is_code[*function]).or(caller)
    });
}

/// Returns the caller with the most time in all runs, by the function that it calls.
pub(super) fn main_callers<'a>(
    runs: impl Iterator<Item = &'a CallersOfBuiltIns>,
) -> FxHashMap<usize, usize> {
    let mut sums = CallersOfBuiltIns::default();
    for (pair, us) in runs.flatten() {
        *sums.entry(*pair).or_default() += us;
    }
    let mut main: FxHashMap<usize, (u64, usize)> = FxHashMap::default();
    for ((function, caller), us) in sums {
        let most = main.entry(function).or_insert((us, caller));
        *most = (*most).max((us, caller));
    }
    main.into_iter().map(|(function, (_, caller))| (function, caller)).collect()
}

/// Returns the folder in which the run was started, as far as it is known.
pub(super) fn root(session: &Session) -> &str {
    let first = session.processes.iter().min_by_key(|process| (process.clock, process.start_us()));
    first.and_then(|process| process.cwd.as_deref()).unwrap_or_default()
}

fn interval_ms(session: &Session, times: ReportTimes) -> f64 {
    let threads = session.processes.iter().flat_map(|process| &process.threads);
    let samples: u64 =
        threads.flat_map(|thread| &thread.profiles).map(|profile| profile.sample_count).sum();
    let all_us = times.work_us().saturating_add(times.idle_us);
    (ms(all_us) / samples.max(1) as f64).min(MAX_INTERVAL_MS)
}

/// Returns a function by its number in the index, named as on every machine.
pub(super) fn function_item(function: usize, index: &FrameIndex, root: &str) -> ComparedItem {
    let place = index.place(function);
    ComparedItem {
        file: short_path(place.file, root).into_owned(),
        line: place.line,
        column: place.column,
        package: place.package.to_owned(),
        ..named(ItemKind::Function, place.name)
    }
}

fn named(kind: ItemKind, name: &str) -> ComparedItem {
    ComparedItem { kind, name: name.to_owned(), ..ComparedItem::default() }
}
