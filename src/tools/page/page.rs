//! Builds the data of a page from a session.

use serde_json::{Map, Value};

use super::json::{Page, PageLeaves, PageOwners, PageProcess, PageSeries, PageThread, PageTree};
use super::series::{most_of_one, series};
use super::tables::{STATES, Tables};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::json::{ReportChainPart, ReportProgram, ReportTimes, ReportWall};
use crate::analysis::met_conditions::met_conditions;
use crate::analysis::owner::finder::OwnerFinder;
use crate::analysis::path_tree::{KnownPaths, PathTree};
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::sums::{ProcessSums, process_sums};
use crate::analysis::samples::{PageSample, SampleSpan, spans};
use crate::analysis::sentence::{Evidence, sentence};
use crate::analysis::session_costs::SessionCosts;
use crate::names::originals::source_lines::SourceLines;
use crate::read::load::Loaded;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};
use cpu_prof_session::model::{Process, Session, Thread};

/// Spans that a page can hold: a browser opens them within two seconds.
const MAX_SPANS: usize = 500_000;

/// Returns the data as JSON. `view` is that of the session, `lists` are those of the report that the page shows too.
pub fn page(
    loaded: &Loaded,
    view: &SessionView<'_>,
    lists: Map<String, Value>,
) -> serde_json::Result<String> {
    let SessionView { session, index, launchers, .. } = view;
    let thinned_to_us = interval_for(session, index);
    let mut paths = PagePaths {
        index,
        paths: PathTree::default(),
        leaves: FxIndexSet::default(),
        labels: FxIndexSet::from_iter([NO_LABELS]),
    };
    let mut processes = Vec::with_capacity(session.processes.len());
    let sums = process_sums(view, loaded.is_slice);
    let (most, mut texts) = (most_of_one(session.processes.len()), FxIndexSet::default());
    for ((process, launcher), sums) in session.processes.iter().zip(launchers).zip(&sums) {
        let clock_us = session.clock(process).start_us;
        let series = series(process, clock_us, most, &mut texts);
        let page = paths.process((process, sums), *launcher, clock_us, thinned_to_us);
        processes.push(PageProcess { series, ..page });
    }
    let costs = SessionCosts::of(view);
    let chain = loaded.wall.iter().flat_map(|(_, chain)| chain).map(ReportChainPart::of);
    let wall = loaded.wall.as_ref().map(|(wall, _)| wall);
    let evidence = Evidence::of(view, wall, &costs, &sums, &mut SourceLines::default());
    let page = Page {
        duration_us: session.length_us(),
        title: first_process(view).map(|process| process.command.as_str()),
        sentence: sentence(&evidence),
        conditions: met_conditions(session),
        chain: chain.collect(),
        wall: wall.map(ReportWall::of),
        texts: texts.into_iter().collect(),
        processes,
        notes: &loaded.notes,
        label_sets: paths.labels.iter().filter_map(|set| session.labels.get(*set)).collect(),
        thinned_to_us,
        lists,
        ..Page::default()
    };
    json(page, &paths, Some(&costs))
}

/// Returns the process that a page is named for: the first that runs under no other.
fn first_process<'a>(view: &SessionView<'a>) -> Option<&'a Process> {
    let mut processes = view.session.processes.iter().zip(&view.parents);
    processes.find(|(_, parent)| parent.is_none()).map(|(process, _)| process)
}

/// The sides of a comparison, base and head, on one call tree.
pub struct PageSides<'a> {
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
pub struct PathTime {
    pub self_us: u64,
    pub blocked_us: u64,
    pub waiting_us: u64,
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
            let PathTime { self_us, blocked_us, waiting_us } = times[side];
            let states = [
                (self_us, LeafState::OnTop),
                (blocked_us, LeafState::Blocked),
                (waiting_us, LeafState::Waiting),
            ];
            for (us, state) in states {
                if us > 0 {
                    lengths.push(i64::try_from(us).unwrap_or(i64::MAX));
                    leaves.push(all_leaves.insert_full(Leaf::of(path, 0, state)).0 as i64);
                }
            }
        }
        page.duration_us = page.duration_us.max(lengths.iter().sum());
        let name_of_thread = "main".into();
        let thread =
            PageThread { id: 0, name: name_of_thread, start_us: 0, times: None, lengths, leaves };
        let cwd = Some(cwd).filter(|cwd| !cwd.is_empty());
        let program =
            ReportProgram { pid: 0, name, command: name, cwd, parent_pid: None, node: None };
        let (threads, series) = (vec![thread], PageSeries::default());
        page.processes.push(PageProcess { program, launcher: false, threads, series });
    }
    let labels = FxIndexSet::default();
    json(page, &PagePaths { index, paths, leaves: all_leaves, labels }, None)
}

/// Adds the paths, what they refer to, and the costs of that. Returns JSON.
fn json<'a, T: Default>(
    mut page: Page<'a>,
    paths: &PagePaths<'a, T>,
    costs: Option<&SessionCosts>,
) -> serde_json::Result<String> {
    let mut owners = OwnerFinder::default();
    let (tree, functions) = paths.tree(&mut owners);
    let tables = Tables::of(&functions, paths.index);
    page.costs = costs.map(|costs| tables.costs(&owners, costs));
    (page.functions, page.files, page.packages) = tables.lists(paths.index);
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
        let spans = spans(profile, None);
        count += spans.len();
        let is_idle = |node: u32| index.kind(profile.nodes[node as usize].frame) == FrameKind::Idle;
        let is_work = |SampleSpan { sample, .. }: &&SampleSpan| {
            sample.node != NONE && sample.off_core != Some(OffCore::Idle) && !is_idle(sample.node)
        };
        us += spans.iter().filter(is_work).map(|span| span.us.unsigned_abs()).sum::<u64>();
    }
    let interval_us = us.div_ceil(MAX_SPANS as u64);
    // A round number is easier to read.
    let round = 10_u64.pow(interval_us.checked_ilog10().unwrap_or(0));
    let rounded_us = i64::try_from(interval_us.div_ceil(round) * round).unwrap_or(i64::MAX);
    (count > MAX_SPANS).then_some(rounded_us)
}

/// The paths of all threads, and what their samples refer to.
struct PagePaths<'a, T = ()> {
    index: &'a FrameIndex,
    paths: PathTree<FrameKind, T>,
    leaves: FxIndexSet<Leaf>,
    /// Label sets of leaves, whose indices are the page's numbers.
    labels: FxIndexSet<u32>,
}

/// What a sample refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Leaf {
    path: u32,
    line: u32,
    state: LeafState,
    /// Number of the label set in the page.
    labels: u32,
}

impl Leaf {
    /// Returns a leaf without labels.
    fn of(path: u32, line: u32, state: LeafState) -> Self {
        Self { path, line, state, labels: NO_LABELS }
    }
}

/// What a thread did while a path was its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LeafState {
    /// The thread did what is on top of the stack: it worked, or was idle.
    OnTop = 0,
    /// The thread was blocked in the call.
    Blocked = 1,
    /// The thread waited for a core.
    Waiting = 2,
}

impl PagePaths<'_> {
    fn process<'p>(
        &mut self,
        (process, sums): (&'p Process, &ProcessSums<'_>),
        launcher: bool,
        clock_us: i64,
        interval_us: Option<i64>,
    ) -> PageProcess<'p> {
        let threads = process.threads.iter().zip(&sums.threads);
        let of_thread =
            |(thread, times): (_, &_)| self.thread(thread, *times, clock_us, interval_us);
        PageProcess {
            program: ReportProgram::of(process),
            launcher,
            threads: threads.map(of_thread).collect(),
            series: PageSeries::default(),
        }
    }

    fn thread<'p>(
        &mut self,
        thread: &'p Thread,
        times: ReportTimes,
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
            let mut known = vec![None; profile.nodes.len()];
            for span in spans(profile, interval_us) {
                lengths.push(span.us);
                leaves.push(self.leaf(profile, span.sample, &mut known));
            }
            at_us = profile.end_us.max(at_us);
        }
        PageThread {
            id: thread.id,
            name: thread.full_name(),
            start_us: start_us.saturating_sub(clock_us),
            times: Some(times),
            lengths,
            leaves,
        }
    }

    /// Returns the index of a sample's leaf, or -1. `known` are the paths of the profile's nodes.
    fn leaf(
        &mut self,
        profile: &ThreadProfile,
        PageSample { node, line, off_core }: PageSample,
        known: &mut KnownPaths,
    ) -> i64 {
        if node == NONE {
            return -1;
        }
        let state = match off_core {
            None => LeafState::OnTop,
            Some(OffCore::Blocked) => LeafState::Blocked,
            Some(OffCore::Waiting) => LeafState::Waiting,
            // What the thread had called does not matter.
            Some(OffCore::Idle) => {
                let path = self.paths.path(None, FrameKind::Idle).0;
                return self.leaves.insert_full(Leaf::of(path, 0, LeafState::OnTop)).0 as i64;
            }
        };
        let end =
            |frame| Some(self.index.kind(frame)).filter(|kind| *kind != FrameKind::Unrecorded);
        let path = self.paths.of_node(profile, node, known, end);
        let line = match self.index.kind(profile.nodes[node as usize].frame) {
            FrameKind::Function(function) => self.index.line_within(function, line),
            _ => 0,
        };
        let Some(path) = path else { return -1 };
        let labels = self.labels.insert_full(profile.labels(node)).0 as u32;
        self.leaves.insert_full(Leaf { path, line, state, labels }).0 as i64
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
        for Leaf { path, line, state, .. } in &self.leaves {
            leaves.node.push(*path);
            leaves.line.push(*line);
            leaves.state.push(*state as u8);
        }
        if self.leaves.iter().any(|leaf| leaf.labels != NO_LABELS) {
            leaves.labels = self.leaves.iter().map(|leaf| leaf.labels).collect();
        }
        leaves
    }
}
