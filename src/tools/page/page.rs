//! Builds the data of a page from a session.

use rustc_hash::FxHashMap;

use super::json::{
    Page, PageFiles, PageFunctions, PageLeaves, PageOwners, PageProcess, PageThread, PageTree,
};
use crate::read::load::Loaded;
use crate::shared::frame_index::{FrameIndex, FrameKind};
use crate::shared::json::ReportProgram;
use crate::shared::launchers::launchers;
use crate::shared::owner::finder::OwnerFinder;
use crate::shared::path_tree::PathTree;
use crate::shared::process_cpu::parents;
use crate::shared::samples::{PageSample, SampleSpan, spans};
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::session::thread_profile::{NONE, ThreadProfile};
use cpu_prof_core::profile::session::{Process, Session, Thread};

/// Spans that a page can hold: a browser opens them within two seconds.
const MAX_SPANS: usize = 500_000;

/// The states of a thread, which come before all functions.
const STATES: [(FrameKind, &str); 3] = [
    (FrameKind::Program, "(program)"),
    (FrameKind::Gc, "(garbage collector)"),
    (FrameKind::Idle, "(idle)"),
];

/// Returns the data as JSON.
pub(crate) fn page(loaded: &Loaded) -> serde_json::Result<String> {
    let session = &loaded.session;
    let index = FrameIndex::of(&session.frames);
    let launchers = launchers(session, &parents(session));
    let thinned_to_us = interval_for(session, &index);
    let mut paths =
        PagePaths { index: &index, paths: PathTree::default(), leaves: FxIndexSet::default() };
    let mut processes = Vec::with_capacity(session.processes.len());
    for (process, launcher) in session.processes.iter().zip(launchers) {
        processes.push(paths.process(process, launcher, session, thinned_to_us));
    }
    let mut page = Page { processes, notes: &loaded.notes, thinned_to_us, ..Page::default() };
    page.duration_us = session.length_us();
    json(page, &paths)
}

/// The sides of a comparison, base and head, on one call tree.
pub(crate) struct PageSides<'a> {
    pub index: &'a FrameIndex,
    /// The paths, with their times in a run of each side.
    pub paths: PathTree<FrameKind, [PathTime; 2]>,
    /// Names of the sides.
    pub names: [String; 2],
    /// Folder in which the runs of head were started.
    pub cwd: &'a str,
    /// Notes for the user.
    pub notes: &'a [String],
}

/// The times of a call path without those below, microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PathTime {
    pub self_us: u64,
    pub blocked_us: u64,
}

/// Returns the data of a comparison as JSON: each side is a process of one thread, which has run every
/// path once.
pub(crate) fn page_of_sides(sides: PageSides<'_>) -> serde_json::Result<String> {
    let PageSides { index, paths, names, cwd, notes } = sides;
    let mut all_leaves = FxIndexSet::default();
    let mut page = Page { compared: true, notes, ..Page::default() };
    for (side, name) in names.iter().enumerate() {
        let (mut lengths, mut leaves) = (Vec::new(), Vec::new());
        for (path, (_, _, times)) in (0_u32..).zip(paths.list()) {
            let PathTime { self_us, blocked_us } = times[side];
            for (us, is_blocked) in [(self_us, false), (blocked_us, true)] {
                if us > 0 {
                    lengths.push(i64::try_from(us).unwrap_or(i64::MAX));
                    leaves.push(all_leaves.insert_full((path, 0, is_blocked)).0 as i64);
                }
            }
        }
        page.duration_us = page.duration_us.max(lengths.iter().sum());
        let thread = PageThread { id: 0, name: "main".into(), start_us: 0, lengths, leaves };
        let cwd = Some(cwd).filter(|cwd| !cwd.is_empty());
        let program =
            ReportProgram { pid: 0, name, command: name, cwd, parent_pid: None, node: None };
        page.processes.push(PageProcess { program, launcher: false, threads: vec![thread] });
    }
    json(page, &PagePaths { index, paths, leaves: all_leaves })
}

/// Adds the paths, and what they refer to. Returns JSON.
fn json<'a, T: Default>(
    mut page: Page<'a>,
    paths: &PagePaths<'a, T>,
) -> serde_json::Result<String> {
    let mut owners = OwnerFinder::default();
    let (tree, functions) = paths.tree(&mut owners);
    (page.functions, page.files, page.packages) = tables(&functions, paths.index);
    page.tree = tree;
    page.leaves = paths.leaves();
    // Owners live as long as this function only.
    let (kind, name) = owners.list().map(|(kind, name)| (kind, name.to_owned())).unzip();
    page.owners = PageOwners { kind, name };
    page.version = 1;
    serde_json::to_string(&page)
}

/// Returns the interval that thins the samples far enough; none if there are few enough.
fn interval_for(session: &Session, index: &FrameIndex) -> Option<i64> {
    let threads = session.processes.iter().flat_map(|process| &process.threads);
    let (mut count, mut us) = (0, 0_u64);
    for profile in threads.flat_map(|thread| &thread.profiles) {
        let spans = spans(profile, None, |node| is_idle(profile, node, index));
        count += spans.len();
        let is_work = |span: &&SampleSpan| {
            span.sample.node != NONE && !is_idle(profile, span.sample.node, index)
        };
        us += spans.iter().filter(is_work).map(|span| span.us.unsigned_abs()).sum::<u64>();
    }
    let interval_us = us.div_ceil(MAX_SPANS as u64);
    // A round number is easier to read.
    let round = 10_u64.pow(interval_us.checked_ilog10().unwrap_or(0));
    let rounded_us = i64::try_from(interval_us.div_ceil(round) * round).unwrap_or(i64::MAX);
    (count > MAX_SPANS).then_some(rounded_us)
}

fn is_idle(profile: &ThreadProfile, node: u32, index: &FrameIndex) -> bool {
    index.kind(profile.nodes[node as usize].frame) == FrameKind::Idle
}

/// The paths of all threads, and what their samples refer to.
struct PagePaths<'a, T = ()> {
    index: &'a FrameIndex,
    paths: PathTree<FrameKind, T>,
    /// Pairs of a path and a line, and whether the thread was blocked.
    leaves: FxIndexSet<(u32, u32, bool)>,
}

impl PagePaths<'_> {
    fn process<'p>(
        &mut self,
        process: &'p Process,
        launcher: bool,
        session: &Session,
        interval_us: Option<i64>,
    ) -> PageProcess<'p> {
        let clock_us = session.clock(process).start_us;
        let threads = process.threads.iter();
        PageProcess {
            program: ReportProgram::of(process),
            launcher,
            threads: threads.map(|thread| self.thread(thread, clock_us, interval_us)).collect(),
        }
    }

    fn thread<'p>(
        &mut self,
        thread: &'p Thread,
        clock_us: i64,
        interval_us: Option<i64>,
    ) -> PageThread<'p> {
        let start_us = thread.start_us();
        let (mut lengths, mut leaves) = (Vec::new(), Vec::new());
        let mut at_us = start_us;
        for profile in &thread.profiles {
            let gap_us = profile.start_us.saturating_sub(at_us);
            if gap_us > 0 {
                lengths.push(gap_us);
                leaves.push(-1);
            }
            let index = self.index;
            let mut known = vec![None; profile.nodes.len()];
            for span in spans(profile, interval_us, |node| is_idle(profile, node, index)) {
                lengths.push(span.us);
                leaves.push(self.leaf(profile, span.sample, &mut known));
            }
            at_us = profile.end_us.max(at_us);
        }
        PageThread {
            id: thread.id,
            name: thread.full_name(),
            start_us: start_us.saturating_sub(clock_us),
            lengths,
            leaves,
        }
    }

    /// Returns the index of a sample's leaf, or -1. `known` are the paths of the profile's nodes.
    fn leaf(
        &mut self,
        profile: &ThreadProfile,
        PageSample { node, line, is_blocked }: PageSample,
        known: &mut [Option<Option<u32>>],
    ) -> i64 {
        if node == NONE {
            return -1;
        }
        let mut unknown = Vec::new();
        let mut at = node;
        while at != NONE && known[at as usize].is_none() {
            unknown.push(at);
            at = profile.nodes[at as usize].parent;
        }
        let mut path = if at == NONE { None } else { known[at as usize].flatten() };
        for node in unknown.into_iter().rev() {
            let kind = self.index.kind(profile.nodes[node as usize].frame);
            if kind != FrameKind::Unrecorded {
                path = Some(self.paths.path(path, kind).0);
            }
            known[node as usize] = Some(path);
        }
        let line = match self.index.kind(profile.nodes[node as usize].frame) {
            FrameKind::Function(function) => self.index.line_within(function, line),
            _ => 0,
        };
        path.map_or(-1, |path| self.leaves.insert_full((path, line, is_blocked)).0 as i64)
    }
}

impl<T: Default> PagePaths<'_, T> {
    /// Returns the tree, and the indices of its functions in the [`FrameIndex`].
    fn tree(&self, owners: &mut OwnerFinder) -> (PageTree, FxIndexSet<usize>) {
        let mut functions = FxIndexSet::default();
        let mut tree = PageTree::default();
        owners.learn(self.functions(), self.index);
        let stacks = owners.stacks(self.functions(), self.index);
        for (number, ((above, kind, _), stack)) in (0_u32..).zip(self.paths.list().zip(stacks)) {
            let function = match kind {
                FrameKind::Function(function) => functions.insert_full(function).0 + STATES.len(),
                state => STATES.iter().position(|(kind, _)| *kind == state).unwrap_or(0),
            };
            tree.parent.push(above.map_or(0, |above| number - above));
            tree.function.push(function);
            tree.owner.push(stack.owner.map_or(-1, |owner| owner as i32));
        }
        (tree, functions)
    }

    /// Returns for each path the path above, and the function.
    fn functions(&self) -> impl Iterator<Item = (Option<u32>, Option<usize>)> {
        self.paths.list().map(|(above, kind, _)| match kind {
            FrameKind::Function(function) => (above, Some(function)),
            _ => (above, None),
        })
    }

    fn leaves(&self) -> PageLeaves {
        let mut leaves = PageLeaves::default();
        for (number, (path, line, is_blocked)) in (0_u32..).zip(&self.leaves) {
            leaves.node.push(*path);
            leaves.line.push(*line);
            if *is_blocked {
                leaves.blocked.push(number);
            }
        }
        leaves
    }
}

/// Returns the tables of functions, of their files, and of the packages of these.
fn tables<'a>(
    functions: &FxIndexSet<usize>,
    index: &'a FrameIndex,
) -> (PageFunctions<'a>, PageFiles<'a>, Vec<&'a str>) {
    let mut table = PageFunctions::default();
    for (_, name) in STATES {
        table.name.push(name);
        table.file.push(-1);
        table.line.push(0);
        table.column.push(0);
    }
    let (mut files, mut packages) = (PageFiles::default(), FxIndexSet::default());
    let mut numbers: FxHashMap<usize, i32> = FxHashMap::default();
    for function in functions {
        let place = index.place(*function);
        let number = *numbers.entry(index.functions[*function].file).or_insert_with(|| {
            files.path.push(place.file);
            files.package.push(packages.insert_full(place.package).0 as u32);
            (files.path.len() - 1) as i32
        });
        if place.transpiled {
            table.transpiled.push(table.name.len());
        }
        table.name.push(place.name);
        table.file.push(number);
        table.line.push(place.line);
        table.column.push(place.column);
    }
    (table, files, packages.into_iter().collect())
}
