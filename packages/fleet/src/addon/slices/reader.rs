//! Reads recordings window by window, also while they grow.

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

/// Time that a recording has to write its last samples after the end of a window, microseconds.
const SETTLE_US: i64 = 2_000_000;

/// Time for which a window waits for a thread that is blocked in a call, and so keeps its samples,
/// microseconds.
const MOST_BLOCKED_US: i64 = 60_000_000;

/// The shortest time between two looks at the recordings, milliseconds.
const LEAST_WAIT_MS: i64 = 100;

/// A look at this only tells which recordings there are.
const NO_TIME: LookTime = LookTime::Window(i64::MAX, i64::MAX);

/// What is wanted of a reader.
#[derive(Debug, Clone)]
pub(crate) struct WindowOptions {
    /// Kind of the server.
    pub kind: ServerKind,
    pub names: ProfileNames,
    /// Length of a window, milliseconds.
    pub window_ms: i64,
    pub begin: WindowBegin,
}

/// Where the first window begins, and whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowBegin {
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
    /// The processes of a window. The list can be empty.
    Window(Vec<EncodedProfile>),
    /// Nothing before this time has passed, milliseconds.
    Wait(i64),
    /// Nothing more.
    End,
}

/// Why a window was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WindowError {
    /// A file has nothing to show.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A profile could not be written in the format of the server.
    #[error("not encoded: {0}")]
    Encode(#[source] io::Error),
}

/// Reads windows.
pub(crate) struct PushReader {
    options: WindowOptions,
    selection: Selection,
    follower: Follower,
    /// Files and folders that are read window by window.
    paths: Vec<PathBuf>,
    /// Files without a time line of ours, each of which is read as a whole.
    wholes: VecDeque<PathBuf>,
    /// Start of the next window, microseconds.
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
    pub(crate) fn new(inputs: Vec<PathBuf>, options: WindowOptions, selection: Selection) -> Self {
        let mut reader = Self {
            selection,
            follower: Follower::default(),
            paths: Vec::new(),
            wholes: VecDeque::new(),
            at_us: None,
            has_waited: options.begin == WindowBegin::Start,
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
    pub(crate) fn next(&mut self) -> Result<PushStep, WindowError> {
        if let Some(path) = self.wholes.pop_front() {
            return self.whole(path).map(PushStep::Window);
        }
        if self.paths.is_empty() {
            return Ok(PushStep::End);
        }
        loop {
            let step = self.window()?;
            let is_empty = matches!(&step, PushStep::Window(payloads) if payloads.is_empty());
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
        self.options.begin != WindowBegin::Ended
    }

    /// Returns the remarks that are new.
    pub(crate) fn notes(&mut self) -> Vec<String> {
        mem::take(&mut self.notes.new)
    }

    /// Returns the files that could not be read, and were not told before.
    pub(crate) fn failed(&mut self) -> Vec<Failed> {
        mem::take(&mut self.failed.new)
    }

    /// Reads a file as one window: from its start to its end.
    fn whole(&mut self, path: PathBuf) -> Result<Vec<EncodedProfile>, WindowError> {
        let loaded = self.selection.load(&[path], ReadScope::LINES)?;
        let modified = loaded.modified;
        let ends = loaded.session.processes.iter().map(Process::end_us);
        let end_us = ends.max().unwrap_or(0);
        self.payloads(loaded, None, guessed_zero_us(modified, end_us))
    }

    /// Reads the next window.
    fn window(&mut self) -> Result<PushStep, WindowError> {
        let Some(from_us) = self.at_us else {
            let look = self.look(NO_TIME);
            if look.end_us > look.start_us {
                let is_late = self.follows() && !self.has_waited;
                self.at_us = Some(if is_late { look.end_us } else { look.start_us });
                return Ok(PushStep::Window(Vec::new()));
            }
            // A program that starts has not written its first samples.
            let can_come = self.follows() && (look.growing > 0 || look.recordings == 0);
            self.has_waited = true;
            let wait =
                PushStep::Wait(self.options.window_ms.clamp(LEAST_WAIT_MS, SETTLE_US / 1000));
            return Ok(if can_come { wait } else { PushStep::End });
        };
        let to_us = from_us.saturating_add(self.options.window_ms.saturating_mul(1000));
        let look = self.look(LookTime::Window(from_us, to_us));
        let is_growing = self.follows() && look.growing > 0;
        let flushed_us = look.flushed_us.max(look.end_us.saturating_sub(MOST_BLOCKED_US));
        let left_us = to_us.saturating_add(SETTLE_US).saturating_sub(flushed_us);
        if is_growing && left_us > 0 {
            return Ok(PushStep::Wait(
                (left_us / 1000).min(self.options.window_ms).max(LEAST_WAIT_MS),
            ));
        }
        if look.end_us <= from_us {
            return Ok(PushStep::End);
        }
        self.at_us = Some(to_us);
        let window_us = (from_us, to_us.min(look.end_us));
        let guess_us = guessed_zero_us(look.modified, look.end_us);
        self.payloads(look.loaded, Some(window_us), guess_us).map(PushStep::Window)
    }

    fn look(&mut self, time: LookTime) -> Look {
        self.follower.look(&self.paths, time, &self.selection)
    }

    /// Encodes each process. `window_us` is none for all of the time. `guess_us` is the wall time of microsecond
    /// 0, where no file tells that.
    fn payloads(
        &mut self,
        mut loaded: Loaded,
        window_us: Option<(i64, i64)>,
        guess_us: i64,
    ) -> Result<Vec<EncodedProfile>, WindowError> {
        self.notes.add(mem::take(&mut loaded.notes));
        self.failed.add(mem::take(&mut loaded.failed));
        let WindowOptions { kind, names, .. } = &self.options;
        let Session { frames, labels, processes, clocks, .. } = loaded.session;
        let mut session = Session { frames, labels, ..Session::default() };
        let mut payloads = Vec::new();
        for mut process in processes {
            let (start_us, end_us) = window_us.unwrap_or((process.start_us(), process.end_us()));
            let of_clock = clocks.get(process.clock).and_then(|clock| clock.wall_zero_us);
            let wall_zero_us = process.wall_zero_us.or(of_clock);
            let wall_zero_us = wall_zero_us.unwrap_or(guess_us);
            // The profile is one of the window alone.
            let wall_zero = Some(wall_zero_us);
            session.clocks = vec![Clock { boot: None, start_us, end_us, wall_zero_us: wall_zero }];
            process.clock = 0;
            session.processes = vec![process];
            payloads.extend(encode(&session, *kind, names).map_err(WindowError::Encode)?);
        }
        Ok(payloads)
    }
}

/// Returns the wall time of microsecond 0 of recordings that were written last when they ended.
fn guessed_zero_us(modified: Option<SystemTime>, end_us: i64) -> i64 {
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_micros() as i64).saturating_sub(end_us)
}
