//! Looks at the last seconds of recordings that grow, are added and are removed.

use std::fs;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::FxHashMap;

use cpu_prof_core::base::system::is_process_alive;
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::{Failed, Input};

use super::appended::AppendError;
use super::recent::RecentTrace;
use super::recording_head::{FoundHead, RecordingHead};
use crate::names::originals::Originals;
use crate::read::file::ReadFile;
use crate::read::load::Loaded;
use crate::read::selection::Selection;
use crate::read::sniff::{FileEnd, end_of};

/// Time without growth from which a recording counts as one that does not grow, unless its process is
/// alive on this machine.
const QUIET: Duration = Duration::from_secs(5);

/// Follows files.
#[derive(Default)]
pub struct Follower {
    /// In the order in which the last search found them.
    files: Vec<FollowedFile>,
    /// Sources, source maps and symbols, which are read once; none before the first look.
    originals: Option<Originals>,
    /// Start of the last look, microseconds.
    last_from_us: i64,
    /// End of the last look, microseconds, and the moment at which the end was first seen.
    newest: Option<(i64, Instant)>,
}

/// The time that a look shows, microseconds.
#[derive(Debug, Clone, Copy)]
pub enum LookTime {
    /// The time before the last event.
    Last(i64),
    /// Start and end. The start is never before that of an earlier look. Files are read up to the end.
    Slice(i64, i64),
}

/// A look at a time of the recordings.
pub struct Look {
    pub loaded: Loaded,
    /// Start of the first recording, microseconds.
    pub start_us: i64,
    /// Start of what the look shows, microseconds.
    pub from_us: i64,
    /// End of what the look shows, microseconds.
    pub to_us: i64,
    /// End of the last recording, microseconds.
    pub end_us: i64,
    /// When a recording last changed, by the clock of the file system.
    pub modified: Option<SystemTime>,
    /// Time since a recording last grew.
    pub silent: Duration,
    /// Time up to which all recordings that can grow have their samples, microseconds. Only a look for a slice
    /// tells. A thread that is blocked in a call keeps its samples until the call returns.
    pub flushed_us: i64,
    /// Count of the recordings that grow, or can grow.
    pub growing: usize,
    /// Count of all recordings, also of those without an event so far.
    pub recordings: usize,
}

/// A file that is looked at.
struct FollowedFile {
    path: PathBuf,
    /// Size at the last look, bytes.
    bytes: u64,
    kind: FileKind,
}

enum FileKind {
    Recording(Box<Followed>),
    /// The file has no events so far. It gets none when its process is gone.
    Unfinished {
        pid: Option<u32>,
    },
    /// The file cannot be followed, for this reason.
    Other(String),
}

/// A recording that is looked at.
struct Followed {
    head: RecordingHead,
    /// Time of the last event, microseconds.
    end_us: i64,
    /// Time up to which the file has all samples, as far as the last look for a slice knows, microseconds.
    flushed_us: i64,
    is_complete: bool,
    /// When the file last changed, by the clock of the file system.
    modified: SystemTime,
    /// When the recording was last seen to grow.
    grew: Option<Instant>,
    /// The last seconds; none for a recording that was not needed so far.
    trace: Option<RecentTrace>,
}

impl Follower {
    /// Looks at the files, and those in folders. `selection` chooses what of the time is shown.
    pub fn look(&mut self, paths: &[PathBuf], time: LookTime, selection: &Selection) -> Look {
        let (inputs, mut failed) = find(paths);
        let until_us = match time {
            LookTime::Last(_) => i64::MAX,
            LookTime::Slice(_, to_us) => to_us,
        };
        self.update(&inputs, until_us);
        let boot = self.newest_boot();
        let mut of_clock: Vec<(&Input, &mut Followed)> = Vec::new();
        let (mut others, mut unfinished, mut unfinished_alive) = (0, 0, 0);
        for (input, file) in inputs.iter().zip(&mut self.files) {
            match &mut file.kind {
                FileKind::Recording(one) if one.head.boot == boot => of_clock.push((input, one)),
                FileKind::Recording(_) => others += 1,
                FileKind::Other(reason) if input.is_named => {
                    failed.push(Failed { path: input.path.clone(), reason: reason.clone() });
                }
                FileKind::Unfinished { pid } => {
                    unfinished += 1;
                    unfinished_alive += usize::from(pid.is_some_and(is_process_alive));
                }
                FileKind::Other(_) => {}
            }
        }
        let start_us = of_clock.iter().map(|(_, one)| one.head.start_us).min().unwrap_or(0);
        let end_us = of_clock.iter().map(|(_, one)| one.end_us).max().unwrap_or(0);
        let (from_us, to_us) = match time {
            LookTime::Last(length_us) => (end_us.saturating_sub(length_us).max(start_us), end_us),
            LookTime::Slice(from_us, to_us) => (from_us, to_us),
        };
        let growing = of_clock.iter().filter(|(_, one)| one.can_grow());
        let flushed_us = growing.clone().map(|(_, one)| one.flushed_us).min().unwrap_or(end_us);
        let growing = unfinished_alive + growing.count();
        let modified = of_clock.iter().map(|(_, one)| one.modified).max();
        let recordings = unfinished + of_clock.len();
        let mut slices = Vec::new();
        for (input, recording) in of_clock {
            match recording.look(input, from_us, to_us, until_us) {
                Ok(slice) => slices.extend(slice.map(|slice| (input, slice))),
                Err(error) => failed.push(Failed {
                    path: input.path.clone(),
                    reason: format!("the file cannot be read: {error}"),
                }),
            }
        }
        let originals = self.originals.get_or_insert_with(|| selection.originals());
        let mut loaded = selection.of_slices(slices, originals);
        loaded.failed.extend(failed);
        if others > 0 {
            loaded.notes.push(format!(
                "left out {others} recordings of other machines, or from before a restart"
            ));
        }
        self.last_from_us = from_us;
        let silent = self.silent(end_us, modified);
        Look {
            loaded,
            start_us,
            from_us,
            to_us,
            end_us,
            modified,
            silent,
            flushed_us,
            growing,
            recordings,
        }
    }

    /// Reads what is new of all files, up to a time, microseconds.
    fn update(&mut self, inputs: &[Input], until_us: i64) {
        let known = mem::take(&mut self.files).into_iter();
        let mut known: FxHashMap<PathBuf, FollowedFile> =
            known.map(|file| (file.path.clone(), file)).collect();
        for input in inputs {
            let kind = match known.remove(&input.path) {
                Some(FollowedFile { bytes, kind, .. }) => {
                    kind.update(input, bytes, self.last_from_us, until_us)
                }
                None => FileKind::of(input),
            };
            self.files.push(FollowedFile { path: input.path.clone(), bytes: input.bytes, kind });
        }
    }

    /// Returns the start of the system of the recording that changed last: times of different clocks have
    /// no order.
    fn newest_boot(&self) -> Option<String> {
        let recordings = self.files.iter().filter_map(|file| match &file.kind {
            FileKind::Recording(recording) => Some(recording),
            _ => None,
        });
        recordings.max_by_key(|recording| recording.modified)?.head.boot.clone()
    }

    /// Returns the time since the end was first seen. `modified` is the time of the last change.
    fn silent(&mut self, to_us: i64, modified: Option<SystemTime>) -> Duration {
        match self.newest {
            Some((known_us, since)) if known_us == to_us => since.elapsed(),
            before => {
                let now = Instant::now();
                let age = modified.and_then(|modified| modified.elapsed().ok());
                let since = age.filter(|_| before.is_none()).and_then(|age| now.checked_sub(age));
                self.newest = Some((to_us, since.unwrap_or(now)));
                since.map_or(Duration::ZERO, |since| now - since)
            }
        }
    }
}

impl FileKind {
    /// Reads the head of a file.
    fn of(input: &Input) -> Self {
        match RecordingHead::of(input) {
            Ok(FoundHead::Recording(head)) => Self::Recording(Box::new(Followed::of(input, head))),
            Ok(FoundHead::Unfinished { pid }) => Self::Unfinished { pid },
            Ok(FoundHead::Other(reason)) => Self::Other(reason.to_owned()),
            Err(error) => Self::Other(format!("the file cannot be read: {error}")),
        }
    }

    /// Reads what is new of a file that had a size before, bytes.
    fn update(self, input: &Input, bytes: u64, from_us: i64, until_us: i64) -> Self {
        let has_changed = bytes != input.bytes;
        match self {
            Self::Recording(mut recording)
                if has_changed || !recording.is_complete || until_us < i64::MAX =>
            {
                match recording.update(input, from_us, until_us) {
                    Ok(()) => Self::Recording(recording),
                    Err(AppendError::Replaced) => Self::of(input),
                    Err(AppendError::Io(_)) => Self::Recording(recording),
                }
            }
            Self::Other(_) | Self::Unfinished { .. } if has_changed => Self::of(input),
            same => same,
        }
    }
}

impl Followed {
    fn of(input: &Input, head: RecordingHead) -> Self {
        let FileEnd { last_us, flushed_us, ending } = end_of(input);
        Self {
            end_us: last_us.unwrap_or(head.start_us).max(head.start_us),
            flushed_us: flushed_us.unwrap_or(head.start_us),
            is_complete: ending.is_some(),
            modified: modified(input),
            grew: None,
            trace: None,
            head,
        }
    }

    /// Reads what is new, up to a time, microseconds.
    fn update(&mut self, input: &Input, from_us: i64, until_us: i64) -> Result<(), AppendError> {
        let before_us = self.end_us;
        if let Some(trace) = &mut self.trace {
            trace.read(input, from_us, until_us)?;
        }
        match &self.trace {
            Some(trace) if until_us == i64::MAX => {
                (self.end_us, self.is_complete) = (trace.end_us, trace.is_complete);
            }
            _ => {
                let FileEnd { last_us, flushed_us, ending } = end_of(input);
                self.end_us = last_us.unwrap_or(self.end_us);
                self.flushed_us = flushed_us.unwrap_or(self.flushed_us);
                self.is_complete = ending.is_some();
            }
        }
        if self.end_us != before_us {
            self.modified = modified(input);
            self.grew = Some(Instant::now());
        }
        Ok(())
    }

    /// Returns whether the recording grows, or can grow.
    fn can_grow(&self) -> bool {
        let is_alive = || self.head.pid.is_some_and(is_process_alive);
        !self.is_complete && (self.grew.is_some_and(|grew| grew.elapsed() < QUIET) || is_alive())
    }

    /// Returns what the recording has of a time, microseconds; none if the recording ended before.
    fn look(
        &mut self,
        input: &Input,
        from_us: i64,
        to_us: i64,
        until_us: i64,
    ) -> io::Result<Option<ReadFile>> {
        if self.end_us <= from_us {
            self.trace = None;
            return Ok(None);
        }
        let trace = match self.trace.take().filter(|trace| trace.reaches(from_us)) {
            Some(trace) => trace,
            None => {
                let mut trace = RecentTrace::of(input, self.head.clone())?;
                match trace.read(input, from_us, until_us) {
                    Err(AppendError::Io(error)) => return Err(error),
                    // The next look finds the other file.
                    Err(AppendError::Replaced) => return Ok(None),
                    Ok(()) => trace,
                }
            }
        };
        Ok(Some(self.trace.insert(trace).look(from_us, to_us)))
    }
}

/// Returns when a file last changed.
fn modified(input: &Input) -> SystemTime {
    let modified = fs::metadata(&input.path).and_then(|metadata| metadata.modified());
    modified.unwrap_or(SystemTime::UNIX_EPOCH)
}
