//! Writes a session as pprof: a sample for each stack, line, thread and label set.

use std::io::{self, Write};
use std::iter::Peekable;
use std::slice::Iter;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::fields::FieldWriter;
use super::labels::{self, key_of_program};
use super::message::{
    PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofSample, PprofValueType,
    field,
};
use super::system_name::system_name;
use super::{CPU, NANOSECONDS, SAMPLE_TYPES, comments};
use crate::base::numbering::FxIndexSet;
use crate::base::path_text::is_windows;
use crate::format::url::file_path;
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;
use crate::profile::package::package_of;
use crate::profile::session::label_table::NO_LABELS;
use crate::profile::session::thread_profile::{NONE, NodeTimes, ProfileLine, ThreadProfile};
use crate::profile::session::{Process, Session, Thread};

/// The id of the only mapping.
const MAPPING: u64 = 1;
/// The stack without frames.
const NO_STACK: u32 = 0;
/// The interval where no file tells one, microseconds.
const USUAL_INTERVAL_US: i64 = 1000;

/// Writes all threads.
pub(in super::super) fn write(session: &Session, _: &str, out: &mut dyn Write) -> io::Result<()> {
    write_labelled(session, true, out)
}

/// Writes all threads with the labels of the program alone: a server makes a series of each set of labels,
/// and has few sets then.
pub fn write_unlabelled(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    write_labelled(session, false, out)
}

fn write_labelled(session: &Session, has_places: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut tables = PprofTables::of(session, has_places);
    for process in &session.processes {
        for thread in &process.threads {
            tables.thread(process, thread);
        }
    }
    tables.write(out)
}

/// A place on a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct StackPlace {
    /// The stack above; [`NO_STACK`] for the outermost function.
    above: u32,
    /// Index of the location.
    location: u32,
}

/// What the values of a sample are of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SampleKey {
    stack: u32,
    /// Index of the list of labels.
    labels: u32,
}

/// The values of a sample.
#[derive(Clone, Copy, Default)]
struct SampleValues {
    samples: u64,
    cpu_us: u64,
    wall_us: u64,
}

/// All that the file refers to by index.
struct PprofTables<'a> {
    session: &'a Session,
    /// Whether labels tell process, thread, package and state.
    has_places: bool,
    strings: FxIndexSet<String>,
    /// Functions, without their ids.
    functions: FxIndexSet<PprofFunction>,
    /// Indices of functions by the numbers of frames.
    by_frame: FxHashMap<u32, u32>,
    /// Functions with lines.
    locations: FxIndexSet<(u32, i64)>,
    /// Stacks; the index 0 stands for [`NO_STACK`].
    stacks: FxIndexSet<StackPlace>,
    labels: FxIndexSet<Vec<PprofLabel>>,
    samples: IndexMap<SampleKey, SampleValues, FxBuildHasher>,
    /// Paths of files of Windows, by their lower case: the first form counts, as in reports.
    spellings: FxHashMap<String, String>,
}

impl<'a> PprofTables<'a> {
    fn of(session: &'a Session, has_places: bool) -> Self {
        let mut spellings = FxHashMap::default();
        for frame in session.frames.list() {
            let path = file_path(&frame.url);
            if is_windows(&path) {
                spellings.entry(path.to_lowercase()).or_insert(path.into_owned());
            }
        }
        let nothing = StackPlace { above: NO_STACK, location: NONE };
        let mut tables = Self {
            session,
            has_places,
            strings: FxIndexSet::default(),
            functions: FxIndexSet::default(),
            by_frame: FxHashMap::default(),
            locations: FxIndexSet::default(),
            stacks: FxIndexSet::from_iter([nothing]),
            labels: FxIndexSet::default(),
            samples: IndexMap::default(),
            spellings,
        };
        // The format has no text at the index 0.
        tables.string("");
        tables
    }

    fn string(&mut self, text: &str) -> i64 {
        let known = self.strings.get_index_of(text);
        known.unwrap_or_else(|| self.strings.insert_full(text.to_owned()).0) as i64
    }

    fn text(&mut self, key: &str, value: &str) -> PprofLabel {
        PprofLabel { key: self.string(key), text: self.string(value), number: 0 }
    }

    fn number(&mut self, key: &str, number: i64) -> PprofLabel {
        PprofLabel { key: self.string(key), text: 0, number }
    }

    /// Returns the index of a frame's function.
    fn function(&mut self, number: u32) -> u32 {
        if let Some(index) = self.by_frame.get(&number) {
            return *index;
        }
        let frame = &self.session.frames.list()[number as usize];
        let name = match frame.function_name.as_str() {
            "" => "(anonymous)",
            name => name,
        };
        let path = file_path(&frame.url);
        let spelling = match is_windows(&path) {
            true => self.spellings.get(&path.to_lowercase()).cloned(),
            false => None,
        };
        let function = PprofFunction {
            id: 0,
            name: self.string(name),
            system_name: self.string(&system_name(frame, name)),
            file: self.string(spelling.as_deref().unwrap_or(&path)),
            line: first_line(frame),
        };
        let index = self.functions.insert_full(function).0 as u32;
        self.by_frame.insert(number, index);
        index
    }

    /// Returns the stack with one more function, which has reached a line; none for its first line.
    fn stack(&mut self, above: u32, frame: u32, line: Option<i64>) -> u32 {
        let function = self.function(frame);
        let line = line.unwrap_or_else(|| self.functions[function as usize].line);
        let location = self.locations.insert_full((function, line)).0 as u32;
        self.stacks.insert_full(StackPlace { above, location }).0 as u32
    }

    fn thread(&mut self, process: &Process, thread: &Thread) {
        let place = if self.has_places { self.place(process, thread) } else { Vec::new() };
        let mut known = FxHashMap::default();
        for profile in &thread.profiles {
            self.profile(profile, &place, &mut known);
        }
    }

    /// Returns the labels of a thread.
    fn place(&mut self, process: &Process, thread: &Thread) -> Vec<PprofLabel> {
        let mut place = vec![self.text(labels::PROCESS, &process.name)];
        if process.pid != 0 {
            place.push(self.number(labels::PID, process.pid));
        }
        place.push(self.text(labels::THREAD, &thread.full_name()));
        if thread.id != 0 {
            place.push(self.number(labels::WORKER, thread.id));
        }
        place
    }

    /// Adds a profile of a thread, whose place is in labels. `known` are indices of lists of labels by
    /// frame, label set and state.
    fn profile(
        &mut self,
        profile: &ThreadProfile,
        place: &[PprofLabel],
        known: &mut FxHashMap<(u32, u32, &'static str), u32>,
    ) {
        let is_timed = is_timed(profile);
        let stacks = profile.downward(|above: u32, number, node| {
            let is_shown = is_timed[number as usize] && node.frame != FrameTable::ROOT;
            if is_shown { self.stack(above, node.frame, None) } else { above }
        });
        let mut lines = profile.lines.iter().peekable();
        for (number, node) in (0_u32..).zip(&profile.nodes) {
            let parts = take_lines(&mut lines, number);
            if !is_timed[number as usize] || node.frame == FrameTable::ROOT {
                continue;
            }
            let times = profile.times(node);
            let above = stacks.get(node.parent as usize).copied().unwrap_or(NO_STACK);
            let mut labels = |tables: &mut Self, state: &'static str| {
                let set = profile.labels(number);
                let index = known.entry((node.frame, set, state));
                *index.or_insert_with(|| tables.labels_of(place, node.frame, set, state))
            };
            let list = labels(self, "");
            let is_idle = node.frame == FrameTable::IDLE;
            let mut left_us = times.self_us;
            for line in parts {
                let us = line.self_us.min(left_us);
                left_us -= us;
                let reached = self.line_within(node.frame, line.position.line);
                let stack = self.stack(above, node.frame, reached);
                self.add(SampleKey { stack, labels: list }, line.samples, us, is_idle);
            }
            let stack = stacks[number as usize];
            self.add(SampleKey { stack, labels: list }, 0, left_us, is_idle);
            let NodeTimes { blocked_us, waiting_us, .. } = times;
            for (state, us) in [(labels::BLOCKED, blocked_us), (labels::WAITING, waiting_us)] {
                if us > 0 {
                    let list = labels(self, state);
                    self.add(SampleKey { stack, labels: list }, 0, us, true);
                }
            }
        }
    }

    /// Returns the line that a function has reached; none if it is not known, or not in the function: V8
    /// counts the lines of inlined functions for the caller.
    fn line_within(&self, frame: u32, line: u32) -> Option<i64> {
        let frame = &self.session.frames.list()[frame as usize];
        let is_within = line > 0 && !frame.url.is_empty() && i64::from(line) >= first_line(frame);
        is_within.then_some(i64::from(line))
    }

    fn labels_of(&mut self, place: &[PprofLabel], frame: u32, set: u32, state: &str) -> u32 {
        let session = self.session;
        let mut list = place.to_vec();
        let frame = &session.frames.list()[frame as usize];
        if self.has_places && !frame.is_meta() {
            let path = file_path(&frame.url);
            let package = frame.package.as_deref().unwrap_or_else(|| package_of(&path));
            list.push(self.text(labels::PACKAGE, package));
        }
        if self.has_places && !state.is_empty() {
            list.push(self.text(labels::STATE, state));
        }
        if set != NO_LABELS
            && let Some(set) = session.labels.get(set)
        {
            for (key, value) in set.iter().filter(|(_, value)| !value.is_empty()) {
                list.push(self.text(&key_of_program(key), value));
            }
        }
        self.labels.insert_full(list).0 as u32
    }

    fn add(&mut self, key: SampleKey, samples: u64, us: u64, is_off_cpu: bool) {
        if samples == 0 && us == 0 {
            return;
        }
        let cpu_us = if is_off_cpu { 0 } else { us };
        let values = self.samples.entry(key).or_default();
        values.samples = values.samples.saturating_add(samples);
        values.cpu_us = values.cpu_us.saturating_add(cpu_us);
        values.wall_us = values.wall_us.saturating_add(us);
    }

    fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut fields = FieldWriter::new(out);
        let types = SAMPLE_TYPES.map(|(name, unit)| self.value_type(name, unit));
        for value_type in types {
            fields.message(field::SAMPLE_TYPE, &value_type)?;
        }
        let mut sample = PprofSample::default();
        for (SampleKey { stack, labels }, values) in &self.samples {
            sample.locations.clear();
            let mut at = *stack;
            while at != NO_STACK {
                let StackPlace { above, location } = self.stacks[at as usize];
                sample.locations.push(id(location as usize));
                at = above;
            }
            let SampleValues { samples, cpu_us, wall_us } = *values;
            sample.values.clear();
            sample.values.extend([signed(samples), nanos(cpu_us), nanos(wall_us)]);
            sample.labels.clone_from(&self.labels[*labels as usize]);
            fields.message(field::SAMPLE, &sample)?;
        }
        let mapping = PprofMapping {
            id: MAPPING,
            file: self.string("node"),
            has_functions: true,
            has_files: true,
            has_lines: true,
            has_inlined: true,
        };
        fields.message(field::MAPPING, &mapping)?;
        for (index, (function, line)) in self.locations.iter().enumerate() {
            let lines = vec![PprofLine { function: id(*function as usize), line: *line }];
            let location = PprofLocation { id: id(index), mapping: MAPPING, address: 0, lines };
            fields.message(field::LOCATION, &location)?;
        }
        for (index, function) in self.functions.iter().enumerate() {
            fields.message(field::FUNCTION, &PprofFunction { id: id(index), ..*function })?;
        }
        self.write_facts(&mut fields)?;
        for text in &self.strings {
            fields.bytes(field::STRING, text.as_bytes())?;
        }
        Ok(())
    }

    /// Writes what is known of the whole file.
    fn write_facts(&mut self, fields: &mut FieldWriter<'_>) -> io::Result<()> {
        let session = self.session;
        let first = session.clocks.first();
        let start_us = first.and_then(|clock| clock.wall_us(clock.start_us)).unwrap_or(0);
        fields.number(field::TIME_NANOS, start_us.saturating_mul(1000))?;
        fields.number(field::DURATION_NANOS, session.length_us().saturating_mul(1000))?;
        let period_type = self.value_type(CPU, NANOSECONDS);
        fields.message(field::PERIOD_TYPE, &period_type)?;
        let interval_us = session.processes.iter().find_map(|process| process.interval_us);
        let interval_us = interval_us.unwrap_or(USUAL_INTERVAL_US);
        fields.number(field::PERIOD, interval_us.saturating_mul(1000))?;
        for comment in comments::comments(&session.processes) {
            let comment = self.string(&comment);
            fields.number(field::COMMENT, comment)?;
        }
        let default = self.string(CPU);
        fields.number(field::DEFAULT_SAMPLE_TYPE, default)
    }

    fn value_type(&mut self, name: &str, unit: &str) -> PprofValueType {
        PprofValueType { name: self.string(name), unit: self.string(unit) }
    }
}

/// Returns for each node whether it has time or samples, or one below has.
fn is_timed(profile: &ThreadProfile) -> Vec<bool> {
    let mut is_timed: Vec<bool> = profile
        .all_times()
        .map(|NodeTimes { self_us, blocked_us, waiting_us, .. }| {
            self_us > 0 || blocked_us > 0 || waiting_us > 0
        })
        .collect();
    profile.lines.iter().for_each(|line| is_timed[line.node as usize] |= line.samples > 0);
    // Parents come before their children.
    for (index, node) in profile.nodes.iter().enumerate().rev() {
        if is_timed[index]
            && let Some(parent) = is_timed.get_mut(node.parent as usize)
        {
            *parent = true;
        }
    }
    is_timed
}

/// Takes the lines of a node, which come in the order of the nodes.
fn take_lines<'a>(lines: &mut Peekable<Iter<'a, ProfileLine>>, node: u32) -> Vec<&'a ProfileLine> {
    let mut taken = Vec::new();
    while let Some(line) = lines.next_if(|line| line.node <= node) {
        taken.push(line);
    }
    taken
}

/// Returns the first line of a frame's function, from 1; 0 for none.
fn first_line(frame: &CallFrame) -> i64 {
    i64::from(frame.line).saturating_add(1).max(0)
}

/// Returns the id of what has an index: ids begin at 1.
fn id(index: usize) -> u64 {
    index as u64 + 1
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn nanos(us: u64) -> i64 {
    signed(us.saturating_mul(1000))
}
