//! A tolerant reader of Trace Event files of any size: piece by piece, whatever state they are in.
//!
//! It finds where each event begins and ends. In a file of our own, one event a line, it need only
//! look for the ends of lines; in any other it follows strings and brackets. What is inside of an
//! event is for others to judge.

mod text;

use std::io::{self, Read};
use std::{fmt, mem, str};

use self::text::{TextBuffer, ValueEnd};
use crate::format::trace::own;

/// An event, or a member of the file's object, may be as large as this.
pub(crate) const MAX_VALUE_BYTES: usize = 256 << 20;

/// How much is read at once, and kept when nothing is larger.
const ROOM: usize = 256 << 10;

/// The next thing in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    /// A whole event: an object's text, `{…}`.
    Event(&'a [u8]),
    /// A top-level member that is not the list of events.
    Member {
        /// Its name as it is written, without the quotes.
        key: &'a str,
        /// Its value's text.
        value: &'a [u8],
    },
}

/// Why a file cannot be read any further.
#[derive(Debug)]
pub(crate) enum ScanError {
    /// The system does not give it.
    Io(io::Error),
    /// There is nothing in it.
    Empty,
    /// It is no JSON object or array.
    NotJson,
    /// A single event or member is larger than [`MAX_VALUE_BYTES`].
    TooLarge,
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "it cannot be read: {source}"),
            Self::Empty => write!(f, "it is empty"),
            Self::NotJson => write!(f, "it is no JSON object or array, so no trace"),
            Self::TooLarge => {
                write!(f, "an event or a member of it is larger than {} MB", MAX_VALUE_BYTES >> 20)
            }
        }
    }
}

impl std::error::Error for ScanError {}

/// Reads a Trace Event file of any size, piece by piece, whatever state it is in.
///
/// The file may be an object (`{"traceEvents":[…]}`) or an array, be cut off anywhere, or have
/// holes: what is whole is given, the rest left out.
#[derive(Debug)]
pub(crate) struct Scanner<R> {
    text: TextBuffer<R>,
    place: Position,
    /// Whether a member was seen, and the first of them named us.
    has_begun: bool,
    /// One event a line, as we write it ourselves.
    is_own: bool,
    is_torn: bool,
}

/// Where the scanner stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Start,
    /// In the file's object, before a key or its end.
    Members,
    /// In the list of events; `in_object` when that is a member.
    Events {
        in_object: bool,
    },
    End,
}

impl<R: Read> Scanner<R> {
    /// Reads nothing yet.
    pub(crate) fn new(reader: R) -> Self {
        Self {
            text: TextBuffer::new(reader),
            place: Position::Start,
            has_begun: false,
            is_own: false,
            is_torn: false,
        }
    }

    /// The next thing in the file; none at its end. It is valid until the next call.
    #[allow(clippy::should_implement_trait)] // An iterator's items cannot be lent.
    pub(crate) fn next(&mut self) -> Result<Option<Item<'_>>, ScanError> {
        let found = loop {
            let found = match self.place {
                Position::Start => self.start(),
                Position::Members => self.member(),
                Position::Events { in_object } => self.event(in_object),
                Position::End => return Ok(None),
            };
            match found? {
                FoundItem::Nothing => {}
                found => break found,
            }
        };
        let bytes = &self.text.bytes;
        Ok(match found {
            FoundItem::Nothing => None,
            FoundItem::Event(event) => Some(Item::Event(&bytes[event.0..event.1])),
            FoundItem::Member { key, value } => Some(Item::Member {
                key: str::from_utf8(&bytes[key.0..key.1]).unwrap_or_default(),
                value: &bytes[value.0..value.1],
            }),
        })
    }

    /// Whether the file was cut off or torn, so that something had to be left out or added. Known
    /// at the end.
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Whether the events that come now are our own, one a line, and need no check.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    fn start(&mut self) -> Result<FoundItem, ScanError> {
        self.text.need(3)?;
        if self.text.rest().starts_with(b"\xef\xbb\xbf") {
            self.text.take(3);
        }
        match self.text.peek()? {
            Some(b'{') => {
                self.text.take(1);
                self.place = Position::Members;
            }
            Some(b'[') => {
                self.text.take(1);
                self.place = Position::Events { in_object: false };
            }
            Some(_) => return Err(ScanError::NotJson),
            None => return Err(ScanError::Empty),
        }
        Ok(FoundItem::Nothing)
    }

    /// `"key": value`, or the object's end.
    fn member(&mut self) -> Result<FoundItem, ScanError> {
        while self.text.peek()? == Some(b',') {
            self.text.take(1);
        }
        match self.text.peek()? {
            Some(b'"') => {}
            Some(b'}') => {
                self.place = Position::End;
                return Ok(FoundItem::Nothing);
            }
            _ => return Ok(self.tear()),
        }
        let ValueEnd::At(length) = self.text.value_end(0)? else { return Ok(self.tear()) };
        let key_length = length - 2;
        // The colon, and what is between it and the value.
        let mut at = length;
        let mut has_colon = false;
        loop {
            match self.text.byte(at)? {
                Some(b':') if !has_colon => has_colon = true,
                Some(b' ' | b'\t' | b'\r' | b'\n') => {}
                Some(_) if has_colon => break,
                _ => return Ok(self.tear()),
            }
            at += 1;
        }
        let is_list = &self.text.rest()[1..=key_length] == b"traceEvents";
        if is_list && self.text.byte(at)? == Some(b'[') {
            self.is_own &= self.text.byte(at + 1)? == Some(b'\n');
            self.is_own &= self.text.byte(at + 2)? == Some(b'{');
            self.text.take(at + 1);
            self.place = Position::Events { in_object: true };
            return Ok(FoundItem::Nothing);
        }
        let ValueEnd::At(value_length) = self.text.value_end(at)? else { return Ok(self.tear()) };
        let start = self.text.start;
        let found = FoundItem::Member {
            key: (start + 1, start + 1 + key_length),
            value: (start + at, start + at + value_length),
        };
        if !mem::replace(&mut self.has_begun, true) {
            let member = &self.text.rest()[..at + value_length];
            self.is_own = own::is_own(member);
        }
        self.text.take(at + value_length);
        Ok(found)
    }

    fn event(&mut self, in_object: bool) -> Result<FoundItem, ScanError> {
        loop {
            match self.text.peek()? {
                Some(b'{') => break,
                Some(b',') => self.text.take(1),
                Some(b']') => {
                    self.text.take(1);
                    self.is_own = false;
                    self.place = if in_object { Position::Members } else { Position::End };
                    return Ok(FoundItem::Nothing);
                }
                None => {
                    // A list may lack its end, says the format; an object may not.
                    self.is_torn |= in_object || self.text.is_cut;
                    self.place = Position::End;
                    return Ok(FoundItem::Nothing);
                }
                // No event, but what some writers put where one could be.
                Some(b'n' | b't' | b'f' | b'"' | b'-' | b'[' | b'0'..=b'9') => {
                    match self.text.value_end(0)? {
                        ValueEnd::At(length) => self.text.take(length),
                        ValueEnd::Broken | ValueEnd::Cut => self.find_next_line()?,
                    }
                    if self.place == Position::End {
                        return Ok(FoundItem::Nothing);
                    }
                }
                Some(_) => {
                    self.find_next_line()?;
                    if self.place == Position::End {
                        return Ok(FoundItem::Nothing);
                    }
                }
            }
        }
        if self.is_own {
            match self.text.line_end()? {
                ValueEnd::At(length) => return Ok(self.found_event(length)),
                ValueEnd::Broken => {
                    self.find_next_line()?;
                    return Ok(FoundItem::Nothing);
                }
                // The last line may be whole, and lack its end.
                ValueEnd::Cut => {}
            }
        }
        match self.text.value_end(0)? {
            ValueEnd::At(length) => Ok(self.found_event(length)),
            ValueEnd::Broken => {
                self.find_next_line()?;
                Ok(FoundItem::Nothing)
            }
            ValueEnd::Cut => Ok(self.tear()),
        }
    }

    fn found_event(&mut self, length: usize) -> FoundItem {
        let start = self.text.start;
        self.text.take(length);
        FoundItem::Event((start, start + length))
    }

    /// The file ends here, in the middle of something.
    fn tear(&mut self) -> FoundItem {
        self.is_torn = true;
        self.place = Position::End;
        FoundItem::Nothing
    }

    /// Leaves out what cannot be read, up to a line that begins as an event does.
    fn find_next_line(&mut self) -> Result<(), ScanError> {
        self.is_torn = true;
        loop {
            match memchr::memchr(b'\n', self.text.rest()) {
                Some(at) => {
                    self.text.take(at + 1);
                    self.text.need(2)?;
                    if self.text.rest().starts_with(b"{\"") {
                        return Ok(());
                    }
                }
                None => {
                    self.text.take(self.text.rest().len());
                    if !self.text.fill()? {
                        self.place = Position::End;
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Positions in the text's bytes.
#[derive(Debug)]
enum FoundItem {
    Nothing,
    Event((usize, usize)),
    Member { key: (usize, usize), value: (usize, usize) },
}

#[cfg(test)]
mod tests;
