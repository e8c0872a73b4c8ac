//! The text of a file on its way to a parser: counts lines, and finds bytes that are not UTF-8.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;
use std::str;

use cpu_prof_core::files::input::first_bytes;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct TextPosition {
    /// Line, from 0.
    line: Cell<usize>,
    /// Whether the last byte was a line end.
    is_at_start: Cell<bool>,
    /// Bytes since `begin_item`.
    item_bytes: Cell<usize>,
    fault: Cell<Option<TextFault>>,
}

/// Why the text ends before its file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFault {
    /// The next bytes are not UTF-8.
    NotUtf8,
    /// An item is larger than the tools of this project read.
    TooLarge,
    /// The file cannot be read, or its compressed data is damaged.
    Io,
}

impl TextPosition {
    /// Returns the line, from 1.
    pub(super) fn line(&self) -> usize {
        self.line.get() + 1
    }

    /// Returns the line in which a value ends that was just read. A parser reads one byte more to find
    /// the end of a number.
    pub(super) fn line_of_end(&self, value: &str) -> usize {
        let is_number = value.ends_with(|last: char| last.is_ascii_digit());
        self.line() - usize::from(is_number && self.is_at_start.get())
    }

    /// Begins an item, whose size is limited.
    pub(super) fn begin_item(&self) {
        self.item_bytes.set(0);
    }

    /// Returns why the text has ended early, if it has.
    pub(super) fn fault(&self) -> Option<TextFault> {
        self.fault.get()
    }
}

/// Reads a text, and gives it away as long as it is UTF-8.
pub(super) struct StrictText<R> {
    reader: R,
    position: Rc<TextPosition>,
    /// Limit of an item's size, bytes.
    most: usize,
    bytes: Box<[u8]>,
    /// The part of the bytes that is UTF-8 and was not given away.
    start: usize,
    valid_end: usize,
    /// End of the bytes that were read. The bytes behind `valid_end` are the start of a character.
    end: usize,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the text of a file, without a mark of its byte order.
pub(super) fn strict_text(
    file: impl Read,
    most: usize,
    position: Rc<TextPosition>,
) -> io::Result<StrictText<impl Read>> {
    const BUFFER_BYTES: usize = 64 << 10;
    let (mut start, rest) = first_bytes(file, BYTE_ORDER_MARK.len())?;
    if start == BYTE_ORDER_MARK {
        start.clear();
    }
    let reader = Cursor::new(start).chain(rest);
    let bytes = vec![0; BUFFER_BYTES].into_boxed_slice();
    Ok(StrictText { reader, position, most, bytes, start: 0, valid_end: 0, end: 0 })
}

impl<R: Read> StrictText<R> {
    /// Finds the end of the valid text.
    fn validate(&mut self) {
        match str::from_utf8(&self.bytes[self.valid_end..self.end]) {
            Ok(_) => self.valid_end = self.end,
            Err(error) => {
                self.valid_end += error.valid_up_to();
                // Without a length, the next bytes can complete the character.
                if error.error_len().is_some() {
                    self.end = self.valid_end;
                    self.position.fault.set(Some(TextFault::NotUtf8));
                }
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.bytes.copy_within(self.valid_end..self.end, 0);
        (self.start, self.end, self.valid_end) = (0, self.end - self.valid_end, 0);
        let length = loop {
            match self.reader.read(&mut self.bytes[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        if length == 0 && self.end > 0 {
            self.position.fault.set(Some(TextFault::NotUtf8));
        }
        self.end += length;
        self.validate();
        Ok(())
    }

    fn next(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.start == self.valid_end {
            if self.position.fault().is_some() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let before = self.end;
            self.fill()?;
            if self.end == 0 && before == self.valid_end {
                return Ok(0);
            }
        }
        let length = out.len().min(self.valid_end - self.start);
        let given = &self.bytes[self.start..self.start + length];
        out[..length].copy_from_slice(given);
        self.start += length;
        let position = &self.position;
        let lines = given.iter().filter(|byte| **byte == b'\n').count();
        position.line.set(position.line.get() + lines);
        position.is_at_start.set(given.ends_with(b"\n"));
        position.item_bytes.set(position.item_bytes.get() + length);
        if position.item_bytes.get() > self.most {
            position.fault.set(Some(TextFault::TooLarge));
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(length)
    }
}

impl<R: Read> Read for StrictText<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.next(out);
        if read.is_err() && self.position.fault().is_none() {
            self.position.fault.set(Some(TextFault::Io));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::reader::Pieces;
    use proptest::prelude::*;

    fn read(bytes: &[u8], piece: usize, most: usize) -> (Vec<u8>, usize, Option<TextFault>) {
        let position = Rc::new(TextPosition::default());
        let mut text = strict_text(Pieces(bytes, piece), most, Rc::clone(&position)).unwrap();
        let mut out = Vec::new();
        let _ = text.read_to_end(&mut out);
        (out, position.line(), position.fault())
    }

    #[test]
    fn text_ends_before_what_is_not_text() {
        assert_eq!(read("\u{feff}aü\nb".as_bytes(), 1, 99), ("aü\nb".into(), 2, None));
        let bad = Some(TextFault::NotUtf8);
        assert_eq!(read(b"a\n\xffb", 99, 99), (b"a\n".to_vec(), 2, bad));
        assert_eq!(read(b"a\xc3", 1, 99), (b"a".to_vec(), 1, bad));
        assert_eq!(read(b"", 1, 9), (vec![], 1, None));
        assert_eq!(read(&[b'a'; 99], 1, 9).2, Some(TextFault::TooLarge));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes: Vec<u8>, text: String, piece in 1_usize..9) {
            for bytes in [&bytes[..], text.as_bytes()] {
                let whole = read(bytes, usize::MAX, usize::MAX);
                prop_assert_eq!(&read(bytes, piece, usize::MAX), &whole);
                let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
                match str::from_utf8(text) {
                    Ok(text) => prop_assert_eq!((&*whole.0, whole.2), (text.as_bytes(), None)),
                    Err(error) => {
                        prop_assert_eq!(&*whole.0, &text[..error.valid_up_to()]);
                        prop_assert_eq!(whole.2, Some(TextFault::NotUtf8));
                    }
                }
            }
        }
    }
}
