//! An event of a trace, in the form of any writer.

use std::borrow::Cow;

use super::head::{EventHead, Member};
use cpu_prof_core::format::number::Number;

/// The members of an event that have to do with profiles and names.
#[derive(Debug)]
pub struct EventJson<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// `ph`
    pub phase: u8,
    /// Process id.
    pub pid: Number,
    /// Thread id.
    pub tid: Number,
    /// Time, microseconds.
    pub ts: Number,
    /// Duration, microseconds.
    pub dur: Option<i64>,
    /// Id of the profile, as it is written.
    pub id: Option<&'a str>,
    /// Arguments, as they are written.
    pub args: Option<&'a str>,
}

impl<'a> EventJson<'a> {
    /// Reads an event, whose head is known; none for an event of no process.
    pub fn read(text: &'a [u8], head: &EventHead) -> Option<Self> {
        let number = |member| head.number(member, text);
        Some(Self {
            name: head.name_text(text).unwrap_or_default(),
            phase: head.phase,
            pid: number(Member::Pid)?,
            tid: number(Member::Tid).unwrap_or_default(),
            ts: number(Member::Ts).unwrap_or_default(),
            dur: head.dur(text),
            id: head.text(Member::Id, text),
            args: head.text(Member::Arguments, text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_all_forms() {
        let read = |text: &'static str| {
            EventJson::read(text.as_bytes(), &EventHead::of_any(text.as_bytes()).unwrap())
        };
        let event = read(r#"{"name":"a\u00fc","pid":"7","ph":"X","ts":1.6,"dur":2,"args":[1]}"#);
        let event = event.unwrap();
        assert_eq!((&*event.name, event.phase, event.pid), ("a\u{fc}", b'X', Number(7)));
        assert_eq!((event.ts, event.dur, event.args), (Number(2), Some(2), Some("[1]")));
        assert_eq!((event.tid, event.id), (Number(0), None));
        assert!(read(r#"{"name":"a","pid":null}"#).is_none());
    }
}
