//! The files that a merge writes.

use std::io::Write;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::MergeError;
use super::slices::OutputSlices;
use crate::base::event_lines::SEPARATOR;
use crate::files::atomic::{AtomicFile, Spool, WholeFile};

/// The first member tells the scanner that one event stands in one line. The metadata comes last,
/// for what is in it is only known then.
const HEAD: &[u8] = b"{\"source\":\"cpu-prof\",\"traceEvents\":[\n";

/// All files of a merge, each for a stretch of time.
pub(super) struct OutputParts {
    /// Which is for what time.
    pub windows: OutputSlices,
    /// In the order of their times.
    pub list: Vec<OutputPart>,
}

impl OutputParts {
    /// Begins a file for each window, at `path` or beside it.
    pub(super) fn create(path: &Path, windows: OutputSlices) -> Result<Self, MergeError> {
        let list =
            (0..windows.count()).map(|_| OutputPart::create(path)).collect::<Result<_, _>>()?;
        Ok(Self { windows, list })
    }

    /// The file for this time.
    pub(super) fn at(&mut self, ts: i64) -> Option<&mut OutputPart> {
        let index = self.windows.part(ts)?;
        self.list.get_mut(index)
    }
}

/// A file on its way.
pub(super) struct OutputPart {
    file: AtomicFile,
    has_events: bool,
    /// The processes that have something in it, by their pids in the trace: from when, until when,
    /// microseconds.
    pub pids: FxHashMap<u32, (i64, i64)>,
}

impl OutputPart {
    fn create(path: &Path) -> Result<Self, MergeError> {
        let file = AtomicFile::create(path)?;
        let mut part = Self { file, has_events: false, pids: FxHashMap::default() };
        part.write(HEAD)?;
        Ok(part)
    }

    /// Appends one event, or several with separators between them.
    pub(super) fn events(&mut self, events: &[u8]) -> Result<(), MergeError> {
        if std::mem::replace(&mut self.has_events, true) {
            self.write(SEPARATOR)?;
        }
        self.write(events)
    }

    /// Notes that a process has something at this time.
    pub(super) fn note(&mut self, pid: u32, ts: i64) {
        let (first, last) = self.pids.entry(pid).or_insert((ts, ts));
        *first = ts.min(*first);
        *last = ts.max(*last);
    }

    /// The earliest and the latest time of some processes.
    pub(super) fn range(&self, is_meant: impl Fn(u32) -> bool) -> Option<(i64, i64)> {
        let ranges = self.pids.iter().filter(|(pid, _)| is_meant(**pid)).map(|(_, range)| *range);
        ranges.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))
    }

    /// Appends text as it is.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), MergeError> {
        let written = self.file.write_all(bytes);
        Ok(written.map_err(|source| self.file.error(source))?)
    }

    /// Appends what is in a spool.
    pub(super) fn copy(&mut self, spool: &mut Spool) -> Result<(), MergeError> {
        Ok(spool.copy_to(&mut self.file)?)
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<WholeFile, MergeError> {
        Ok(self.file.finish()?)
    }
}
