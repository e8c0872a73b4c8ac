//! Tables of a session's functions, stacks, labels and times, which files refer to by index: a sample for
//! each stack, line, thread and label set.

mod add;
pub(super) mod sample_labels;
pub(super) mod system_name;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::model::Session;
use crate::model::thread_profile::NONE;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::base::path_text::is_windows;
use cpu_prof_core::format::url::numbered_path;

/// The sample types, each with its unit.
pub(super) const SAMPLE_TYPES: [(&str, &str); 3] =
    [("samples", "count"), (CPU, NANOSECONDS), ("wall", NANOSECONDS)];

/// The type of the time of work.
pub(super) const CPU: &str = "cpu";

/// The unit of all times.
pub(super) const NANOSECONDS: &str = "nanoseconds";

/// What all code was loaded from.
pub(super) const MAPPED_FILE: &str = "node";

/// The stack without frames.
const NO_STACK: u32 = 0;

/// A function. Texts are indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StackFunction {
    pub name: u32,
    /// Name with the line and the column.
    pub system_name: u32,
    /// Path of the file.
    pub file: u32,
    /// First line, from 1; 0 for none.
    pub line: i64,
    /// Module of native code, and the address in it while the function has no name.
    pub module: Option<(StackModule, u64)>,
}

/// A module of native code. Texts are indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StackModule {
    /// Path of the file.
    pub file: u32,
    /// Build, as hexadecimal digits.
    pub build: u32,
}

/// A label of a sample. Texts are indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StackLabel {
    pub key: u32,
    pub value: StackLabelValue,
}

/// The value of a label.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StackLabelValue {
    /// Index of the text.
    Text(u32),
    Number(i64),
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
pub(super) struct SampleKey {
    /// Index of the stack.
    pub stack: u32,
    /// Index of the list of labels.
    pub labels: u32,
}

/// The values of a sample.
#[derive(Clone, Copy, Default)]
pub(super) struct SampleValues {
    samples: u64,
    cpu_us: u64,
    wall_us: u64,
}

/// The labels that samples get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKinds {
    /// Process, thread, package and state, and those of the program.
    All,
    /// Those of the program alone.
    OfProgram,
}

/// All that a file refers to by index.
pub(super) struct StackTables<'a> {
    session: &'a Session,
    label_kinds: LabelKinds,
    /// Texts; the index 0 has the empty text.
    pub strings: FxIndexSet<String>,
    pub functions: FxIndexSet<StackFunction>,
    /// Indices of functions by the numbers of frames.
    by_frame: FxHashMap<u32, u32>,
    /// Indices of functions, with lines.
    pub locations: FxIndexSet<(u32, i64)>,
    /// Stacks; the index 0 stands for [`NO_STACK`].
    stacks: FxIndexSet<StackPlace>,
    /// Lists of labels; no key is twice in one.
    pub labels: FxIndexSet<Vec<StackLabel>>,
    pub samples: IndexMap<SampleKey, SampleValues, FxBuildHasher>,
    /// Paths of files of Windows, by their lower case: the first form counts, as in reports.
    spellings: FxHashMap<String, String>,
}

impl<'a> StackTables<'a> {
    /// Returns the tables with all threads.
    pub(super) fn of(session: &'a Session, label_kinds: LabelKinds) -> Self {
        let mut spellings = FxHashMap::default();
        for frame in session.frames.list() {
            let path = numbered_path(frame);
            if is_windows(&path) {
                spellings.entry(path.to_lowercase()).or_insert(path.into_owned());
            }
        }
        let nothing = StackPlace { above: NO_STACK, location: NONE };
        let mut tables = Self {
            session,
            label_kinds,
            strings: FxIndexSet::default(),
            functions: FxIndexSet::default(),
            by_frame: FxHashMap::default(),
            locations: FxIndexSet::default(),
            stacks: FxIndexSet::from_iter([nothing]),
            labels: FxIndexSet::default(),
            samples: IndexMap::default(),
            spellings,
        };
        tables.string("");
        for process in &session.processes {
            for thread in &process.threads {
                tables.thread(process, thread);
            }
        }
        tables
    }

    /// Returns the index of a text.
    pub(super) fn string(&mut self, text: &str) -> u32 {
        let known = self.strings.get_index_of(text);
        known.unwrap_or_else(|| self.strings.insert_full(text.to_owned()).0) as u32
    }

    /// Returns the indices of a stack's locations, the top first.
    pub(super) fn locations_of(&self, stack: u32) -> impl Iterator<Item = u32> {
        let mut at = stack;
        std::iter::from_fn(move || {
            let StackPlace { above, location } = *self.stacks.get_index(at as usize)?;
            at = above;
            (location != NONE).then_some(location)
        })
    }

    /// Returns the start: nanoseconds after 1970; 0 if no file tells.
    pub(super) fn start_nanos(&self) -> i64 {
        let first = self.session.clocks.first();
        let start_us = first.and_then(|clock| clock.wall_us(clock.start_us)).unwrap_or(0);
        start_us.saturating_mul(1000)
    }

    /// Returns the length, nanoseconds.
    pub(super) fn length_nanos(&self) -> i64 {
        self.session.length_us().saturating_mul(1000)
    }

    /// Returns the time between two samples, nanoseconds.
    pub(super) fn period_nanos(&self) -> i64 {
        self.session.interval_us().saturating_mul(1000)
    }
}

impl SampleValues {
    /// Returns a value for each of [`SAMPLE_TYPES`].
    pub(super) fn list(self) -> [i64; SAMPLE_TYPES.len()] {
        let Self { samples, cpu_us, wall_us } = self;
        [signed(samples), nanos(cpu_us), nanos(wall_us)]
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn nanos(us: u64) -> i64 {
    signed(us.saturating_mul(1000))
}
