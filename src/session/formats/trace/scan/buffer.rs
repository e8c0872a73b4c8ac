//! A buffer that moves over a file, and finds the ends of lines and values.

use std::io::{self, Read};

use memchr::memchr2;

use super::error::{MAX_VALUE_BYTES, ScanError};
use super::value_shape::{PieceEnd, ValueShape};

/// The count of bytes that are read at once. The buffer is larger only while a value is.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// The end of a value or line.
pub(super) enum ValueEnd {
    /// The value ends after this count of bytes.
    At(usize),
    /// The value has bytes that it cannot have.
    Broken,
    /// The file ends before the value does.
    Cut,
}

/// A buffer that moves over the file.
#[derive(Debug)]
pub(super) struct TextBuffer<R> {
    reader: R,
    /// The bytes that were read, and space for more.
    pub bytes: Vec<u8>,
    /// Start of the bytes that are not consumed yet: `bytes[start..end]`.
    pub start: usize,
    end: usize,
    /// Whether anything was read.
    has_read: bool,
    /// Whether a compressed file ended too early.
    pub is_cut: bool,
}

impl<R: Read> TextBuffer<R> {
    /// Returns a buffer that has read nothing yet.
    pub(super) fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), start: 0, end: 0, has_read: false, is_cut: false }
    }

    /// Returns the bytes that are not consumed yet, as far as they are read.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Consumes bytes.
    pub(super) fn consume(&mut self, length: usize) {
        self.start += length;
    }

    /// Consumes white space. Returns the byte that follows; none at the end of the file.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ScanError> {
        loop {
            let rest = &self.bytes[self.start..self.end];
            match rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                Some(at) => {
                    self.start += at;
                    return Ok(Some(self.bytes[self.start]));
                }
                None => {
                    self.start = self.end;
                    if !self.fill()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Returns the byte at an offset from `start`; none behind the end of the file.
    pub(super) fn byte(&mut self, at: usize) -> Result<Option<u8>, ScanError> {
        self.need(at + 1)?;
        Ok(self.rest().get(at).copied())
    }

    /// Reads until the rest has this length, or the file ends.
    pub(super) fn need(&mut self, length: usize) -> Result<(), ScanError> {
        while self.end - self.start < length && self.fill()? {}
        Ok(())
    }

    /// Reads more. Returns false at the end of the file.
    pub(super) fn fill(&mut self) -> Result<bool, ScanError> {
        self.make_space()?;
        loop {
            match self.reader.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    self.end += length;
                    self.has_read = true;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_damage(&error) && self.has_read => {
                    self.is_cut = true;
                    return Ok(false);
                }
                Err(error) => return Err(ScanError::Io(error)),
            }
        }
    }

    /// Moves the rest to the front. Grows the buffer if that leaves no space, and shrinks it after a
    /// large value.
    fn make_space(&mut self) -> Result<(), ScanError> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() > BUFFER_BYTES && self.end < BUFFER_BYTES / 2 {
            self.bytes.truncate(BUFFER_BYTES);
            self.bytes.shrink_to(BUFFER_BYTES);
        }
        if self.end == self.bytes.len() {
            if self.end >= MAX_VALUE_BYTES {
                return Err(ScanError::TooLarge);
            }
            self.bytes.resize((2 * self.end).clamp(BUFFER_BYTES, MAX_VALUE_BYTES), 0);
        }
        Ok(())
    }

    /// Returns the length of an event of ours, which ends with its line.
    pub(super) fn line_end(&mut self) -> Result<ValueEnd, ScanError> {
        let mut seen = 0;
        loop {
            match memchr2(b'\n', 0, &self.rest()[seen..]) {
                Some(at) => {
                    let length = seen + at;
                    let line = &self.rest()[..=length];
                    return Ok(if line.ends_with(b"},\n") {
                        ValueEnd::At(length - 1)
                    } else if line.ends_with(b"}\n") {
                        ValueEnd::At(length)
                    } else {
                        ValueEnd::Broken
                    });
                }
                None => {
                    seen = self.rest().len();
                    if !self.fill()? {
                        return Ok(ValueEnd::Cut);
                    }
                }
            }
        }
    }

    /// Returns the length of the value at an offset from `start`.
    pub(super) fn value_end(&mut self, from: usize) -> Result<ValueEnd, ScanError> {
        let mut shape = ValueShape::default();
        let mut seen = from;
        loop {
            match shape.follow(self.rest().get(seen..).unwrap_or_default()) {
                PieceEnd::End(length) => return Ok(ValueEnd::At(seen + length - from)),
                PieceEnd::Broken => return Ok(ValueEnd::Broken),
                PieceEnd::More => {
                    seen = self.rest().len().max(seen);
                    if !self.fill()? {
                        return Ok(ValueEnd::Cut);
                    }
                }
            }
        }
    }
}

/// Returns whether the file is damaged, in contrast to an error of the system.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}
