//! Reads the samples of a pprof file into call trees.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::comments;
use super::contents::PprofContents;
use super::file_tables::{FileLocation, FileTables, damaged};
use super::message::{PprofLabel, PprofLine, PprofSample};
use super::own_code::{OwnCode, is_file};
use super::thread_tree::ThreadTree;
use super::values::ValueMeaning;
use crate::formats::stack_tables::sample_labels::{self, program_key};
use crate::formats::stack_tables::system_name;
use crate::model::frame_table::FrameTable;
use crate::model::{Identity, Process, Thread};
use cpu_prof_core::base::native_code::address_name;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::label_table::{LabelSet, LabelTable};
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_core::profile::read_scope::ReadScope;

/// The most nodes of all call trees.
const MAX_NODES: usize = 1 << 25;
/// The name of the only thread in files of other tools.
const ALL_THREADS: &str = "all threads";
/// The clock of all files that tell when they began: microseconds after 1970.
const WALL_CLOCK: &str = "pprof";
/// The clock of those that do not.
const NO_CLOCK: &str = "pprof without a start";

/// What places a sample: names are indices of texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct ThreadKey {
    process: i64,
    pid: i64,
    thread: i64,
    worker: i64,
}

/// What the labels of a sample tell.
#[derive(Debug, Clone, Copy, Default)]
struct ReadLabels {
    key: ThreadKey,
    state: Option<OffCore>,
    /// Number of the label set.
    set: u32,
}

/// A function that a location has, and the line that it has reached.
#[derive(Debug, Clone, Copy)]
struct ReachedFrame {
    frame: u32,
    line: u32,
}

/// Reads samples one by one.
pub(super) struct SampleReader<'a> {
    profile: &'a FileTables<'a>,
    is_ours: bool,
    meaning: ValueMeaning,
    /// Whose code has no file.
    own_code: OwnCode,
    /// Packages that paths do not tell, by the ids of functions.
    packages: FxHashMap<u64, String>,
    frames: FrameTable,
    /// Numbers of frames by the ids of functions.
    by_function: FxHashMap<u64, u32>,
    labels: LabelTable,
    /// What lists of labels tell.
    read_labels: FxHashMap<Vec<PprofLabel>, ReadLabels>,
    threads: IndexMap<ThreadKey, ThreadTree, FxBuildHasher>,
    /// Count of nodes of all threads.
    nodes: usize,
}

impl<'a> SampleReader<'a> {
    /// Returns a reader of the samples in `bytes`.
    pub(super) fn new(
        profile: &'a FileTables<'a>,
        bytes: &[u8],
        meaning: ValueMeaning,
        is_ours: bool,
    ) -> Result<Self, String> {
        let packages = if is_ours { profile.packages(bytes)? } else { FxHashMap::default() };
        Ok(Self {
            profile,
            is_ours,
            meaning,
            own_code: if is_ours { OwnCode::WithFiles } else { OwnCode::of(profile) },
            packages,
            frames: FrameTable::new(),
            by_function: FxHashMap::default(),
            labels: LabelTable::default(),
            read_labels: FxHashMap::default(),
            threads: IndexMap::default(),
            nodes: 0,
        })
    }

    /// Adds a sample to the tree of its thread.
    pub(super) fn sample(&mut self, sample: &PprofSample) -> Result<(), String> {
        let ReadLabels { key, state, set } = self.labels_of(&sample.labels)?;
        let mut stack = Vec::with_capacity(sample.locations.len());
        for id in &sample.locations {
            self.add_location(*id, &mut stack)?;
        }
        // The root of a tree is no function, and has no time.
        if stack.is_empty() {
            stack.push(ReachedFrame { frame: FrameTable::UNKNOWN, line: 0 });
        }
        let line = stack.first().map_or(0, |top| top.line);
        let tree = self.threads.entry(key).or_insert_with(ThreadTree::new);
        let before = tree.len();
        let node = tree.node(stack.iter().rev().map(|place| place.frame), set);
        self.nodes += tree.len() - before;
        if self.nodes > MAX_NODES {
            return Err(format!("the pprof file has call trees of more than {MAX_NODES} nodes"));
        }
        tree.add(node, line, self.meaning.read(&sample.values), state);
        Ok(())
    }

    /// Adds the functions of a location to a stack, the top first.
    fn add_location(&mut self, id: u64, stack: &mut Vec<ReachedFrame>) -> Result<(), String> {
        let profile = self.profile;
        let location = profile.location(id)?;
        let FileLocation { address, mapping, lines } = location;
        let module = profile.module(*mapping);
        for PprofLine { function, line } in lines {
            let frame = match self.by_function.get(function) {
                Some(frame) => *frame,
                None => self.frame(*function, module)?,
            };
            stack.push(ReachedFrame { frame, line: u32::try_from(*line).unwrap_or(0) });
        }
        if lines.is_empty() {
            let name = match profile.string(module)?.as_str() {
                "" => format!("{address:#x}"),
                module => address_name(module, profile.address_in_module(location)),
            };
            let package = self.package_without_file(module);
            let frame = self.frames.number(CallFrame { package, ..CallFrame::state(&name) });
            stack.push(ReachedFrame { frame, line: 0 });
        }
        Ok(())
    }

    /// Returns the package of code without a file, in the module whose path is this text.
    fn package_without_file(&self, module: i64) -> Option<Box<str>> {
        self.own_code.package(self.profile.bytes(module).unwrap_or_default())
    }

    /// Returns the number of the frame of a function, in the module whose path is this text.
    fn frame(&mut self, id: u64, module: i64) -> Result<u32, String> {
        let function = self.profile.function(id)?;
        let text = |index| self.profile.string(index);
        let (name, mut url) = (text(function.name)?, text(function.file)?);
        if !self.is_ours && !is_file(url.as_bytes()) {
            url.clear();
        }
        let known = text(function.system_name)?;
        let (column, origin) = match self.is_ours {
            true => system_name::read(&known, &name, function.line),
            false => (-1, FrameOrigin::Executed),
        };
        let line = i32::try_from(function.line).unwrap_or(0).max(0) - 1;
        // Others give only the system's name where they could not read the other.
        let name = if name.is_empty() { known } else { name };
        // A state of V8 has neither a file nor a script.
        let script_id = if url.is_empty() { 0 } else { u32::try_from(function.file).unwrap_or(1) };
        let package = match origin {
            FrameOrigin::Module(_) => CallFrame::package_of_module(&url),
            _ if self.is_ours => self.packages.get(&id).map(|package| package.as_str().into()),
            _ if url.is_empty() => self.package_without_file(module),
            _ => None,
        };
        let function_name =
            if self.is_ours && name == "(anonymous)" { String::new() } else { name };
        let frame = CallFrame {
            function_name,
            url,
            script_id,
            line,
            column,
            origin,
            package,
            compiler: None,
        };
        let number = self.frames.number(frame);
        self.by_function.insert(id, number);
        Ok(number)
    }

    /// Reads a list of labels. In files of others, those of texts are labels of work.
    fn labels_of(&mut self, list: &[PprofLabel]) -> Result<ReadLabels, String> {
        if let Some(known) = self.read_labels.get(list) {
            return Ok(*known);
        }
        let mut read = ReadLabels::default();
        let mut others = Vec::new();
        for PprofLabel { key, text, number } in list {
            let name = self.profile.string(*key)?;
            match name.as_str() {
                sample_labels::PROCESS if self.is_ours => read.key.process = *text,
                sample_labels::PID if self.is_ours => read.key.pid = *number,
                sample_labels::THREAD if self.is_ours => read.key.thread = *text,
                sample_labels::WORKER if self.is_ours => read.key.worker = *number,
                sample_labels::STATE if self.is_ours => {
                    read.state = match self.profile.string(*text)?.as_str() {
                        sample_labels::BLOCKED => Some(OffCore::Blocked),
                        sample_labels::WAITING => Some(OffCore::Waiting),
                        _ => None,
                    };
                }
                key if *text != 0 => {
                    let key = if self.is_ours { program_key(key) } else { Some(key) };
                    if let Some(key) = key {
                        others.push((key.to_owned(), self.profile.string(*text)?));
                    }
                }
                _ => {}
            }
        }
        // The names of a thread are needed in the end.
        for name in [read.key.process, read.key.thread] {
            self.profile.string(name).map_err(|_| damaged("a thread has no name"))?;
        }
        read.set = self.labels.number(&others.into_iter().collect::<LabelSet>());
        self.read_labels.insert(list.to_vec(), read);
        Ok(read)
    }

    /// Returns the contents of a file of this name.
    pub(super) fn finish(mut self, file_name: &str, scope: ReadScope) -> PprofContents {
        // A file without samples is an empty profile.
        if self.threads.is_empty() {
            self.threads.insert(ThreadKey::default(), ThreadTree::new());
        }
        let profile = self.profile;
        let start_us = profile.time_nanos / 1000;
        let length_us = u64::try_from(profile.duration_nanos / 1000).unwrap_or(0);
        // A file has one length for all of its threads.
        let longest = (0..self.threads.len()).max_by_key(|index| self.threads[*index].all_us());
        // Other tools count no samples of time in which nothing worked. We do: what our samples lack was
        // not recorded.
        if let Some(index) = longest.filter(|_| !self.is_ours) {
            self.threads[index].rest(length_us);
        }
        let mut processes: IndexMap<(i64, i64), Process, FxBuildHasher> = IndexMap::default();
        for (index, (key, tree)) in self.threads.into_iter().enumerate() {
            let least_us = if Some(index) == longest { length_us } else { 0 };
            let text = |index: i64| profile.string(index).ok().filter(|text| !text.is_empty());
            let process = processes.entry((key.process, key.pid)).or_insert_with(|| {
                let name = text(key.process).unwrap_or_else(|| file_name.to_owned());
                let mut process = Process {
                    pid: key.pid,
                    command: name.clone(),
                    name,
                    identity: Some(identity(start_us)),
                    wall_zero_us: (start_us > 0).then_some(0),
                    interval_us: self.meaning.interval_us(),
                    ..Process::default()
                };
                comments::read(&profile.comments, &mut process);
                process
            });
            process.threads.push(Thread {
                id: key.worker,
                name: text(key.thread).unwrap_or_else(|| ALL_THREADS.to_owned()),
                profiles: vec![tree.finish(start_us.max(0), least_us, scope)],
                ..Thread::default()
            });
        }
        let processes = processes.into_values().collect();
        let notes = self.meaning.note().into_iter().collect();
        PprofContents { processes, frames: self.frames, labels: self.labels, notes }
    }
}

/// Returns the start of a process of which only the start of its file is known. Its times are those of no
/// recording's clock.
fn identity(start_us: i64) -> Identity {
    let boot = if start_us > 0 { WALL_CLOCK } else { NO_CLOCK };
    Identity {
        process_start_ms: u64::try_from(start_us / 1000).unwrap_or(0),
        boot: boot.to_owned(),
        key: None,
        pid_namespace: None,
    }
}
