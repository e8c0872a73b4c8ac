//! Reads what was appended to a growing trace since the last look.
//!
//! The recorder replaces the last events of a file: a flush begins where the events of the one before
//! end that stay (`record/files/live_file.rs`). No mark tells them apart. What stands before the
//! heartbeat of a window stays, and so does all that is far from the end of the file. The rest is read
//! again at each look.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use cpu_prof_core::base::system::files::{FileId, identify};
use cpu_prof_core::base::system::regular_file;
use cpu_prof_session::formats::trace::event::head::EventHead;

/// The start of a heartbeat.
const HEARTBEAT: &[u8] =
    br#"{"cat":"disabled-by-default-devtools.timeline","name":"thread.flush","#;

/// What only the heartbeat of a window has.
const OF_WINDOW: &[u8] = br#""pauseUs":"#;

/// The most bytes that a flush replaces: a few short events.
const MAX_REPLACED: usize = 64 << 10;

/// Bytes that are kept although no heartbeat came, until all but the last are taken as such that stay.
const MAX_UNSETTLED: usize = 256 << 10;

/// The most bytes of a line, as a guard against a file that has no lines.
const MAX_LINE: usize = 64 << 20;

/// Bytes that are read at once.
const PIECE: u64 = 256 << 10;

/// Bytes by which a file is recognized.
const ANCHOR: usize = 64;

/// Lines of a trace that stay as they are.
#[derive(Debug)]
pub(super) struct SettledLines {
    pub text: Vec<u8>,
    /// Time of the last event, microseconds.
    pub until_us: i64,
}

/// What was appended to one file.
#[derive(Debug)]
pub(super) struct AppendedText {
    id: FileId,
    /// Position in the file up to which all lines are settled, bytes.
    settled: u64,
    /// Bytes before `settled`.
    anchor: Vec<u8>,
    /// Time of the last settled event, microseconds.
    until_us: i64,
    /// Text behind `settled`, as far as the last look has read.
    pub tail: Vec<u8>,
    /// Length of the lines of the tail that were looked at, bytes.
    seen: usize,
}

/// Why the rest of a file cannot be read.
#[derive(Debug)]
pub(super) enum AppendError {
    /// Another file has the name, or the file was written anew.
    Replaced,
    Io(io::Error),
}

impl From<io::Error> for AppendError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl AppendedText {
    /// Returns what follows after the head of a file, whose last event has this time: microseconds.
    pub(super) fn after(file: &File, head: &[u8], until_us: i64) -> io::Result<Self> {
        let anchor = head[head.len().saturating_sub(ANCHOR)..].to_vec();
        let (id, settled) = (identify(file)?.0, head.len() as u64);
        Ok(Self { id, settled, anchor, until_us, tail: Vec::new(), seen: 0 })
    }

    /// Opens the file to read what is not settled.
    pub(super) fn open(&mut self, path: &Path) -> Result<File, AppendError> {
        (self.seen, self.tail) = (0, Vec::new());
        let mut file = regular_file::open(path)?;
        let (id, length) = identify(&file)?;
        if id != self.id || length < self.settled {
            return Err(AppendError::Replaced);
        }
        file.seek(SeekFrom::Start(self.settled - self.anchor.len() as u64))?;
        let mut before = vec![0; self.anchor.len()];
        file.read_exact(&mut before)?;
        if before != self.anchor {
            return Err(AppendError::Replaced);
        }
        Ok(file)
    }

    /// Reads the next piece of the file. Adds the lines that are settled from now on to a list. Returns
    /// false at the end of the file.
    pub(super) fn piece(
        &mut self,
        file: &mut File,
        lines: &mut VecDeque<SettledLines>,
    ) -> Result<bool, AppendError> {
        let Some(length) = read_unchanged(file, &mut self.tail)? else {
            return Ok(false);
        };
        self.settle(lines);
        if self.tail.len() > MAX_UNSETTLED + MAX_LINE {
            return Err(AppendError::Io(io::Error::other("a line of it is too long")));
        }
        Ok(length > 0)
    }

    /// Moves the lines that stay out of the tail.
    fn settle(&mut self, lines: &mut VecDeque<SettledLines>) {
        let mut settled = 0;
        // A network drive can show the end of a write before its beginning, as bytes of 0.
        let written = memchr::memchr(0, &self.tail[self.seen..]);
        let end = written.map_or(self.tail.len(), |length| self.seen + length);
        while let Some(length) = memchr::memchr(b'\n', &self.tail[self.seen..end]) {
            let line = &self.tail[self.seen..=self.seen + length];
            self.seen += line.len();
            if line.starts_with(HEARTBEAT) && line.ends_with(b"},\n") {
                let event = &line[..line.len() - 2];
                if memchr::memmem::find(event, OF_WINDOW).is_some() {
                    self.until_us = last_us(event).unwrap_or(0).max(self.until_us);
                    let text = self.tail[settled..self.seen].to_vec();
                    lines.push_back(SettledLines { text, until_us: self.until_us });
                    settled = self.seen;
                }
            }
        }
        if self.tail.len() - settled > MAX_UNSETTLED {
            let end = self.tail.len() - MAX_REPLACED;
            if let Some(line_end) = memchr::memrchr(b'\n', &self.tail[settled..end]) {
                let text = self.tail[settled..=settled + line_end].to_vec();
                let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next();
                self.until_us = last.and_then(last_us).unwrap_or(0).max(self.until_us);
                settled += text.len();
                lines.push_back(SettledLines { text, until_us: self.until_us });
            }
        }
        if settled > 0 {
            let from = settled.saturating_sub(ANCHOR);
            self.anchor = self.tail[from..settled].to_vec();
            self.settled += settled as u64;
            self.tail.drain(..settled);
            self.seen = self.seen.saturating_sub(settled);
        }
    }
}

/// Adds the next piece of a file to a text, and returns the length of the piece. Returns none if the recorder
/// replaced the end of the file meanwhile: half of the old end and half of the new one are no events.
fn read_unchanged(file: &mut (impl Read + Seek), text: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let (before, position) = (text.len(), file.stream_position()?);
    let length = file.by_ref().take(PIECE).read_to_end(text)?;
    if length as u64 == PIECE {
        return Ok(Some(length));
    }
    file.seek(SeekFrom::Start(position))?;
    let mut again = Vec::with_capacity(length);
    file.by_ref().take(length as u64).read_to_end(&mut again)?;
    if again == text[before..] {
        return Ok(Some(length));
    }
    text.truncate(before);
    Ok(None)
}

/// Returns the time of an event with or without a comma behind, microseconds.
fn last_us(event: &[u8]) -> Option<i64> {
    let event = event.strip_suffix(b",").unwrap_or(event);
    EventHead::of_any(event)?.ts(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose end is replaced after some bytes were read.
    struct Replaced {
        old: &'static [u8],
        new: &'static [u8],
        position: usize,
        /// Bytes that can still be read of the old contents.
        old_left: usize,
    }

    impl Read for Replaced {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let contents = if self.old_left > 0 { self.old } else { self.new };
            let rest = contents.get(self.position..).unwrap_or_default();
            let length = rest.len().min(into.len()).min(8);
            into[..length].copy_from_slice(&rest[..length]);
            self.position += length;
            self.old_left = self.old_left.saturating_sub(length);
            Ok(length)
        }
    }

    impl Seek for Replaced {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            match to {
                SeekFrom::Start(position) => self.position = position as usize,
                SeekFrom::Current(0) => {}
                _ => return Err(io::Error::other("not needed")),
            }
            Ok(self.position as u64)
        }
    }

    #[test]
    fn an_end_that_is_replaced_meanwhile_is_read_at_the_next_look() {
        let old = b"{old event}\n{end}\n]}";
        let new = b"{a new event}\n{another}\n{end}\n]}";
        let mut file = Replaced { old, new, position: 0, old_left: 16 };
        let mut text = b"before".to_vec();
        assert_eq!(read_unchanged(&mut file, &mut text).unwrap(), None);
        assert_eq!(text, b"before");
        file.position = 0;
        assert_eq!(read_unchanged(&mut file, &mut text).unwrap(), Some(new.len()));
        assert_eq!(text, [b"before".as_slice(), new].concat());
        assert_eq!(read_unchanged(&mut file, &mut text).unwrap(), Some(0));
    }
}
