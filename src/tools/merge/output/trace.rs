//! The file that a merge writes.

use std::io::Write;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::slice::OutputSlice;
use crate::merge::result::MergeError;
use cpu_prof_core::files::atomic::{AtomicFile, keep};
use cpu_prof_core::files::spool::Spool;
use cpu_prof_core::format::trace::lines::SEPARATOR;
use cpu_prof_core::format::trace::ours::MERGED_HEAD;

/// A trace that is being written.
pub struct OutputTrace {
    file: AtomicFile,
    /// Slice of the time that goes into the trace.
    pub slice: OutputSlice,
    has_events: bool,
    /// First and last time, microseconds, of each process with events in the trace, by the pid there.
    pub pids: FxHashMap<u32, (i64, i64)>,
}

impl OutputTrace {
    /// Begins a trace beside `path`.
    pub(super) fn create(path: &Path, slice: OutputSlice) -> Result<Self, MergeError> {
        let file = AtomicFile::create(path)?;
        let mut trace = Self { file, slice, has_events: false, pids: FxHashMap::default() };
        trace.write(MERGED_HEAD)?;
        Ok(trace)
    }

    /// Appends an event, or several with separators between them.
    pub fn events(&mut self, events: &[u8]) -> Result<(), MergeError> {
        if std::mem::replace(&mut self.has_events, true) {
            self.write(SEPARATOR)?;
        }
        self.write(events)
    }

    /// Notes that a process has an event at this time.
    pub fn note(&mut self, pid: u32, ts: i64) {
        self.note_span(pid, ts, ts);
    }

    /// Notes that a process has an event between these times.
    pub(crate) fn note_span(&mut self, pid: u32, from_us: i64, to_us: i64) {
        let (first, last) = self.pids.entry(pid).or_insert((from_us, to_us));
        *first = from_us.min(*first);
        *last = to_us.max(*last);
    }

    /// Returns the first and the last time of the processes that `is_included` accepts.
    pub fn range(&self, is_included: impl Fn(u32) -> bool) -> Option<(i64, i64)> {
        let ranges =
            self.pids.iter().filter(|(pid, _)| is_included(**pid)).map(|(_, range)| *range);
        ranges.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))
    }

    /// Appends text without a separator.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let written = self.file.write_all(bytes);
        Ok(written.map_err(|source| self.file.error(source))?)
    }

    /// Appends the contents of a spool.
    pub(super) fn copy(&mut self, spool: &mut Spool) -> Result<(), MergeError> {
        Ok(spool.copy_to(&mut self.file)?)
    }

    /// Writes the rest, and moves the file to `path`. Returns the file and its size: bytes, uncompressed.
    pub fn keep(self, path: &Path) -> Result<(Vec<PathBuf>, u64), MergeError> {
        let file = self.file.finish()?;
        let bytes = file.bytes;
        Ok((keep(vec![(file, path.to_owned())])?, bytes))
    }
}
