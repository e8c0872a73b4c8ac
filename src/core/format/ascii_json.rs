//! JSON in plain ASCII, on one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

/// Appends a value as ASCII JSON.
pub fn encode<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Ascii);
    // Writing to memory cannot fail, and all map keys are strings.
    let result = value.serialize(&mut serializer);
    debug_assert!(result.is_ok());
}

/// Returns a value as ASCII JSON, which can stand in several other values.
pub fn encode_raw<T: Serialize>(value: &T) -> Option<Box<RawValue>> {
    let mut text = Vec::new();
    encode(&mut text, value);
    RawValue::from_string(String::from_utf8(text).ok()?).ok()
}

/// Escapes all characters but ASCII. A single character outside of Latin-1 makes DevTools take half
/// as long again, because the whole text then takes two bytes a character.
struct Ascii;

/// DevTools opens a file with this word, even as the name of a function, in another window.
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
        // The escape hides the word from a text search, and is read as the same string.
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
    use proptest::prelude::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        encode(&mut out, &text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_ascii_and_read_as_the_same() {
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

    proptest! {
        #[test]
        fn any_string_is_ascii_and_is_read_as_the_same(
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
