//! The files that a merge writes: one, or several parts, each for a slice of the time.

use std::io::{self, Write};
use std::path::Path;

use rustc_hash::FxHashMap;

use super::slices::OutputSlices;
use crate::merge::result::MergeError;
use cpu_prof_core::files::atomic::{AtomicFile, WholeFile};
use cpu_prof_core::files::spool::Spool;
use cpu_prof_core::format::trace::lines::SEPARATOR;
use cpu_prof_core::format::trace::ours::MERGED_HEAD;

/// All parts of a merge.
pub(crate) struct OutputParts {
    /// Slices of the time, one a part.
    pub slices: OutputSlices,
    /// Parts in the order of their slices.
    pub list: Vec<OutputPart>,
}

impl OutputParts {
    /// Begins a part for each slice, beside `path`.
    pub(crate) fn create(path: &Path, slices: OutputSlices) -> Result<Self, MergeError> {
        let mut list = Vec::with_capacity(slices.count());
        for _ in 0..slices.count() {
            let part = OutputPart::create(path)?;
            if slices.count() > 1 && part.is_written_through() {
                let source = io::Error::other("a pipe or a device takes one file, without split");
                return Err(part.file.error(source).into());
            }
            list.push(part);
        }
        Ok(Self { slices, list })
    }

    /// Returns the sizes of the parts so far: bytes, uncompressed.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        self.list.iter().map(|part| part.file.bytes()).collect()
    }

    /// Returns whether a part goes into a pipe or a device at once.
    pub(crate) fn are_written_through(&self) -> bool {
        self.list.iter().any(OutputPart::is_written_through)
    }

    /// Returns the part for a time; none if the time is outside of all slices.
    pub(crate) fn at(&mut self, ts: i64) -> Option<&mut OutputPart> {
        let index = self.slices.part(ts)?;
        self.list.get_mut(index)
    }
}

/// A file that is being written.
pub(crate) struct OutputPart {
    file: AtomicFile,
    has_events: bool,
    /// First and last time, microseconds, of each process with events in the part, by the pid in
    /// the trace.
    pub pids: FxHashMap<u32, (i64, i64)>,
}

impl OutputPart {
    fn create(path: &Path) -> Result<Self, MergeError> {
        let file = AtomicFile::create(path)?;
        let mut part = Self { file, has_events: false, pids: FxHashMap::default() };
        part.write(MERGED_HEAD)?;
        Ok(part)
    }

    /// Appends an event, or several with separators between them.
    pub(crate) fn events(&mut self, events: &[u8]) -> Result<(), MergeError> {
        if std::mem::replace(&mut self.has_events, true) {
            self.write(SEPARATOR)?;
        }
        self.write(events)
    }

    /// Notes that a process has an event at this time.
    pub(crate) fn note(&mut self, pid: u32, ts: i64) {
        self.note_span(pid, ts, ts);
    }

    /// Notes that a process has an event between these times.
    pub(crate) fn note_span(&mut self, pid: u32, from_us: i64, to_us: i64) {
        let (first, last) = self.pids.entry(pid).or_insert((from_us, to_us));
        *first = from_us.min(*first);
        *last = to_us.max(*last);
    }

    /// Returns the first and the last time of the processes that `is_included` accepts.
    pub(crate) fn range(&self, is_included: impl Fn(u32) -> bool) -> Option<(i64, i64)> {
        let ranges =
            self.pids.iter().filter(|(pid, _)| is_included(**pid)).map(|(_, range)| *range);
        ranges.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))
    }

    /// Returns whether the part goes into a pipe or a device at once.
    fn is_written_through(&self) -> bool {
        self.file.is_written_through()
    }

    /// Appends text without a separator.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let written = self.file.write_all(bytes);
        Ok(written.map_err(|source| self.file.error(source))?)
    }

    /// Appends the contents of a spool.
    pub(super) fn copy(&mut self, spool: &mut Spool) -> Result<(), MergeError> {
        Ok(spool.copy_to(&mut self.file)?)
    }

    /// Writes the rest, and closes the file.
    pub(crate) fn finish(self) -> Result<WholeFile, MergeError> {
        Ok(self.file.finish()?)
    }
}
