//! Where the time went: by process and thread, function, file and package.

use std::path::PathBuf;

use serde::Serialize;

use crate::files::input::{Failed, lossy_list};
use crate::profile::session::{Process, Session, Thread};
use crate::profile::thread_profile::ThreadProfile;
use crate::read::load::Loaded;

mod costs;
mod frame_index;

use costs::Costs;
use frame_index::{FrameIndex, FrameKind};

/// A report: `index.d.ts` tells what each field is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report<'a> {
    version: u32,
    duration_ms: f64,
    totals: Times,
    processes: Vec<ProcessReport<'a>>,
    functions: Vec<FunctionReport<'a>>,
    files: Vec<FileReport<'a>>,
    packages: Vec<PackageReport<'a>>,
    counts: Counts,
    inputs: usize,
    #[serde(serialize_with = "lossy_list")]
    repaired: &'a [PathBuf],
    failed: &'a [Failed],
    notes: &'a [String],
}

/// Microseconds in here, milliseconds in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    #[serde(rename = "busyMs", serialize_with = "ms")]
    busy_us: u64,
    #[serde(rename = "idleMs", serialize_with = "ms")]
    idle_us: u64,
    #[serde(rename = "gcMs", serialize_with = "ms")]
    gc_us: u64,
    #[serde(rename = "programMs", serialize_with = "ms")]
    program_us: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProcessReport<'a> {
    pid: i64,
    name: &'a str,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    start_ms: f64,
    duration_ms: f64,
    threads: Vec<ThreadReport<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadReport<'a> {
    thread_id: i64,
    name: &'a str,
    start_ms: f64,
    duration_ms: f64,
    #[serde(flatten)]
    times: Times,
    samples: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    #[serde(rename = "selfMs", serialize_with = "ms")]
    self_us: u64,
    #[serde(rename = "totalMs", serialize_with = "ms")]
    total_us: u64,
}

#[derive(Debug, Serialize)]
struct FunctionReport<'a> {
    name: &'a str,
    file: &'a str,
    line: i32,
    column: i32,
    package: &'a str,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Debug, Serialize)]
struct FileReport<'a> {
    file: &'a str,
    package: &'a str,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Debug, Serialize)]
struct PackageReport<'a> {
    name: &'a str,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Debug, Serialize)]
struct Counts {
    functions: usize,
    files: usize,
    packages: usize,
}

/// The report as JSON. Of functions, files and packages it has the first `top` by self time and the
/// first `top` by total time.
pub(crate) fn report(loaded: &Loaded, top: usize) -> Result<String, serde_json::Error> {
    let recorded = &loaded.session;
    let subjects = FrameIndex::of(&recorded.frames);
    let mut functions = Costs::new(subjects.functions.len());
    let mut files = Costs::new(subjects.files.len());
    let mut packages = Costs::new(subjects.packages.len());
    for profile in profiles(recorded) {
        let mut tree = costs::WeightedTree::of(profile);
        tree.add_to(&mut functions, |frame| subjects.function(frame));
        tree.add_to(&mut files, |frame| subjects.file(frame));
        tree.add_to(&mut packages, |frame| subjects.package(frame));
    }
    let processes: Vec<_> = recorded
        .processes
        .iter()
        .map(|process| process_report(process, recorded.clock(process).start_us, &subjects))
        .collect();
    let mut totals = Times::default();
    for thread in processes.iter().flat_map(|process| &process.threads) {
        totals.add(thread.times);
    }
    let package = |index: u32| subjects.packages[index as usize].as_str();
    let report = Report {
        version: 1,
        duration_ms: to_ms(recorded.length_us()),
        totals,
        processes,
        functions: functions
            .top(top)
            .map(|(index, cost)| {
                let function = &subjects.functions[index];
                let file = &subjects.files[function.file as usize];
                let (line, column) = (function.line, function.column);
                let (name, package) = (function.name.as_str(), package(file.package));
                FunctionReport { name, file: &file.path, line, column, package, cost }
            })
            .collect(),
        files: files
            .top(top)
            .map(|(index, cost)| {
                let file = &subjects.files[index];
                FileReport { file: &file.path, package: package(file.package), cost }
            })
            .collect(),
        packages: packages
            .top(top)
            .map(|(index, cost)| PackageReport { name: &subjects.packages[index], cost })
            .collect(),
        counts: Counts {
            functions: functions.seen(),
            files: files.seen(),
            packages: packages.seen(),
        },
        inputs: loaded.inputs,
        repaired: &loaded.repaired,
        failed: &loaded.failed,
        notes: &loaded.notes,
    };
    serde_json::to_string(&report)
}

fn profiles(recorded: &Session) -> impl Iterator<Item = &ThreadProfile> {
    recorded
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().flat_map(|thread| &thread.profiles))
}

fn process_report<'a>(
    process: &'a Process,
    start_us: i64,
    subjects: &FrameIndex,
) -> ProcessReport<'a> {
    let threads = process.threads.iter().map(|thread| thread_report(thread, start_us, subjects));
    ProcessReport {
        pid: process.pid,
        name: &process.name,
        command: &process.command,
        cwd: process.cwd.as_deref(),
        parent_pid: process.parent_pid,
        node: process.node.as_deref(),
        start_ms: to_ms(process.start_us().saturating_sub(start_us)),
        duration_ms: to_ms(process.end_us().saturating_sub(process.start_us())),
        threads: threads.collect(),
    }
}

fn thread_report<'a>(thread: &'a Thread, start_us: i64, subjects: &FrameIndex) -> ThreadReport<'a> {
    let mut times = Times::default();
    for node in thread.profiles.iter().flat_map(|profile| &profile.nodes) {
        let sum = match subjects.what(node.frame) {
            FrameKind::Function => &mut times.busy_us,
            FrameKind::Idle => &mut times.idle_us,
            FrameKind::Gc => &mut times.gc_us,
            FrameKind::Program => &mut times.program_us,
            FrameKind::Nothing => continue,
        };
        *sum = sum.saturating_add(node.self_us);
    }
    ThreadReport {
        thread_id: thread.id,
        name: &thread.name,
        start_ms: to_ms(thread.start_us().saturating_sub(start_us)),
        duration_ms: to_ms(thread.end_us().saturating_sub(thread.start_us())),
        times,
        samples: thread
            .profiles
            .iter()
            .fold(0, |sum, profile| sum.saturating_add(profile.sample_count)),
    }
}

impl Times {
    fn add(&mut self, other: Self) {
        for (sum, us) in [
            (&mut self.busy_us, other.busy_us),
            (&mut self.idle_us, other.idle_us),
            (&mut self.gc_us, other.gc_us),
            (&mut self.program_us, other.program_us),
        ] {
            *sum = sum.saturating_add(us);
        }
    }
}

fn to_ms(us: i64) -> f64 {
    us as f64 / 1000.0
}

fn ms<S: serde::Serializer>(us: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*us as f64 / 1000.0)
}

#[cfg(test)]
mod tests;
