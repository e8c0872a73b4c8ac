//! Builds the JSON of a look, with the names and the times of a report.

use super::follower::Look;
use super::json::{LiveFile, LiveFunction, LivePackage, LiveProcess, LiveThread, LiveView};
use crate::analysis::costs::{Costs, WeightedTree};
use crate::analysis::frame_index::SourceFile;
use crate::analysis::json::{ReportCost, ReportProgram};
use crate::analysis::label_costs::{LabelBy, LabelCosts};
use crate::analysis::process::cpu::cpu_of_processes;
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::times::{sum_of_times, thread_times};

/// What the rows of a look are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKind {
    Function,
    File,
    Package,
    /// Labels of samples.
    Label(LabelBy),
    /// The threads, which each look has.
    Thread,
}

impl RowKind {
    /// Returns the kind of a name.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "function" => Self::Function,
            "file" => Self::File,
            "package" => Self::Package,
            "thread" => Self::Thread,
            "label" => Self::Label(LabelBy::Set),
            _ => Self::Label(LabelBy::of_key(name.strip_prefix("label:")?.to_owned())),
        })
    }
}

/// Returns a look as JSON, with the first `top` rows by self and by total time.
pub fn view(look: &Look, kind: &RowKind, top: usize) -> serde_json::Result<String> {
    let Look { loaded, start_us, from_us, to_us, .. } = look;
    let view = SessionView::of(&loaded.session);
    let SessionView { session, index, launchers, .. } = &view;
    let uses = cpu_of_processes(&view, loaded.is_slice);
    let processes = session.processes.iter().zip(uses).zip(launchers);
    let processes: Vec<LiveProcess<'_>> = processes
        .map(|((process, cpu), launcher)| LiveProcess {
            program: ReportProgram::of(process),
            cpu,
            launcher: *launcher,
            threads: process
                .threads
                .iter()
                .map(|thread| LiveThread {
                    thread_id: thread.id,
                    name: thread.full_name(),
                    times: thread_times(thread, index),
                    samples: thread.profiles.iter().map(|profile| profile.sample_count).sum(),
                })
                .collect(),
        })
        .collect();
    let threads = processes.iter().flat_map(|process| &process.threads);
    let totals = sum_of_times(threads.map(|thread| thread.times));
    let costs = |wanted: RowKind| match *kind == wanted {
        true => costs_of(&view, kind),
        false => Costs::default(),
    };
    let functions = rows(&costs(RowKind::Function), top, |function, cost| LiveFunction {
        place: index.place(function),
        cost: cost.into(),
    });
    let files = rows(&costs(RowKind::File), top, |file, cost| {
        let SourceFile { path, package, .. } = &index.files[file];
        LiveFile { file: path, package: &index.packages[*package], cost: cost.into() }
    });
    let packages = rows(&costs(RowKind::Package), top, |package, cost| LivePackage {
        name: &index.packages[package],
        cost: cost.into(),
    });
    let label_costs;
    let labels = match kind {
        RowKind::Label(by) => {
            label_costs = LabelCosts::of(&view).by(by);
            label_costs.iter().take(top).map(|of| of.row(by, index).into()).collect()
        }
        _ => Vec::new(),
    };
    serde_json::to_string(&LiveView {
        from_ms: ms_between(*start_us, *from_us),
        to_ms: ms_between(*start_us, *to_us),
        silent_ms: look.silent.as_secs_f64() * 1000.0,
        growing: look.growing,
        recordings: look.recordings,
        processes,
        totals,
        functions,
        files,
        packages,
        labels,
        failed: &loaded.failed,
        notes: &loaded.notes,
    })
}

/// Returns the costs of all processes but launchers.
fn costs_of(view: &SessionView<'_>, kind: &RowKind) -> Costs {
    let index = &view.index;
    let mut costs = Costs::default();
    for profile in view.shown_profiles() {
        WeightedTree::of(profile).add_to([&mut costs], |_, frame| {
            let function = index.function(frame)?;
            let file = index.functions[function].file;
            Some([match kind {
                RowKind::Function => function,
                RowKind::File => file,
                RowKind::Package => index.files[file].package,
                RowKind::Label(_) | RowKind::Thread => return None,
            }])
        });
    }
    costs
}

fn rows<T>(costs: &Costs, top: usize, row: impl Fn(usize, ReportCost) -> T) -> Vec<T> {
    costs.top(top).map(|(item, cost)| row(item, cost)).collect()
}

fn ms_between(from_us: i64, to_us: i64) -> f64 {
    to_us.saturating_sub(from_us) as f64 / 1000.0
}
