//! The head of an event: its members, found without reading their values.

use std::borrow::Cow;
use std::ops::Range;

use super::edit::EventEdit;
use cpu_prof_core::format::json_walk::{WalkError, Walked, walk_object};
use cpu_prof_core::format::number::{MAX_US, Number, as_time, digits};
use cpu_prof_core::format::trace::ours::{CHUNK, PROFILER};

/// The members that events of all kinds have, by their place in the event's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventHead {
    categories: Place,
    name: Place,
    /// Whether the name is a text.
    pub has_name: bool,
    /// `ph`; 0 unless it is one ASCII character.
    pub phase: u8,
    /// Whether a key has an escape. A reader that resolves the escape can take the member for another.
    pub has_escaped_key: bool,
    members: [Place; MEMBERS],
}

/// Members whose place is known. Their values are as they are written: strings have quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    Pid,
    Tid,
    Ts,
    Dur,
    /// The id of a profile, a span, a flow or an object.
    Id,
    /// An object with ids.
    Id2,
    BindId,
    /// The scope of a moment, `s`.
    Scope,
    /// A stack frame, `sf`.
    StackFrame,
    /// The stack frame at the end of a span, `esf`.
    EndStackFrame,
    Arguments,
}

const MEMBERS: usize = Member::Arguments as usize + 1;

impl Member {
    fn of(key: &[u8]) -> Option<Self> {
        Some(match key {
            b"pid" => Self::Pid,
            b"tid" => Self::Tid,
            b"ts" => Self::Ts,
            b"dur" => Self::Dur,
            b"id" => Self::Id,
            b"id2" => Self::Id2,
            b"bind_id" => Self::BindId,
            b"s" => Self::Scope,
            b"sf" => Self::StackFrame,
            b"esf" => Self::EndStackFrame,
            b"args" => Self::Arguments,
            _ => return None,
        })
    }
}

/// A place in an event; empty if there is none. No event is too large for 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    start: u32,
    end: u32,
}

impl Place {
    fn of(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl EventHead {
    /// Returns the head of a part of a profile in a trace of ours; none if the event begins in another
    /// way. Does not check the arguments.
    pub(crate) fn of_our_chunk(event: &[u8]) -> Option<Self> {
        const NAME: &[u8] = b"ProfileChunk";
        let mut head = Self { has_name: true, phase: b'P', ..Self::default() };
        let mut cursor = Cursor { event, at: 0 };
        cursor.skip(CHUNK)?;
        let category = b"{\"cat\":\"".len();
        head.categories = Place::of(category..category + PROFILER.len());
        let name = category + PROFILER.len() + b"\",\"name\":\"".len();
        head.name = Place::of(name..name + NAME.len());
        let id = cursor.word()?;
        head.put(Member::Id, id.start - 1..id.end + 1);
        cursor.skip(b"\",\"pid\":")?;
        head.put(Member::Pid, cursor.number()?);
        cursor.skip(b",\"tid\":")?;
        head.put(Member::Tid, cursor.number()?);
        cursor.skip(b",\"ts\":")?;
        head.put(Member::Ts, cursor.number()?);
        cursor.skip(b",\"args\":")?;
        let end = event.len() - 1;
        if end <= cursor.at || event[end] != b'}' {
            return None;
        }
        head.put(Member::Arguments, cursor.at..end);
        Some(head)
    }

    /// Returns the head of any event; none if the event is not a valid JSON object. Checks the
    /// whole event.
    pub fn of_any(event: &[u8]) -> Option<Self> {
        let mut head = Self::default();
        let end = head.read(event).ok()?.end;
        event[end..].trim_ascii().is_empty().then_some(head)
    }

    /// Reads an event at the start of a text into an empty head, and checks the whole event. Of equal
    /// members the last counts, as in a browser.
    pub fn read(&mut self, text: &[u8]) -> Result<Walked, WalkError> {
        walk_object(text, |key, value| self.set(text, key, value))
    }

    /// Sets a member of an event, by the places of the key and of the value.
    fn set(&mut self, text: &[u8], key: Range<usize>, value: Range<usize>) {
        let is_string = text[value.start] == b'"';
        let inside = if is_string { value.start + 1..value.end - 1 } else { value.clone() };
        match &text[key] {
            b"cat" => self.categories = Place::of(inside),
            b"name" => (self.name, self.has_name) = (Place::of(inside), is_string),
            b"ph" => self.phase = if is_string { phase(&text[inside]) } else { 0 },
            key => match Member::of(key) {
                Some(member) => {
                    let is_null = &text[value.clone()] == b"null";
                    self.put(member, if is_null { 0..0 } else { value });
                }
                // Keys are too short for a call of memchr to pay.
                None => self.has_escaped_key |= key.contains(&b'\\'),
            },
        }
    }

    fn put(&mut self, member: Member, place: Range<usize>) {
        self.members[member as usize] = Place::of(place);
    }

    /// Returns the place of a member's value; none if the event does not have the member.
    #[inline]
    pub fn place(&self, member: Member) -> Option<Range<usize>> {
        let range = self.members[member as usize].range();
        (!range.is_empty()).then_some(range)
    }

    /// Returns the place of the name, without its quotes.
    pub fn name_place(&self) -> Range<usize> {
        self.name.range()
    }

    /// Returns the event's name without escapes; none if they cannot be resolved.
    pub fn name_text<'a>(&self, event: &'a [u8]) -> Option<Cow<'a, str>> {
        let name = self.name(event);
        if memchr::memchr(b'\\', name).is_none() {
            return str::from_utf8(name).ok().map(Cow::Borrowed);
        }
        let place = self.name_place();
        let quoted = &event[place.start - 1..=place.end];
        serde_json::from_slice(quoted).ok().map(Cow::Owned)
    }

    /// Returns the event's name, as it is written.
    #[inline]
    pub fn name<'a>(&self, event: &'a [u8]) -> &'a [u8] {
        &event[self.name.range()]
    }

    /// Returns the event's categories, as they are written.
    pub fn categories<'a>(&self, event: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        event[self.categories.range()].split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
    }

    /// Returns a member as it is written; none if it is missing.
    #[inline]
    pub fn written<'a>(&self, member: Member, event: &'a [u8]) -> Option<&'a [u8]> {
        Some(&event[self.place(member)?])
    }

    /// Returns a member as it is written, as a text; none if the member is missing or not UTF-8.
    #[inline]
    pub fn text<'a>(&self, member: Member, event: &'a [u8]) -> Option<&'a str> {
        str::from_utf8(self.written(member, event)?).ok()
    }

    /// Returns the process id, if it is a whole number.
    pub fn pid(&self, event: &[u8]) -> Option<i64> {
        let pid = self.written(Member::Pid, event)?;
        digits(pid).or_else(|| str::from_utf8(pid).ok()?.parse().ok())
    }

    /// Returns a member, if it is a number in any form.
    pub fn number(&self, member: Member, event: &[u8]) -> Option<Number> {
        let number = self.written(member, event)?;
        digits(number).map(Number).or_else(|| serde_json::from_slice(number).ok())
    }

    /// Returns the thread id, if it is a whole number.
    pub fn tid(&self, event: &[u8]) -> Option<u32> {
        u32::try_from(digits(self.written(Member::Tid, event)?)?).ok()
    }

    /// Returns the time, microseconds, rounded down.
    pub fn ts(&self, event: &[u8]) -> Option<i64> {
        self.micros(Member::Ts, event)
    }

    /// Returns the duration, microseconds, rounded down.
    pub fn dur(&self, event: &[u8]) -> Option<i64> {
        self.micros(Member::Dur, event)
    }

    fn micros(&self, member: Member, event: &[u8]) -> Option<i64> {
        if let Some(us) = digits(self.written(member, event)?) {
            return Some(us).filter(|us| *us < MAX_US);
        }
        // Some writers put a time into a string, or give fractions of a microsecond.
        let us = self.text(member, event)?.trim_matches('"').parse().ok().and_then(as_time)?;
        Some(us.floor() as i64)
    }

    /// Returns `id` as it is written, with its quotes if it has quotes.
    pub fn id<'a>(&self, event: &'a [u8]) -> Option<&'a [u8]> {
        self.written(Member::Id, event)
    }

    /// Returns the event with another time, and with another duration if one is given.
    pub fn moved(&self, event: &[u8], ts: i64, dur: Option<i64>) -> Vec<u8> {
        let mut edit = EventEdit::default();
        self.place(Member::Ts).into_iter().for_each(|place| edit.replace(place, ts));
        if let (Some(place), Some(dur)) = (self.place(Member::Dur), dur) {
            edit.replace(place, dur);
        }
        let mut out = Vec::with_capacity(event.len() + 8);
        edit.apply(event, &mut out);
        out
    }
}

fn phase(text: &[u8]) -> u8 {
    if text.len() == 1 { text[0] } else { 0 }
}

/// A position in an event of ours.
struct Cursor<'a> {
    event: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Moves behind a text; none if another text is there.
    fn skip(&mut self, text: &[u8]) -> Option<()> {
        let is_there = self.event.get(self.at..)?.starts_with(text);
        is_there.then(|| self.at += text.len())
    }

    /// Moves behind letters and digits, and returns their place.
    fn word(&mut self) -> Option<Range<usize>> {
        self.while_all(u8::is_ascii_alphanumeric)
    }

    /// Moves behind a whole number without a sign, and returns its place.
    fn number(&mut self) -> Option<Range<usize>> {
        let place = self.while_all(u8::is_ascii_digit)?;
        let has_leading_zero = place.len() > 1 && self.event[place.start] == b'0';
        (!place.is_empty() && !has_leading_zero).then_some(place)
    }

    fn while_all(&mut self, is_part: fn(&u8) -> bool) -> Option<Range<usize>> {
        let length = self.event.get(self.at..)?.iter().position(|byte| !is_part(byte))?;
        let place = self.at..self.at + length;
        self.at += length;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: &[u8] = br#"{"cat":"disabled-by-default-v8.cpu_profiler","name":"ProfileChunk","ph":"P","id":"0x1","pid":42,"tid":3,"ts":5,"args":{"pid":9}}"#;

    #[test]
    fn both_ways_find_the_same_head() {
        let head = EventHead::of_our_chunk(OWN).unwrap();
        assert_eq!(EventHead::of_any(OWN).unwrap(), head);
        assert_eq!((head.name(OWN), head.phase), (&b"ProfileChunk"[..], b'P'));
        assert_eq!((head.pid(OWN), head.tid(OWN), head.ts(OWN)), (Some(42), Some(3), Some(5)));
        assert_eq!(head.id(OWN), Some(&b"\"0x1\""[..]));
        for other in ["\"pid\":042", "\"pid\":-1", "\"pid\":4 ", "\"pid\":"] {
            let text = String::from_utf8_lossy(OWN).replace("\"pid\":42", other);
            assert_eq!(EventHead::of_our_chunk(text.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn any_order_and_any_values_are_read() {
        let event =
            br#" { "ts" : 12.75, "args":{"name":"x"}, "dur":"3", "pid":"main", "ph":"X" } "#;
        let head = EventHead::of_any(event).unwrap();
        assert_eq!((head.ts(event), head.dur(event)), (Some(12), Some(3)));
        assert_eq!(
            (head.written(Member::Pid, event), head.name(event)),
            (Some(&b"\"main\""[..]), &b""[..])
        );
        assert_eq!(head.phase, b'X');
        // As JSON.parse does.
        let twice = br#"{"ts":1,"ts":2,"id":null}"#;
        let head = EventHead::of_any(twice).unwrap();
        assert_eq!((head.ts(twice), head.id(twice)), (Some(2), None));
        for broken in ["{\"ts\":}", "{\"a\" 1}", "{\"cat\":\"c\",\"name\":\"n\"", "{}}"] {
            assert_eq!(EventHead::of_any(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn times_are_replaced() {
        let event = br#"{"dur":5.5,"ts":"12","x":1}"#;
        let moved = EventHead::of_any(event).unwrap().moved(event, 20, Some(3));
        assert_eq!(moved, br#"{"dur":3,"ts":20,"x":1}"#);
    }

    proptest! {
        #[test]
        fn any_bytes_are_accepted(event: Vec<u8>, own: bool, cut in 0_usize..100) {
            let event = if own { &OWN[..cut.min(OWN.len())] } else { &event[..] };
            let found = [EventHead::of_any(event), EventHead::of_our_chunk(event)];
            for head in found.into_iter().flatten() {
                let _ = (head.name(event), head.pid(event), head.ts(event), head.id(event));
                head.moved(event, 1, Some(2));
            }
        }
    }
}
