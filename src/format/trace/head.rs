//! The head of an event: its members apart from the arguments, found without parsing these.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The members that events of all kinds have, by their place in the event's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EventHead {
    name: Range<usize>,
    /// `ph`; 0 unless it is one ASCII character.
    pub phase: u8,
    id: Option<Range<usize>>,
    pid: Option<Range<usize>>,
    tid: Option<Range<usize>>,
    ts: Option<Range<usize>>,
    dur: Option<Range<usize>>,
}

impl EventHead {
    /// Returns the head of any event; none if the event is not a valid JSON object. An event that
    /// begins as an own event is checked no further.
    pub(crate) fn of(event: &[u8]) -> Option<Self> {
        Self::of_own(event).or_else(|| Self::of_any(event))
    }

    /// Returns the head of an own event; none if the event begins in another way.
    pub(crate) fn of_own(event: &[u8]) -> Option<Self> {
        let mut cursor = Cursor { event, at: 0 };
        cursor.skip(b"{\"cat\":\"")?;
        cursor.string()?;
        cursor.skip(b",\"name\":\"")?;
        let name = cursor.string()?;
        cursor.skip(b",\"ph\":\"")?;
        let phase = cursor.string()?;
        let phase = if phase.len() == 1 { event[phase.start] } else { 0 };
        let mut id = None;
        if cursor.skip(b",\"id\":\"").is_some() {
            let inside = cursor.string()?;
            id = Some(inside.start - 1..inside.end + 1);
        } else if cursor.skip(b",\"s\":\"").is_some() {
            cursor.string()?;
        }
        cursor.skip(b",\"pid\":")?;
        let pid = Some(cursor.number()?);
        cursor.skip(b",\"tid\":")?;
        let tid = Some(cursor.number()?);
        cursor.skip(b",\"ts\":")?;
        let ts = Some(cursor.number()?);
        cursor.skip(b",\"args\":")?;
        Some(Self { name, phase, id, pid, tid, ts, dur: None })
    }

    /// Returns the head of any event; none if the event is not a valid JSON object. Checks the
    /// whole event.
    pub(crate) fn of_any(event: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(borrow)]
            name: Option<&'a RawValue>,
            #[serde(borrow)]
            ph: Option<&'a RawValue>,
            #[serde(borrow)]
            id: Option<&'a RawValue>,
            #[serde(borrow)]
            pid: Option<&'a RawValue>,
            #[serde(borrow)]
            tid: Option<&'a RawValue>,
            #[serde(borrow)]
            ts: Option<&'a RawValue>,
            #[serde(borrow)]
            dur: Option<&'a RawValue>,
        }
        let Ok(fields) = serde_json::from_slice::<Fields<'_>>(event) else {
            // An event with a member twice is valid JSON.
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(event).is_ok();
            return is_json.then(Self::default);
        };
        let place = |raw: &RawValue| {
            let start = raw.get().as_ptr().addr() - event.as_ptr().addr();
            start..start + raw.get().len()
        };
        let inside = |range: Range<usize>| match event[range.start] {
            b'"' => range.start + 1..range.end - 1,
            _ => range,
        };
        let phase = fields.ph.map(place).map(inside).unwrap_or_default();
        Some(Self {
            name: fields.name.map(place).map(inside).unwrap_or_default(),
            phase: if phase.len() == 1 { event[phase.start] } else { 0 },
            id: fields.id.map(place),
            pid: fields.pid.map(place),
            tid: fields.tid.map(place),
            ts: fields.ts.map(place),
            dur: fields.dur.map(place),
        })
    }

    /// Returns the event's name, as it is written.
    pub(crate) fn name<'a>(&self, event: &'a [u8]) -> &'a [u8] {
        &event[self.name.clone()]
    }

    /// Returns the process id, if it is a whole number.
    pub(crate) fn pid(&self, event: &[u8]) -> Option<u32> {
        number(event, &self.pid)
    }

    /// Returns the thread id, if it is a whole number.
    pub(crate) fn tid(&self, event: &[u8]) -> Option<u32> {
        number(event, &self.tid)
    }

    /// Returns the time, microseconds, rounded down.
    pub(crate) fn ts(&self, event: &[u8]) -> Option<i64> {
        micros(event, &self.ts)
    }

    /// Returns the duration, microseconds, rounded down.
    pub(crate) fn dur(&self, event: &[u8]) -> Option<i64> {
        micros(event, &self.dur)
    }

    /// Returns `id` as it is written, with its quotes if it has quotes.
    pub(crate) fn id<'a>(&self, event: &'a [u8]) -> Option<&'a [u8]> {
        self.id.clone().map(|range| &event[range])
    }

    /// Appends the event to `out`, with another pid, and with another id (in quotes) if `id` is
    /// given.
    pub(crate) fn renumbered(&self, event: &[u8], pid: u32, id: Option<&str>, out: &mut Vec<u8>) {
        let pid = pid.to_string();
        let mut changes: Vec<(&Range<usize>, &str)> = Vec::with_capacity(2);
        changes.extend(self.pid.as_ref().map(|range| (range, pid.as_str())));
        changes.extend(self.id.as_ref().zip(id));
        changes.sort_by_key(|(range, _)| range.start);
        let mut from = 0;
        for (range, text) in changes {
            out.extend_from_slice(&event[from..range.start]);
            out.extend_from_slice(text.as_bytes());
            from = range.end;
        }
        out.extend_from_slice(&event[from..]);
    }
}

fn text<'a>(event: &'a [u8], range: &Option<Range<usize>>) -> Option<&'a str> {
    std::str::from_utf8(&event[range.clone()?]).ok()
}

fn number(event: &[u8], range: &Option<Range<usize>>) -> Option<u32> {
    text(event, range)?.parse().ok()
}

fn micros(event: &[u8], range: &Option<Range<usize>>) -> Option<i64> {
    let text = text(event, range)?;
    text.parse().ok().or_else(|| {
        // Some writers put a time into a string, or give fractions of a microsecond.
        let number: f64 = text.trim_matches('"').parse().ok()?;
        (number.abs() < 9e15).then(|| number.floor() as i64)
    })
}

/// A position in an own event.
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

    /// Returns the text before the next quote, and moves behind the quote; none if the text has an
    /// escape.
    fn string(&mut self) -> Option<Range<usize>> {
        let rest = self.event.get(self.at..)?;
        let length = memchr::memchr2(b'"', b'\\', rest)?;
        if rest[length] == b'\\' {
            return None;
        }
        let range = self.at..self.at + length;
        self.at += length + 1;
        Some(range)
    }

    /// Returns the digits, and moves behind them.
    fn number(&mut self) -> Option<Range<usize>> {
        let rest = self.event.get(self.at..)?;
        let length = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-')?;
        let range = self.at..self.at + length;
        self.at += length;
        (length > 0).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: &[u8] = br#"{"cat":"c","name":"ProfileChunk","ph":"P","id":"0x1","pid":42,"tid":3,"ts":5,"args":{"pid":9}}"#;

    #[test]
    fn both_ways_find_the_same_head() {
        let head = EventHead::of_own(OWN).unwrap();
        assert_eq!(EventHead::of_any(OWN).unwrap(), head);
        assert_eq!((head.name(OWN), head.phase), (&b"ProfileChunk"[..], b'P'));
        assert_eq!((head.pid(OWN), head.tid(OWN), head.ts(OWN)), (Some(42), Some(3), Some(5)));
        assert_eq!(head.id(OWN), Some(&b"\"0x1\""[..]));
        let instant =
            br#"{"cat":"c","name":"n","ph":"I","s":"t","pid":42,"tid":3,"ts":5,"args":{}}"#;
        assert_eq!(EventHead::of_any(instant), EventHead::of_own(instant));
    }

    #[test]
    fn any_order_and_any_values_are_read() {
        let event =
            br#" { "ts" : 12.75, "args":{"name":"x"}, "dur":"3", "pid":"main", "ph":"X" } "#;
        let head = EventHead::of(event).unwrap();
        assert_eq!((head.ts(event), head.dur(event)), (Some(12), Some(3)));
        assert_eq!((head.pid(event), head.name(event)), (None, &b""[..]));
        assert_eq!(head.phase, b'X');
        // JSON.parse accepts such an event.
        assert_eq!(EventHead::of(br#"{"ts":1,"ts":2}"#), Some(EventHead::default()));
        for broken in ["{\"ts\":}", "{\"a\" 1}", "{\"cat\":\"c\",\"name\":\"n\""] {
            assert_eq!(EventHead::of(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn numbers_are_replaced_in_any_order() {
        let renumbered = |event: &[u8]| {
            let mut out = Vec::new();
            EventHead::of(event).unwrap().renumbered(event, 7, Some("\"0xab\""), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            renumbered(OWN),
            r#"{"cat":"c","name":"ProfileChunk","ph":"P","id":"0xab","pid":7,"tid":3,"ts":5,"args":{"pid":9}}"#
        );
        assert_eq!(renumbered(br#"{"pid":1,"id":5}"#), r#"{"pid":7,"id":"0xab"}"#);
        assert_eq!(renumbered(br#"{"a":1}"#), r#"{"a":1}"#);
    }

    proptest! {
        #[test]
        fn any_bytes_are_accepted(event: Vec<u8>, own: bool, cut in 0_usize..100) {
            let event = if own { &OWN[..cut.min(OWN.len())] } else { &event[..] };
            if let Some(head) = EventHead::of(event) {
                let _ = (head.name(event), head.pid(event), head.ts(event), head.id(event));
                head.renumbered(event, 1, Some("2"), &mut Vec::new());
            }
        }
    }
}
