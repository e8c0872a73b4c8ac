//! An event of a trace, in the form of any writer.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::head::{EventHead, Member};
use crate::format::number::{self, Number};

/// The members of an event that have to do with profiles and names.
#[derive(Debug, Deserialize)]
pub(crate) struct EventJson<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// `ph`
    #[serde(rename = "ph", borrow, default)]
    pub phase: Cow<'a, str>,
    /// Process id.
    pub pid: Number,
    /// Thread id.
    #[serde(default)]
    pub tid: Number,
    /// Time, microseconds.
    #[serde(default)]
    pub ts: Number,
    /// Duration, microseconds.
    #[serde(default, deserialize_with = "number::or_none")]
    pub dur: Option<i64>,
    /// Id of the profile, as it is written.
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub id: Option<&'a str>,
    /// Arguments, as they are written.
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub args: Option<&'a str>,
}

fn as_written<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de str>, D::Error> {
    Ok(Option::<&'de RawValue>::deserialize(value)?.map(RawValue::get))
}

impl<'a> EventJson<'a> {
    /// Reads an event of any writer; none if the text is not an event.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Reads an event of an own trace, without a check of the arguments: their reader checks them.
    pub(crate) fn read_own(text: &'a [u8]) -> Option<Self> {
        Self::split_own(text).or_else(|| Self::read(text))
    }

    fn split_own(text: &'a [u8]) -> Option<Self> {
        let head = EventHead::of_own(text)?;
        let args = head.place(Member::Arguments)?;
        Some(Self {
            name: str::from_utf8(head.name(text)).ok()?.into(),
            phase: String::from(char::from(head.phase)).into(),
            dur: head.dur(text),
            pid: Number(head.pid_text(text)?.parse().ok()?),
            tid: Number(head.tid(text)?.into()),
            ts: Number(head.ts(text)?),
            id: head.id(text).and_then(|id| str::from_utf8(id).ok()),
            args: Some(str::from_utf8(&text[args]).ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same() {
        let golden = include_str!("golden/main.trace.json");
        let lines = golden.lines().skip(1).map(|line| line.trim_end_matches(','));
        for line in lines.filter(|line| line.starts_with('{')) {
            let own = EventJson::split_own(line.as_bytes()).unwrap();
            let any = EventJson::read(line.as_bytes()).unwrap();
            assert_eq!(format!("{own:?}"), format!("{any:?}"));
        }
        for broken in ["{", "{\"cat\":\"c\",\"name\":\"n\"}", "{\"ts\":}"] {
            assert!(EventJson::read_own(broken.as_bytes()).is_none());
        }
    }
}
