//! Events to bytes: one a line, in plain ASCII.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

use super::trace::event::Event;

/// Stands between two events.
pub const SEPARATOR: &[u8] = b",\n";

/// Encoded events, waiting to be written.
#[derive(Default)]
pub struct Events {
    bytes: Vec<u8>,
}

impl Events {
    /// Appends one event.
    pub fn push(&mut self, event: &Event<'_>) {
        if !self.bytes.is_empty() {
            self.bytes.extend_from_slice(SEPARATOR);
        }
        encode(&mut self.bytes, event);
    }

    /// The events, without a separator before the first or after the last.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Empties it for the next flush. One unusually large flush must not be paid for ever after.
    pub fn clear(&mut self) {
        const KEPT: usize = 256 << 10;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }
}

/// Appends any value as ASCII JSON.
pub fn encode<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Ascii);
    // Writing to memory cannot fail, and the types here have no map keys but strings.
    let result = value.serialize(&mut serializer);
    debug_assert!(result.is_ok());
}

/// As [`encode`], for a value that stands in several others.
pub fn encode_raw<T: Serialize>(value: &T) -> Option<Box<RawValue>> {
    let mut text = Vec::new();
    encode(&mut text, value);
    // It is ASCII, and JSON.
    RawValue::from_string(String::from_utf8(text).ok()?).ok()
}

/// JSON in ASCII: a single character outside Latin-1 makes DevTools half as slow again, since its
/// whole text then takes two bytes a character.
struct Ascii;

/// DevTools opens any file with this word in it, even as a function's name, in another window.
const ENHANCED: &str = "enhancedTraceVersion";

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        if text.is_ascii() && !text.contains(ENHANCED) {
            return out.write_all(text.as_bytes());
        }
        // The escape hides the word from a search of the text, and reads as the same string.
        let text = text.replace(ENHANCED, "\u{1}");
        let mut units = [0; 2];
        for c in text.chars() {
            match c {
                '\u{1}' => write!(out, "\\u0065{}", &ENHANCED[1..])?,
                _ if c.is_ascii() => out.write_all(&[c as u8])?,
                _ => {
                    for unit in c.encode_utf16(&mut units) {
                        write!(out, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::event::{Args, Id, Phase, Scope};
    use proptest::prelude::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        encode(&mut out, &text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_ascii_and_come_back_the_same() {
        for text in ["", "plain", "\"\\/\n\r\t\u{1}\u{7f}", "é", "日本", "😀", "a😀b\u{ffff}"]
        {
            let encoded = json(text);
            assert!(encoded.is_ascii(), "{encoded}");
            assert_eq!(serde_json::from_str::<String>(&encoded).unwrap(), text);
        }
        assert_eq!(json("😀"), "\"\\ud83d\\ude00\"");
    }

    #[test]
    fn the_word_that_opens_another_window_is_hidden() {
        for text in [ENHANCED, "xenhancedTraceVersionx", "é enhancedTraceVersion \u{1}"] {
            let encoded = json(text);
            assert!(!encoded.contains(ENHANCED), "{encoded}");
            assert_eq!(serde_json::from_str::<String>(&encoded).unwrap(), text);
        }
    }

    #[test]
    fn every_phase_has_its_letter_and_fields() {
        let id = Id::Plain("0x1");
        let phases = [
            (Phase::Begin, r#""ph":"B""#),
            (Phase::End, r#""ph":"E""#),
            (Phase::Complete { dur: 5 }, r#""ph":"X","dur":5"#),
            (Phase::Instant(Scope::Global), r#""ph":"I","s":"g""#),
            (Phase::Instant(Scope::Process), r#""ph":"I","s":"p""#),
            (Phase::Instant(Scope::Thread), r#""ph":"I","s":"t""#),
            (Phase::Counter { id: None }, r#""ph":"C""#),
            (Phase::Counter { id: Some("c") }, r#""ph":"C","id":"c""#),
            (Phase::AsyncBegin(Id::Local("0x2")), r#""ph":"b","id2":{"local":"0x2"}"#),
            (Phase::AsyncInstant(Id::Global("0x3")), r#""ph":"n","id2":{"global":"0x3"}"#),
            (Phase::AsyncEnd(id), r#""ph":"e","id":"0x1""#),
            (Phase::LegacyAsyncBegin(id), r#""ph":"S","id":"0x1""#),
            (Phase::LegacyAsyncStepInto(id), r#""ph":"T","id":"0x1""#),
            (Phase::LegacyAsyncStepPast(id), r#""ph":"p","id":"0x1""#),
            (Phase::LegacyAsyncEnd(id), r#""ph":"F","id":"0x1""#),
            (Phase::FlowStart(id), r#""ph":"s","id":"0x1""#),
            (Phase::FlowStep(id), r#""ph":"t","id":"0x1""#),
            (Phase::FlowEnd { id, enclosing: false }, r#""ph":"f","id":"0x1""#),
            (Phase::FlowEnd { id, enclosing: true }, r#""ph":"f","id":"0x1","bp":"e""#),
            (Phase::Sample { id: "0x9" }, r#""ph":"P","id":"0x9""#),
            (Phase::ObjectCreated(id), r#""ph":"N","id":"0x1""#),
            (Phase::ObjectSnapshot(id), r#""ph":"O","id":"0x1""#),
            (Phase::ObjectDestroyed(id), r#""ph":"D","id":"0x1""#),
            (Phase::Metadata, r#""ph":"M""#),
            (Phase::GlobalMemoryDump(id), r#""ph":"V","id":"0x1""#),
            (Phase::ProcessMemoryDump(id), r#""ph":"v","id":"0x1""#),
            (Phase::Mark, r#""ph":"R""#),
            (Phase::ClockSync, r#""ph":"c""#),
            (Phase::ContextEnter(id), r#""ph":"(","id":"0x1""#),
            (Phase::ContextLeave(id), r#""ph":")","id":"0x1""#),
        ];
        for (phase, fields) in phases {
            let event =
                Event { cat: "c", name: "n", phase, pid: 1, tid: 2, ts: 3, args: Args::Empty {} };
            let mut events = Events::default();
            events.push(&event);
            let expected =
                format!(r#"{{"cat":"c","name":"n",{fields},"pid":1,"tid":2,"ts":3,"args":{{}}}}"#);
            assert_eq!(String::from_utf8(events.bytes).unwrap(), expected);
        }
    }

    #[test]
    fn one_event_a_line() {
        let event = Event {
            cat: "c",
            name: "a\nb",
            phase: Phase::Mark,
            pid: 1,
            tid: 2,
            ts: 3,
            args: Args::Empty {},
        };
        let mut events = Events::default();
        events.push(&event);
        events.push(&event);
        let text = std::str::from_utf8(events.as_bytes()).unwrap();
        assert_eq!(text.split(",\n").count(), 2);
        assert_eq!(text.matches('\n').count(), 1);
    }

    proptest! {
        #[test]
        fn any_string_is_ascii_and_comes_back_the_same(
            text in prop_oneof![
                any::<String>(),
                "(enhanced|TraceVersion|e|\\x01|\\\\u0001|\\\\|\"|é|\u{10ffff}|\\n){0,12}",
            ],
        ) {
            let encoded = json(&text);
            prop_assert!(encoded.bytes().all(|byte| (b' '..=b'\x7f').contains(&byte)), "{encoded}");
            prop_assert!(!encoded.contains(ENHANCED), "{encoded}");
            prop_assert_eq!(serde_json::from_str::<String>(&encoded).unwrap(), text);
        }
    }
}
