//! The native threads of a process, by names that a user knows, and who gave them their work.

use std::collections::BTreeMap;

use super::causes::{Cause, Causes, WorkSource};
use crate::analysis::frame_index::{FrameIndex, FrameKind, SourceFunction};
use crate::analysis::json::{ReportNative, ReportStarter};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::cpu_use::NativeUse;
use cpu_prof_session::model::{Process, Thread};

/// CPU time from which threads have a row, microseconds.
const MIN_ROW_US: u64 = 5_000;
/// CPU time from which a cause is looked for, microseconds: a shorter time can come from anything.
const MIN_CAUSE_US: u64 = 50_000;
/// The name of a worker's thread: Node's from 24 on, and the one that recordings have for workers without a name.
const WORKER: &str = "WorkerThread";
/// What a user calls workers without a recording.
pub(crate) const UNRECORDED_WORKERS: &str = "workers that were not recorded";
/// The most causes of a row.
const MAX_CAUSES: usize = 3;
/// Threads of libuv's pool, unless the program sets another count.
const POOL_THREADS: u32 = 4;

/// What threads of a name do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The pool of libuv.
    Pool,
    /// Threads of an addon, and the package that has such threads if that is known.
    Addon(Option<&'static str>),
    /// Threads that may be either.
    PoolOrAddon,
    /// Threads of Node, of V8 and of the profiler. No function asks for their work.
    Engine,
}

/// Returns the native threads of a process, the most CPU time first; none if the recording does not tell
/// them.
pub fn native_threads<'a>(
    process: &Process,
    index: &'a FrameIndex,
) -> Option<Vec<ReportNative<'a>>> {
    let mut names: BTreeMap<&str, (u32, u64)> = BTreeMap::new();
    let profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
    for NativeUse(name, count, us) in
        profiles.flat_map(|profile| &profile.native).flat_map(|span| &span.threads)
    {
        let (threads, sum_us) = names.entry(name).or_default();
        *threads = (*count).max(*threads);
        *sum_us = sum_us.saturating_add(us.unsigned_abs());
    }
    // Threads of several names can have one meaning.
    let mut rows: BTreeMap<String, (Kind, u32, u64)> = BTreeMap::new();
    let mut has_workers = None;
    for (name, (threads, us)) in names {
        let node = process.node.as_deref();
        let is_worker = name.is_empty()
            && is_before(node, 20)
            && *has_workers.get_or_insert_with(|| has_only_unrecorded_workers(process, index));
        let name = if is_worker { WORKER } else { name };
        let (label, kind) = meaning(name, threads, node);
        let row = rows.entry(label).or_insert((kind, 0, 0));
        (row.1, row.2) = (row.1.saturating_add(threads), row.2.saturating_add(us));
    }
    rows.retain(|_, (_, _, us)| *us >= MIN_ROW_US);
    if rows.is_empty() {
        return None;
    }
    let has_cause = |(kind, _, us): &(Kind, u32, u64)| *kind != Kind::Engine && *us >= MIN_CAUSE_US;
    let causes = rows.values().any(has_cause).then(|| Causes::of(process, index));
    let row = |(name, row): (String, (Kind, u32, u64))| {
        let found = causes.as_ref().filter(|_| has_cause(&row));
        let (kind, threads, cpu_us) = row;
        let started_by =
            found.map(|causes| starters(causes, kind, cpu_us, index)).unwrap_or_default();
        ReportNative { name, threads, cpu_us, started_by }
    };
    let mut list: Vec<_> = rows.into_iter().map(row).collect();
    list.cold_sort_by_key(|row| std::cmp::Reverse(row.cpu_us));
    Some(list)
}

/// Returns what a user calls threads of a name, and what they do. `node` is the version of Node.
fn meaning(name: &str, threads: u32, node: Option<&str>) -> (String, Kind) {
    let (label, kind) = match name {
        // Before Node 22, libuv gave its threads no name.
        "" if is_before(node, 22) => ("libuv pool or unnamed", Kind::PoolOrAddon),
        "" => ("unnamed threads", Kind::Addon(None)),
        // An addon's thread has the name of the one that started it, unless it takes another.
        "libuv-worker" if threads > POOL_THREADS => ("libuv pool or its name", Kind::PoolOrAddon),
        "libuv-worker" => ("libuv pool", Kind::Pool),
        "V8Worker" | "node-V8Worker" | "DelayedTaskSche" => ("V8's workers", Kind::Engine),
        "v8:ProfEvntProc" => ("profiler", Kind::Engine),
        own if own == "cpu-prof" || own.starts_with("cpu-prof-") => ("profiler", Kind::Engine),
        "SignalInspector" | "InspectorIo" => ("inspector", Kind::Engine),
        WORKER => (UNRECORDED_WORKERS, Kind::Engine),
        "libvips worker" | "vips worker" => ("libvips", Kind::Addon(Some("sharp"))),
        "tokio-runtime-w" | "tokio-rt-worker" => ("tokio", Kind::Addon(None)),
        other => (other, Kind::Addon(None)),
    };
    (label.to_owned(), kind)
}

/// Returns whether a version of Node is older than another. An unknown one is not.
fn is_before(node: Option<&str>, version: u32) -> bool {
    let major =
        node.and_then(|node| node.trim_start_matches('v').split('.').next()?.parse::<u32>().ok());
    major.is_some_and(|major| major < version)
}

/// Returns whether a process was sampled as it started a worker, while none was recorded and nothing else was
/// sampled that has threads without a name: Node 18 does not tell the recorder of new workers.
fn has_only_unrecorded_workers(process: &Process, index: &FrameIndex) -> bool {
    let is_recorded = |thread: &Thread| !thread.is_main() && !thread.is_native();
    if process.threads.iter().any(is_recorded) {
        return false;
    }
    let starts_worker = |function: usize| {
        let SourceFunction { name, file, .. } = &index.functions[function];
        let path = &*index.files[*file].path;
        (path == "node:internal/worker" && name == "Worker")
            || (path.is_empty() && name == "startThread")
    };
    let profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
    let mut frames = profiles.flat_map(|profile| &profile.nodes).map(|node| index.kind(node.frame));
    frames.any(|kind| matches!(kind, FrameKind::Function(function) if starts_worker(function)))
        && Causes::of(process, index).is_empty()
}

fn starters<'a>(
    causes: &Causes,
    kind: Kind,
    us: u64,
    index: &'a FrameIndex,
) -> Vec<ReportStarter<'a>> {
    let found = match kind {
        Kind::Pool => causes.of_pool(us, index),
        Kind::Addon(package) => causes.of_addon(package, index),
        Kind::PoolOrAddon => match causes.of_addon(None, index) {
            of_addon if of_addon.is_empty() => causes.of_pool(us, index),
            _ => Vec::new(),
        },
        Kind::Engine => Vec::new(),
    };
    let starter = |Cause { source, caller }: &Cause| {
        let what = match source {
            WorkSource::Node(name) => name.clone(),
            WorkSource::Files => "fs".into(),
            WorkSource::Addon(package) => index.packages[*package].clone(),
        };
        ReportStarter { what, place: caller.map(|caller| index.place(caller)) }
    };
    found.into_iter().take(MAX_CAUSES).map(starter).collect()
}
