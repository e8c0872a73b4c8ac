//! A window that moves over a file, and JSON's strings and brackets in it.

use std::io::{self, Read};
use std::mem;

use memchr::{memchr2, memchr3};

use super::{MAX_VALUE_BYTES, ROOM, ScanError};

/// Where a value ends.
pub(super) enum ValueEnd {
    /// After so many bytes.
    At(usize),
    /// Nowhere: something stands in it that cannot be.
    Broken,
    /// Nowhere: the file ends before.
    Cut,
}

/// A window that moves over the file.
#[derive(Debug)]
pub(super) struct TextBuffer<R> {
    reader: R,
    /// What was read, and room for more.
    pub bytes: Vec<u8>,
    /// What is not taken yet is `bytes[start..end]`.
    pub start: usize,
    end: usize,
    /// Whether there was anything at all.
    has_read: bool,
    /// Whether a compressed file ended before its end.
    pub is_cut: bool,
}

impl<R: Read> TextBuffer<R> {
    /// Nothing is read yet.
    pub(super) fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), start: 0, end: 0, has_read: false, is_cut: false }
    }

    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(super) fn take(&mut self, length: usize) {
        self.start += length;
    }

    /// The first byte that is no white space.
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

    /// The byte at a place after `start`.
    pub(super) fn byte(&mut self, at: usize) -> Result<Option<u8>, ScanError> {
        self.need(at + 1)?;
        Ok(self.rest().get(at).copied())
    }

    /// Reads until there are so many bytes, if the file has them.
    pub(super) fn need(&mut self, length: usize) -> Result<(), ScanError> {
        while self.end - self.start < length && self.fill()? {}
        Ok(())
    }

    /// Reads on. False at the end of the file.
    pub(super) fn fill(&mut self) -> Result<bool, ScanError> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // One unusually large event must not be paid for ever after.
        if self.bytes.len() > ROOM && self.end < ROOM / 2 {
            self.bytes.truncate(ROOM);
            self.bytes.shrink_to(ROOM);
        }
        if self.end == self.bytes.len() {
            if self.end >= MAX_VALUE_BYTES {
                return Err(ScanError::TooLarge);
            }
            self.bytes.resize((2 * self.end).clamp(ROOM, MAX_VALUE_BYTES), 0);
        }
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

    /// The length of an event of ours, which ends with its line.
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

    /// The length of the value that begins at `from`.
    pub(super) fn value_end(&mut self, from: usize) -> Result<ValueEnd, ScanError> {
        let mut shape = Shape::default();
        let mut seen = from;
        loop {
            let step = shape.follow(self.rest().get(seen..).unwrap_or_default());
            match step {
                Step::End(length) => return Ok(ValueEnd::At(seen + length - from)),
                Step::Broken => return Ok(ValueEnd::Broken),
                Step::More => {
                    seen = self.rest().len().max(seen);
                    if !self.fill()? {
                        return Ok(ValueEnd::Cut);
                    }
                }
            }
        }
    }
}

/// Whether the error is the file's, of which the beginning is good, and not the system's.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}

/// Follows a JSON value through its strings and brackets, piece by piece.
#[derive(Debug, Default)]
struct Shape {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    in_word: bool,
}

enum Step {
    More,
    /// The value ends after so many bytes of this piece.
    End(usize),
    Broken,
}

impl Shape {
    fn follow(&mut self, bytes: &[u8]) -> Step {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                if mem::take(&mut self.is_escaped) {
                    at += 1;
                    continue;
                }
                match memchr3(b'"', b'\\', b'\n', &bytes[at..]) {
                    None => return Step::More,
                    Some(found) => at += found + 1,
                }
                match bytes[at - 1] {
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Step::End(at);
                        }
                    }
                    b'\\' => self.is_escaped = true,
                    // A string has no raw line end: it was cut, and something else follows.
                    _ => return Step::Broken,
                }
                continue;
            }
            match KIND[bytes[at] as usize] {
                ByteClass::Other => {
                    if self.depth == 0 {
                        self.in_word = true;
                    }
                }
                ByteClass::Quote if self.in_word => return Step::End(at),
                ByteClass::Quote => self.in_string = true,
                ByteClass::Open => self.depth += 1,
                ByteClass::Close if self.depth == 0 => {
                    return if self.in_word { Step::End(at) } else { Step::Broken };
                }
                ByteClass::Close => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Step::End(at + 1);
                    }
                }
                ByteClass::Between if self.depth == 0 => {
                    return if self.in_word { Step::End(at) } else { Step::Broken };
                }
                ByteClass::Between => {}
                ByteClass::Never => return Step::Broken,
            }
            at += 1;
        }
        Step::More
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Other,
    Quote,
    Open,
    Close,
    /// White space and commas.
    Between,
    /// What no JSON has outside of strings.
    Never,
}

const KIND: [ByteClass; 256] = {
    let mut kinds = [ByteClass::Other; 256];
    let mut byte = 0;
    while byte < 0x20 {
        kinds[byte] = ByteClass::Never;
        byte += 1;
    }
    kinds[b'"' as usize] = ByteClass::Quote;
    kinds[b'{' as usize] = ByteClass::Open;
    kinds[b'[' as usize] = ByteClass::Open;
    kinds[b'}' as usize] = ByteClass::Close;
    kinds[b']' as usize] = ByteClass::Close;
    kinds[b',' as usize] = ByteClass::Between;
    kinds[b' ' as usize] = ByteClass::Between;
    kinds[b'\t' as usize] = ByteClass::Between;
    kinds[b'\r' as usize] = ByteClass::Between;
    kinds[b'\n' as usize] = ByteClass::Between;
    kinds
};
