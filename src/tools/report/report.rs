//! Builds a report from a session.

use super::detail::{details, details_of};
use super::imports::imports;
use super::json::{
    Report, ReportCounts, ReportDetail, ReportFile, ReportFunction, ReportModule, ReportPackage,
    ReportProcess, ReportThread, ReportUnrecorded,
};
use super::modules::modules;
use super::projects::projects;
use super::scripts::scripts;
use super::stalls::stalls;
use super::tree::tree;
use super::user_files::own_files;
use crate::analysis::built_ins::built_ins;
use crate::analysis::costs::Costs;
use crate::analysis::frame_index::SourceFile;
use crate::analysis::heap;
use crate::analysis::in_flight::in_flight;
use crate::analysis::json::{
    ReportChainPart, ReportCost, ReportCpu, ReportProgram, ReportTimes, ReportWall, ms,
};
use crate::analysis::label_costs::{LabelBy, LabelCost};
use crate::analysis::lines::LineCosts;
use crate::analysis::met_conditions::met_conditions;
use crate::analysis::process::cpu::counted_us;
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::sums::{ProcessSums, process_sums};
use crate::analysis::process::times::sum_of_times;
use crate::analysis::sentence::{Evidence, sentence};
use crate::analysis::session_costs::SessionCosts;
use crate::names::originals::source_lines::SourceLines;
use crate::read::load::Loaded;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::model::{Process, Thread};

/// What a report contains.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// Rows of each list, by each time.
    pub top: usize,
    /// A function of which callers, callees, lines and processes are wanted.
    pub function: Option<String>,
    /// Count of the functions with the most self time of which the same is wanted.
    pub details: usize,
    /// Whether the call tree is wanted.
    pub has_tree: bool,
    /// Whether the modules are wanted, by the time of loading them.
    pub has_imports: bool,
    /// What the list of labels is by; none for the key that tells the most.
    pub by_label: Option<LabelBy>,
    /// Whether the projects are wanted.
    pub has_projects: bool,
    /// The shortest stall that is wanted, microseconds; none if stalls are not wanted.
    pub stalls_us: Option<u64>,
}

impl ReportOptions {
    /// Returns what has to be read.
    pub fn scope(&self) -> ReadScope {
        let needs_samples = self.has_imports || self.has_projects || self.stalls_us.is_some();
        if needs_samples { ReadScope::ALL } else { ReadScope::STEPS }
    }
}

/// Returns the report as JSON. The lists of functions, files and packages each hold the first `top`
/// by self time and the first `top` by total time. Lines have self time only.
pub fn report(loaded: &Loaded, options: &ReportOptions) -> serde_json::Result<String> {
    let top = options.top;
    let view = SessionView::of(&loaded.session);
    let SessionView { session, index, .. } = &view;
    let costs = SessionCosts::of(&view);
    let sums = process_sums(&view, loaded.is_slice);
    let modules = modules(&view);
    let lines = lines(&view);
    let labels = LabelList::of(&costs, options);
    let mut sources = SourceLines::default();
    let functions = functions(&view, &costs, &lines, top, &mut sources);
    let wall = loaded.wall.as_ref().map(|(wall, _)| wall);
    let evidence = Evidence::of(&view, wall, &costs, &sums, &mut sources);
    serde_json::to_string(&Report {
        version: 2,
        sentence: sentence(&evidence),
        conditions: met_conditions(session),
        duration_ms: to_ms(session.length_us()),
        totals: sum_of_times(sums.iter().map(ProcessSums::times)),
        program_us: Some(evidence.program_us()).filter(|us| *us > 0),
        wall: wall.map(ReportWall::of),
        chain: loaded.wall.iter().flat_map(|(_, chain)| chain).map(ReportChainPart::of).collect(),
        processes: processes(&view, &sums),
        functions,
        lines: lines.top(index, top),
        files: rows(&costs.files, top, |file, trunk, cost| {
            let SourceFile { path, package, .. } = &index.files[file];
            ReportFile { file: path, package: &index.packages[*package], trunk, cost }
        }),
        packages: rows(&costs.packages, top, |package, _, cost| ReportPackage {
            name: &index.packages[package],
            cost,
        }),
        modules: rows(&modules.costs, top, |module, _, cost| ReportModule {
            name: &modules.names[module],
            cost,
        }),
        owners: costs.owners.top(top),
        labels: labels.costs.iter().map(|of| of.row(&labels.by, index)).collect(),
        label_keys: &labels.keys,
        label_key: match &labels.by {
            LabelBy::Key(key) => Some(key),
            LabelBy::Set => None,
        },
        scripts: scripts(&view),
        details: wanted_details(&view, &costs, options),
        tree: options.has_tree.then(|| tree(&view)),
        imports: options.has_imports.then(|| imports(&view)),
        projects: options.has_projects.then(|| projects(&view, &sums, top)),
        stalls: options.stalls_us.map(|least_us| stalls(&view, least_us, top)),
        counts: ReportCounts {
            functions: costs.functions.known().count(),
            lines: lines.count(),
            files: costs.files.known().count(),
            packages: costs.packages.known().count(),
        },
        inputs: loaded.inputs,
        repaired: &loaded.repaired,
        failed: &loaded.failed,
        notes: &loaded.notes,
    })
}

/// Returns the costs of lines in all processes but launchers.
fn lines(view: &SessionView<'_>) -> LineCosts {
    let mut lines = LineCosts::default();
    for profile in view.shown_profiles() {
        lines.add(profile, &view.index, |_| true);
    }
    lines
}

/// The labels of a report.
struct LabelList<'a> {
    /// All keys, the one that tells the most first.
    keys: Vec<&'a str>,
    /// What the costs are summed up by.
    by: LabelBy,
    /// The first of the costs, the most work first.
    costs: Vec<LabelCost>,
}

impl<'a> LabelList<'a> {
    fn of(costs: &'a SessionCosts, options: &ReportOptions) -> Self {
        let keys = costs.labels.keys();
        let main_key = || keys.first().map(|key| LabelBy::Key((*key).to_owned()));
        let by = options.by_label.clone().or_else(main_key).unwrap_or(LabelBy::Set);
        let mut costs = costs.labels.by(&by);
        costs.truncate(options.top);
        Self { keys, by, costs }
    }
}

/// Returns the functions, each with the built-in functions that its lines call. `sources` are the files that are
/// looked at.
fn functions<'a>(
    view: &'a SessionView<'_>,
    costs: &SessionCosts,
    lines: &LineCosts,
    top: usize,
    sources: &mut SourceLines,
) -> Vec<ReportFunction<'a>> {
    let index = &view.index;
    let by_self = costs.functions.top(top).map(|(function, cost)| (function, cost.self_us));
    let mut built_ins = built_ins(by_self, lines, index, sources);
    rows(&costs.functions, top, |function, trunk, cost| ReportFunction {
        place: index.place(function),
        trunk,
        cost,
        built_ins: built_ins.remove(&function).unwrap_or_default(),
    })
}

/// Returns the functions of which more is wanted: those that a text means, or those with the most self time.
fn wanted_details<'a>(
    view: &'a SessionView<'_>,
    costs: &SessionCosts,
    options: &ReportOptions,
) -> Option<Vec<ReportDetail<'a>>> {
    match &options.function {
        Some(wanted) => Some(details(wanted, view)),
        None if options.details > 0 => {
            let hottest = costs.functions.top(options.details).take(options.details);
            let hottest: Vec<usize> = hottest.map(|(function, _)| function).collect();
            Some(details_of(&hottest, view))
        }
        None => None,
    }
}

/// Returns all processes with their threads. `sums` are those of the processes.
fn processes<'a>(view: &'a SessionView<'_>, sums: &'a [ProcessSums<'_>]) -> Vec<ReportProcess<'a>> {
    let SessionView { session, launchers, .. } = view;
    let mut own_files = own_files(view).into_iter();
    let shown = session.processes.iter().zip(sums).zip(launchers);
    let processes = shown.map(|((process, sums), launcher)| {
        let clock_us = session.clock(process).start_us;
        let thread_report = |(thread, times): (_, &ReportTimes)| ReportThread {
            own_file: own_files.next().flatten(),
            ..thread_report(thread, *times, clock_us)
        };
        ReportProcess {
            program: ReportProgram::of(process),
            cpu: sums.cpu,
            native: sums.native.as_deref(),
            unrecorded: unrecorded(process, sums.cpu),
            launcher: *launcher,
            signal: process.ending.as_ref().and_then(|ending| ending.signal.as_deref()),
            in_flight: in_flight(process, session),
            start_ms: to_ms(process.start_us().saturating_sub(clock_us)),
            duration_ms: to_ms(process.end_us().saturating_sub(process.start_us())),
            threads: process.threads.iter().zip(&sums.threads).map(thread_report).collect(),
        }
    });
    processes.collect()
}

/// Returns the Node processes without a recording under a process; none if nobody saw any.
fn unrecorded(process: &Process, cpu: Option<ReportCpu>) -> Option<ReportUnrecorded> {
    let programs = process.unrecorded.filter(|programs| programs.nodes > 0)?;
    let others_us = cpu.and_then(|cpu| cpu.others_us).filter(|_| programs.nodes_us > 0);
    let cpu_us = others_us.map(|us| programs.nodes_part_of(us));
    Some(ReportUnrecorded { processes: programs.nodes, cpu_us })
}

/// Returns the first rows of costs. `row` gets each item, whether it is of the trunk, and its cost.
fn rows<T>(costs: &Costs, top: usize, mut row: impl FnMut(usize, bool, ReportCost) -> T) -> Vec<T> {
    let trunk = costs.trunk();
    costs.top(top).map(|(item, cost)| row(item, trunk[item], cost)).collect()
}

/// Returns the row of a thread with these times; `clock_us` is the first start of a recording by the same clock.
fn thread_report(thread: &Thread, times: ReportTimes, clock_us: i64) -> ReportThread<'_> {
    let profiles = &thread.profiles;
    ReportThread {
        thread_id: thread.id,
        name: thread.full_name(),
        label: thread.recording_label.as_deref(),
        start_ms: to_ms(thread.start_us().saturating_sub(clock_us)),
        duration_ms: to_ms(thread.end_us().saturating_sub(thread.start_us())),
        times,
        cpu_ms: counted_us(thread, |cpu| Some(cpu.cpu_us)).map(ms),
        core_wait_ms: counted_us(thread, |cpu| cpu.wait_us).map(ms),
        collections: heap::collections(thread),
        memory: heap::memory(thread),
        own_file: None,
        samples: profiles.iter().fold(0, |sum, profile| sum.saturating_add(profile.sample_count)),
    }
}

fn to_ms(us: i64) -> f64 {
    us as f64 / 1000.0
}
