//! Reads a Trace Event file item by item.

use std::io::Read;
use std::mem;
use std::ops::Range;
use std::str;

use super::buffer::{TextBuffer, ValueEnd};
use super::error::ScanError;
use crate::formats::trace::event::head::EventHead;
use cpu_prof_core::format::json_walk::{WalkError, Walked};
use cpu_prof_core::format::trace::ours;

/// An item of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A whole event: an object's text, `{…}`.
    Event(&'a [u8]),
    /// A top-level member, except for the list of events.
    Member {
        /// Name as it is written, without the quotes.
        key: &'a str,
        /// Text of the value.
        value: &'a [u8],
    },
}

/// Reads a Trace Event file of any size, piece by piece.
///
/// The file can be an object (`{"traceEvents":[…]}`) or an array, be cut off anywhere, or have
/// holes. The scanner returns the whole items, and leaves out the rest.
#[derive(Debug)]
pub struct Scanner<R> {
    buffer: TextBuffer<R>,
    position: Position,
    /// Whether the first member was read.
    has_begun: bool,
    /// Whether the file is a trace of ours, with one event a line.
    is_ours: bool,
    is_torn: bool,
    /// Whether events are parsed, which finds their ends and their heads at once.
    has_heads: bool,
    /// Head of the last event, if it was parsed.
    pub(super) head: Option<EventHead>,
    /// The parser's findings about the last event. An event that was not parsed ends with its line.
    pub(super) walked: Walked,
    /// The last item, if it was not UTF-8.
    changed: Vec<u8>,
}

/// The scanner's position in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Start,
    /// In the file's object, before a key or the end.
    Members,
    /// In the list of events; `in_object` if the list is a member.
    Events {
        in_object: bool,
    },
    End,
}

/// An item by its place in the buffer.
#[derive(Debug)]
pub(super) enum FoundItem {
    Event(Range<usize>),
    Member { key: Range<usize>, value: Range<usize> },
}

impl<R: Read> Scanner<R> {
    /// Returns a scanner that has read nothing yet.
    pub fn new(reader: R) -> Self {
        Self {
            buffer: TextBuffer::new(reader),
            position: Position::Start,
            has_begun: false,
            is_ours: false,
            is_torn: false,
            has_heads: false,
            head: None,
            walked: Walked::default(),
            changed: Vec::new(),
        }
    }

    /// Returns a scanner that parses events, as far as they can be parsed.
    pub(super) fn with_heads(reader: R) -> Self {
        Self { has_heads: true, ..Self::new(reader) }
    }

    /// Returns the next item; none at the end of the file. The item is valid until the next call.
    #[allow(clippy::should_implement_trait)] // An iterator's items cannot be lent.
    pub fn next(&mut self) -> Result<Option<Item<'_>>, ScanError> {
        let Some(found) = self.find()? else { return Ok(None) };
        let bytes = &self.buffer.bytes;
        Ok(Some(match found {
            FoundItem::Event(event) => Item::Event(as_utf8(&bytes[event], &mut self.changed)),
            FoundItem::Member { key, value } => Item::Member {
                key: str::from_utf8(&bytes[key]).unwrap_or_default(),
                value: as_utf8(&bytes[value], &mut self.changed),
            },
        }))
    }

    /// Finds the next item; none at the end of the file. Its places are valid until the next call.
    pub(super) fn find(&mut self) -> Result<Option<FoundItem>, ScanError> {
        loop {
            let found = match self.position {
                Position::Start => self.start()?,
                Position::Members => self.member()?,
                Position::Events { in_object } => self.event(in_object)?,
                Position::End => return Ok(None),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Returns the text of a place that `find` found.
    pub(super) fn text(&self, place: Range<usize>) -> &[u8] {
        &self.buffer.bytes[place]
    }

    /// Returns whether the file was cut off or torn, so that something was left out. Known at the
    /// end of the file.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Returns whether the next events are those of a trace of ours.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Reads the file's first bytes.
    fn start(&mut self) -> Result<Option<FoundItem>, ScanError> {
        self.buffer.need(3)?;
        if self.buffer.rest().starts_with(b"\xef\xbb\xbf") {
            self.buffer.consume(3);
        }
        self.position = match self.buffer.peek()? {
            Some(b'{') => Position::Members,
            Some(b'[') => Position::Events { in_object: false },
            Some(0) => return Err(ScanError::Zeros),
            Some(_) => return Err(ScanError::NotJson),
            None => return Err(ScanError::Empty),
        };
        self.buffer.consume(1);
        Ok(None)
    }

    /// Reads `"key": value`, or the object's end.
    fn member(&mut self) -> Result<Option<FoundItem>, ScanError> {
        while self.buffer.peek()? == Some(b',') {
            self.buffer.consume(1);
        }
        match self.buffer.peek()? {
            Some(b'"') => {}
            Some(b'}') => {
                self.position = Position::End;
                return Ok(None);
            }
            _ => return Ok(self.tear()),
        }
        let ValueEnd::At(key_end) = self.buffer.value_end(0)? else { return Ok(self.tear()) };
        let Some(at) = self.value_start(key_end)? else { return Ok(self.tear()) };
        let key = 1..key_end - 1;
        if &self.buffer.rest()[key.clone()] == b"traceEvents" && self.buffer.byte(at)? == Some(b'[')
        {
            self.is_ours &= self.buffer.byte(at + 1)? == Some(b'\n');
            self.is_ours &= self.buffer.byte(at + 2)? == Some(b'{');
            self.buffer.consume(at + 1);
            self.position = Position::Events { in_object: true };
            return Ok(None);
        }
        let ValueEnd::At(length) = self.buffer.value_end(at)? else { return Ok(self.tear()) };
        let value = at..at + length;
        if !mem::replace(&mut self.has_begun, true) {
            self.is_ours = ours::is_ours(&self.buffer.rest()[..value.end]);
        }
        let start = self.buffer.start;
        self.buffer.consume(value.end);
        let in_buffer = |range: Range<usize>| start + range.start..start + range.end;
        Ok(Some(FoundItem::Member { key: in_buffer(key), value: in_buffer(value) }))
    }

    /// Returns the offset of a value behind its key and the colon; none if there is no value.
    fn value_start(&mut self, key_end: usize) -> Result<Option<usize>, ScanError> {
        let mut at = key_end;
        let mut has_colon = false;
        loop {
            match self.buffer.byte(at)? {
                Some(b':') if !has_colon => has_colon = true,
                Some(b' ' | b'\t' | b'\r' | b'\n') => {}
                Some(_) if has_colon => return Ok(Some(at)),
                _ => return Ok(None),
            }
            at += 1;
        }
    }

    /// Reads an event, or the end of the list.
    fn event(&mut self, in_object: bool) -> Result<Option<FoundItem>, ScanError> {
        match self.buffer.peek()? {
            Some(b'{') => return self.whole_event(),
            Some(b',') => self.buffer.consume(1),
            Some(b']') => {
                self.buffer.consume(1);
                self.is_ours = false;
                self.position = if in_object { Position::Members } else { Position::End };
            }
            None => {
                // By the format, a list may lack its end; an object may not.
                self.is_torn |= in_object || self.buffer.is_cut;
                self.position = Position::End;
            }
            // A value that is not an event, as some writers put into the list.
            Some(b'n' | b't' | b'f' | b'"' | b'-' | b'[' | b'0'..=b'9') => {
                match self.buffer.value_end(0)? {
                    ValueEnd::At(length) => self.buffer.consume(length),
                    ValueEnd::Broken | ValueEnd::Cut => self.find_next_line()?,
                }
            }
            Some(_) => self.find_next_line()?,
        }
        Ok(None)
    }

    /// Reads an event, whose first byte is next.
    fn whole_event(&mut self) -> Result<Option<FoundItem>, ScanError> {
        (self.head, self.walked) = (None, Walked::default());
        let mut end = ValueEnd::Cut;
        if self.has_heads
            && !self.is_our_chunk()?
            && let Some(length) = self.parse_event()?
        {
            end = ValueEnd::At(length);
        }
        if self.head.is_none() && self.is_ours {
            end = self.buffer.line_end()?;
        }
        // The last line of a trace of ours can be whole, and lack its line end.
        if matches!(end, ValueEnd::Cut) {
            end = self.buffer.value_end(0)?;
        }
        match end {
            ValueEnd::At(length) => {
                let start = self.buffer.start;
                self.buffer.consume(length);
                Ok(Some(FoundItem::Event(start..start + length)))
            }
            ValueEnd::Broken => {
                self.find_next_line()?;
                Ok(None)
            }
            ValueEnd::Cut => Ok(self.tear()),
        }
    }

    /// Returns whether the next event is a part of a profile in a trace of ours. Such events make up
    /// most of a trace, and their readers check them.
    fn is_our_chunk(&mut self) -> Result<bool, ScanError> {
        if !self.is_ours {
            return Ok(false);
        }
        self.buffer.need(ours::CHUNK.len())?;
        Ok(self.buffer.rest().starts_with(ours::CHUNK))
    }

    /// Parses an event. Returns its length; none if the event is not valid.
    fn parse_event(&mut self) -> Result<Option<usize>, ScanError> {
        /// Text to begin with, bytes. Most events are shorter.
        const FIRST: usize = 16 << 10;
        self.buffer.need(FIRST)?;
        loop {
            // The head is read in its place, because a copy for each event takes time.
            match self.head.insert(EventHead::default()).read(self.buffer.rest()) {
                Ok(walked) => {
                    self.walked = walked;
                    return Ok(Some(walked.end));
                }
                Err(error) => {
                    self.head = None;
                    if error == WalkError::Broken {
                        return Ok(None);
                    }
                    let length = self.buffer.rest().len();
                    // The event is parsed again from its start.
                    self.buffer.need(2 * length)?;
                    if self.buffer.rest().len() == length {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Ends the file in the middle of an item.
    fn tear(&mut self) -> Option<FoundItem> {
        self.is_torn = true;
        self.position = Position::End;
        None
    }

    /// Leaves out text up to a line that begins as an event does.
    fn find_next_line(&mut self) -> Result<(), ScanError> {
        self.is_torn = true;
        loop {
            match memchr::memchr(b'\n', self.buffer.rest()) {
                Some(at) => {
                    self.buffer.consume(at + 1);
                    self.buffer.need(2)?;
                    if self.buffer.rest().starts_with(b"{\"") {
                        return Ok(());
                    }
                }
                None => {
                    self.buffer.consume(self.buffer.rest().len());
                    if !self.buffer.fill()? {
                        self.position = Position::End;
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Returns a text whose bytes that are not UTF-8 are replaced, as a browser does. A name in another
/// encoding must not cost the event.
pub(super) fn as_utf8<'a>(text: &'a [u8], changed: &'a mut Vec<u8>) -> &'a [u8] {
    if str::from_utf8(text).is_err() {
        *changed = String::from_utf8_lossy(text).into_owned().into_bytes();
        return changed;
    }
    text
}

#[cfg(test)]
mod tests;
