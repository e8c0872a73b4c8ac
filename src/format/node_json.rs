//! Nodes and numbers as they are written in traces and `.cpuprofile`s: many ways of one thing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::url::true_url;
use crate::profile::builder::ProfileBuilder;
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;

/// A number, be it written as an integer, a fraction or a string. Fractions are rounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Number(pub i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        // Saturates.
        Ok(Number(number.round() as i64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        let number = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        number.map(Number).map_err(E::custom)
    }
}

/// A node of the call tree.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeJson<'a> {
    id: Number,
    #[serde(default)]
    parent: Option<Number>,
    #[serde(default)]
    children: Option<Vec<Number>>,
    #[serde(default)]
    hit_count: Option<Number>,
    #[serde(borrow, default)]
    call_frame: Option<&'a RawValue>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FrameJson<'a> {
    #[serde(borrow)]
    function_name: Option<Cow<'a, str>>,
    script_id: OptionalNumber,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    line_number: OptionalNumber,
    column_number: OptionalNumber,
}

/// A number, or none if it is something else.
#[derive(Debug, Clone, Copy, Default)]
struct OptionalNumber(Option<i64>);

impl<'de> Deserialize<'de> for OptionalNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor)
    }
}

struct LenientVisitor;

impl LenientVisitor {
    fn number<E: Error>(number: Result<Number, E>) -> Result<OptionalNumber, E> {
        Ok(OptionalNumber(number.ok().map(|number| number.0)))
    }
}

impl<'de> Visitor<'de> for LenientVisitor {
    type Value = OptionalNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<OptionalNumber, E> {
        Self::number(NumberVisitor.visit_i64::<E>(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<OptionalNumber, E> {
        Self::number(NumberVisitor.visit_u64::<E>(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<OptionalNumber, E> {
        Self::number(NumberVisitor.visit_f64::<E>(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OptionalNumber, E> {
        Self::number(NumberVisitor.visit_str::<E>(text))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<OptionalNumber, E> {
        Ok(OptionalNumber(None))
    }

    fn visit_unit<E: Error>(self) -> Result<OptionalNumber, E> {
        Ok(OptionalNumber(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OptionalNumber, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(OptionalNumber(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OptionalNumber, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(OptionalNumber(None))
    }
}

/// A node's id, as [`ProfileBuilder`] takes it.
pub(crate) fn id(number: Number) -> u64 {
    number.0 as u64
}

impl NodeJson<'_> {
    /// Tells `building` what is known of the node.
    pub(crate) fn announce(self, building: &mut ProfileBuilder, frames: &mut FrameTable) {
        let node = id(self.id);
        let frame = self.call_frame.map_or(FrameTable::UNKNOWN, |text| {
            frames.intern_json(text.get(), |text| {
                serde_json::from_str::<FrameJson<'_>>(text).unwrap_or_default().frame()
            })
        });
        building.announce(node, self.parent.map(id), frame);
        for child in self.children.unwrap_or_default() {
            building.adopt(node, id(child));
        }
        if let Some(hits) = self.hit_count {
            building.hits(node, u64::try_from(hits.0).unwrap_or(0));
        }
    }
}

impl FrameJson<'_> {
    fn frame(self) -> CallFrame {
        let place =
            |number: OptionalNumber| i32::try_from(number.0.unwrap_or(-1)).unwrap_or(-1).max(-1);
        CallFrame {
            function_name: self.function_name.unwrap_or_default().into_owned(),
            url: true_url(&self.url.unwrap_or_default()).into_owned(),
            script_id: script_id(self.script_id.0.unwrap_or(0)),
            line: place(self.line_number),
            column: place(self.column_number),
        }
    }
}

/// V8's id of a script. In our traces it has an offset, see [`crate::format::trace::thread`].
fn script_id(written: i64) -> u32 {
    const OFFSET: i64 = 1_000_000_000;
    const ROOM: i64 = 100_000;
    let id = if written >= OFFSET { (written - OFFSET) % ROOM } else { written };
    u32::try_from(id).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_many_ways() {
        for (text, number) in [
            ("5", 5),
            ("-5", -5),
            ("5.6", 6),
            ("\"7\"", 7),
            ("\"0x1f\"", 31),
            ("1e300", i64::MAX),
            ("18446744073709551615", i64::MAX),
        ] {
            assert_eq!(serde_json::from_str::<Number>(text).unwrap(), Number(number), "{text}");
        }
        for text in ["null", "true", "\"x\"", "[]"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
    }

    fn frame(text: &str) -> CallFrame {
        serde_json::from_str::<FrameJson<'_>>(text).unwrap().frame()
    }

    #[test]
    fn frames_are_as_they_were_recorded() {
        let expected = CallFrame {
            function_name: "f".into(),
            url: "file:///r/node_modules/typescript/lib/tsc.js".into(),
            script_id: 17,
            line: 1,
            column: 2,
        };
        let ours = r#"{"functionName":"f","scriptId":"1424200017","lineNumber":1,"columnNumber":2,
            "url":"file:///r/node_modules\\typescript/lib/tsc.js","codeType":"JS"}"#;
        assert_eq!(frame(ours), expected);
        assert_eq!(frame(&ours.replace("\"1424200017\"", "17")), expected);
    }

    #[test]
    fn what_a_frame_lacks_is_none() {
        let none = CallFrame { function_name: String::new(), ..CallFrame::root() };
        for text in [
            "{}",
            r#"{"url":null,"scriptId":"x","lineNumber":null,"columnNumber":-7}"#,
            r#"{"scriptId":[1,{}],"lineNumber":{"a":[]},"columnNumber":true}"#,
        ] {
            assert_eq!(frame(text), none, "{text}");
        }
        assert!(frame(r#"{"functionName":"(idle)","scriptId":0}"#).is_meta());
    }
}
