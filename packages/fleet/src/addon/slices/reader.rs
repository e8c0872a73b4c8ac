//! Reads recordings slice by slice, also while they grow.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::names::ProfileNames;
use super::payload::{EncodedProfile, encode};
use cpu_prof_core::files::input::Failed;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_remote::push::options::ServerKind;
use cpu_prof_session::model::{Clock, Process, Session};
use cpu_prof_tools::follow::follower::{Follower, Look, LookTime};
use cpu_prof_tools::read::load::Loaded;
use cpu_prof_tools::read::load_error::LoadError;
use cpu_prof_tools::read::selection::Selection;

/// Time that a recording has to write its last samples after the end of a slice, microseconds.
const SETTLE_US: i64 = 2_000_000;

/// Time for which a slice waits for a thread that is blocked in a call, and so keeps its samples,
/// microseconds.
const MOST_BLOCKED_US: i64 = 60_000_000;

/// The shortest time between two looks at the recordings, milliseconds.
const LEAST_WAIT_MS: i64 = 100;

/// A look at this only tells which recordings there are.
const NO_TIME: LookTime = LookTime::Slice(i64::MAX, i64::MAX);

/// What is wanted of a reader.
#[derive(Debug, Clone)]
pub(crate) struct SliceOptions {
    /// Kind of the server.
    pub kind: ServerKind,
    pub names: ProfileNames,
    /// Length of a slice, milliseconds.
    pub slice_ms: i64,
    pub begin: SliceBegin,
}

/// Where the first slice begins, and whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SliceBegin {
    /// With the recordings, which have ended.
    Ended,
    /// With the recordings, which are followed until all have ended.
    Start,
    /// Now: recordings are followed from now on, until all have ended.
    Now,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum PushStep {
    /// The processes of a slice. The list can be empty.
    Slice(Vec<EncodedProfile>),
    /// Nothing before this time has passed, milliseconds.
    Wait(i64),
    /// Nothing more.
    End,
}

/// Why a slice was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SliceError {
    /// A file has nothing to show.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A profile could not be written in the format of the server.
    #[error("not encoded: {0}")]
    Encode(#[source] io::Error),
}

/// Reads slices.
pub(crate) struct PushReader {
    options: SliceOptions,
    selection: Selection,
    follower: Follower,
    /// Files and folders that are read slice by slice.
    paths: Vec<PathBuf>,
    /// Files without a time line of ours, each of which is read as a whole.
    wholes: VecDeque<PathBuf>,
    /// Start of the next slice, microseconds.
    at_us: Option<i64>,
    /// Whether the program had not started when the following began: its first samples count too.
    has_waited: bool,
    /// Remarks and failures that the user has not seen, and those that the user has.
    notes: News<String>,
    failed: News<Failed>,
}

/// A list of which each item is told once.
#[derive(Debug)]
struct News<T> {
    told: Vec<T>,
    new: Vec<T>,
}

impl<T> Default for News<T> {
    fn default() -> Self {
        Self { told: Vec::new(), new: Vec::new() }
    }
}

/// The most items that are known as told: a process can run for a year.
const MOST_TOLD: usize = 100;

impl<T: PartialEq + Clone> News<T> {
    fn add(&mut self, items: Vec<T>) {
        for item in items {
            if !self.told.contains(&item) {
                if self.told.len() == MOST_TOLD {
                    self.told.remove(0);
                }
                self.told.push(item.clone());
                self.new.push(item);
            }
        }
    }
}

impl PushReader {
    /// Returns a reader of files and folders. Reads the starts of the files.
    pub(crate) fn new(inputs: Vec<PathBuf>, options: SliceOptions, selection: Selection) -> Self {
        let mut reader = Self {
            selection,
            follower: Follower::default(),
            paths: Vec::new(),
            wholes: VecDeque::new(),
            at_us: None,
            has_waited: options.begin == SliceBegin::Start,
            options,
            notes: News::default(),
            failed: News::default(),
        };
        if reader.follows() {
            reader.paths = inputs;
            return reader;
        }
        for input in inputs {
            let look =
                Follower::default().look(std::slice::from_ref(&input), NO_TIME, &reader.selection);
            if look.recordings > 0 {
                reader.paths.push(input);
            } else {
                reader.wholes.push_back(input);
            }
        }
        reader
    }

    /// Reads on until there is something to send.
    pub(crate) fn next(&mut self) -> Result<PushStep, SliceError> {
        if let Some(path) = self.wholes.pop_front() {
            return self.whole(path).map(PushStep::Slice);
        }
        if self.paths.is_empty() {
            return Ok(PushStep::End);
        }
        loop {
            let step = self.slice()?;
            let is_empty = matches!(&step, PushStep::Slice(payloads) if payloads.is_empty());
            if !is_empty || self.follows() {
                return Ok(step);
            }
        }
    }

    /// Sets the files and folders that are followed from now on.
    pub(crate) fn follow(&mut self, paths: Vec<PathBuf>) {
        self.paths = paths;
    }

    fn follows(&self) -> bool {
        self.options.begin != SliceBegin::Ended
    }

    /// Returns the remarks that are new.
    pub(crate) fn notes(&mut self) -> Vec<String> {
        mem::take(&mut self.notes.new)
    }

    /// Returns the files that could not be read, and were not told before.
    pub(crate) fn failed(&mut self) -> Vec<Failed> {
        mem::take(&mut self.failed.new)
    }

    /// Reads a file as one slice: from its start to its end.
    fn whole(&mut self, path: PathBuf) -> Result<Vec<EncodedProfile>, SliceError> {
        let loaded = self.selection.load(&[path], ReadScope::LINES)?;
        let modified = loaded.modified;
        let ends = loaded.session.processes.iter().map(Process::end_us);
        let end_us = ends.max().unwrap_or(0);
        self.payloads(loaded, None, guessed_zero_us(modified, end_us))
    }

    /// Reads the next slice.
    fn slice(&mut self) -> Result<PushStep, SliceError> {
        let Some(from_us) = self.at_us else {
            let look = self.look(NO_TIME);
            if look.end_us > look.start_us {
                let is_late = self.follows() && !self.has_waited;
                self.at_us = Some(if is_late { look.end_us } else { look.start_us });
                return Ok(PushStep::Slice(Vec::new()));
            }
            // A program that starts has not written its first samples.
            let can_come = self.follows() && (look.growing > 0 || look.recordings == 0);
            self.has_waited = true;
            let wait = PushStep::Wait(self.options.slice_ms.clamp(LEAST_WAIT_MS, SETTLE_US / 1000));
            return Ok(if can_come { wait } else { PushStep::End });
        };
        let to_us = from_us.saturating_add(self.options.slice_ms.saturating_mul(1000));
        let look = self.look(LookTime::Slice(from_us, to_us));
        let is_growing = self.follows() && look.growing > 0;
        let flushed_us = look.flushed_us.max(look.end_us.saturating_sub(MOST_BLOCKED_US));
        let left_us = to_us.saturating_add(SETTLE_US).saturating_sub(flushed_us);
        if is_growing && left_us > 0 {
            return Ok(PushStep::Wait(
                (left_us / 1000).min(self.options.slice_ms).max(LEAST_WAIT_MS),
            ));
        }
        if look.end_us <= from_us {
            return Ok(PushStep::End);
        }
        self.at_us = Some(to_us);
        let slice_us = (from_us, to_us.min(look.end_us));
        let guess_us = guessed_zero_us(look.modified, look.end_us);
        self.payloads(look.loaded, Some(slice_us), guess_us).map(PushStep::Slice)
    }

    fn look(&mut self, time: LookTime) -> Look {
        self.follower.look(&self.paths, time, &self.selection)
    }

    /// Encodes each process. `slice_us` is none for all of the time. `guess_us` is the wall time of microsecond
    /// 0, where no file tells that.
    fn payloads(
        &mut self,
        mut loaded: Loaded,
        slice_us: Option<(i64, i64)>,
        guess_us: i64,
    ) -> Result<Vec<EncodedProfile>, SliceError> {
        self.notes.add(mem::take(&mut loaded.notes));
        self.failed.add(mem::take(&mut loaded.failed));
        let SliceOptions { kind, names, .. } = &self.options;
        let Session { frames, labels, processes, clocks, .. } = loaded.session;
        let mut session = Session { frames, labels, ..Session::default() };
        let mut payloads = Vec::new();
        for mut process in processes {
            let (start_us, end_us) = slice_us.unwrap_or((process.start_us(), process.end_us()));
            let of_clock = clocks.get(process.clock).and_then(|clock| clock.wall_zero_us);
            let wall_zero_us = process.wall_zero_us.or(of_clock);
            let wall_zero_us = wall_zero_us.unwrap_or(guess_us);
            // The profile is one of the slice alone.
            let wall_zero = Some(wall_zero_us);
            session.clocks = vec![Clock { boot: None, start_us, end_us, wall_zero_us: wall_zero }];
            process.clock = 0;
            session.processes = vec![process];
            payloads.extend(encode(&session, *kind, names).map_err(SliceError::Encode)?);
        }
        Ok(payloads)
    }
}

/// Returns the wall time of microsecond 0 of recordings that were written last when they ended.
fn guessed_zero_us(modified: Option<SystemTime>, end_us: i64) -> i64 {
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_micros() as i64).saturating_sub(end_us)
}
