//! Checks a JSON object, and finds its members without reading their values.
//!
//! Traces of other tools hold gigabytes of events whose arguments nobody needs, but one wrong byte
//! would make DevTools refuse the whole merged trace. This is our code, because jiter refuses lone
//! surrogates, which JavaScript writes, struson takes 7 to 13 times as long, and serde_json, which tells
//! places of raw values only, 1.7 times as long for small events.

use std::ops::Range;

/// Why a walk ended before the end of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkError {
    /// The text ends within the object.
    Cut,
    /// The text is not JSON.
    Broken,
}

/// An object that was walked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Place behind the object.
    pub end: usize,
    /// Whether line ends stand between its tokens.
    pub has_line_ends: bool,
    /// Whether all bytes are known to be ASCII. Can be false for an ASCII text, if other bytes follow
    /// the object.
    pub is_ascii: bool,
}

/// Walks over the object at the start of a text, after white space. Calls `member` with the places
/// of each key, without its quotes, and of the value. Does not check whether the text is UTF-8.
pub fn walk_object(
    text: &[u8],
    mut member: impl FnMut(Range<usize>, Range<usize>),
) -> Result<Walked, WalkError> {
    let mut walk = Walk::new(text);
    walk.expect(b'{')?;
    if walk.next_token()? == b'}' {
        return Ok(walk.end());
    }
    loop {
        let key = walk.key()?;
        walk.next_token()?;
        let start = walk.at;
        walk.value()?;
        member(key, start..walk.at);
        match walk.next_token()? {
            b',' => walk.at += 1,
            b'}' => return Ok(walk.end()),
            _ => return Err(WalkError::Broken),
        }
    }
}

/// Walks over the list at the start of a text. Calls `item` with the place of each item.
pub fn walk_list(text: &[u8], mut item: impl FnMut(Range<usize>)) -> Result<(), WalkError> {
    let mut walk = Walk::new(text);
    walk.expect(b'[')?;
    if walk.next_token()? == b']' {
        return Ok(());
    }
    loop {
        walk.next_token()?;
        let start = walk.at;
        walk.value()?;
        item(start..walk.at);
        match walk.next_token()? {
            b',' => walk.at += 1,
            b']' => return Ok(()),
            _ => return Err(WalkError::Broken),
        }
    }
}

/// Returns the place of the value of an object's member; none without the member, and for a text that
/// is no object. Of equal members the last counts, as in a browser.
pub fn find_member(object: &[u8], key: &str) -> Option<Range<usize>> {
    let mut found = None;
    walk_object(object, |name, value| {
        if &object[name] == key.as_bytes() {
            found = Some(value);
        }
    })
    .ok()?;
    found
}

/// Returns the count of the members of an object or of the items of a list; none for another value.
pub fn count_items(value: &[u8]) -> Option<usize> {
    let mut count = 0;
    match value.first()? {
        b'[' => walk_list(value, |_| count += 1).ok()?,
        b'{' => drop(walk_object(value, |_, _| count += 1).ok()?),
        _ => return None,
    }
    Some(count)
}

/// Returns the length of the value at the start of a text.
pub fn value_length(text: &[u8]) -> Result<usize, WalkError> {
    let mut walk = Walk::new(text);
    walk.value()?;
    Ok(walk.at)
}

/// The open objects and lists around a place.
#[derive(Default)]
struct Nesting {
    depth: u32,
    /// One bit for each of the innermost levels, the innermost the lowest: whether the level is an
    /// object.
    objects: u128,
    /// The same for all further levels. Few texts have so many, and most need no memory.
    outer: Vec<u128>,
}

impl Nesting {
    fn open(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(u128::BITS) {
            self.outer.push(self.objects);
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(is_object);
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(u128::BITS) {
            self.objects = self.outer.pop().unwrap_or_default();
        }
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

/// A position in a text.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    has_line_ends: bool,
    /// All bytes of strings, eight at a time, combined by "or".
    bits: u64,
}

impl<'a> Walk<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, has_line_ends: false, bits: 0 }
    }

    /// Skips the last bracket of the object.
    fn end(&self) -> Walked {
        // No byte outside of a string can be another than ASCII.
        let is_ascii = self.bits & HIGHEST == 0;
        Walked { end: self.at + 1, has_line_ends: self.has_line_ends, is_ascii }
    }

    fn byte(&self) -> Result<u8, WalkError> {
        self.text.get(self.at).copied().ok_or(WalkError::Cut)
    }

    /// Skips white space. Returns the byte that follows, and stays there.
    fn next_token(&mut self) -> Result<u8, WalkError> {
        loop {
            match self.byte()? {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' => {
                    self.has_line_ends = true;
                    self.at += 1;
                }
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space and this byte.
    fn expect(&mut self, byte: u8) -> Result<(), WalkError> {
        if self.next_token()? != byte {
            return Err(WalkError::Broken);
        }
        self.at += 1;
        Ok(())
    }

    /// Skips a key and its colon. Returns the place of the key, without its quotes.
    fn key(&mut self) -> Result<Range<usize>, WalkError> {
        self.expect(b'"')?;
        let start = self.at;
        self.string()?;
        let key = start..self.at - 1;
        self.expect(b':')?;
        Ok(key)
    }

    /// Skips a value.
    fn value(&mut self) -> Result<(), WalkError> {
        match self.next_token()? {
            b'{' | b'[' => self.nested(),
            byte => self.scalar(byte),
        }
    }

    /// Skips a string, a number or a word, by its first byte.
    fn scalar(&mut self, first: u8) -> Result<(), WalkError> {
        match first {
            b'"' => {
                self.at += 1;
                self.string()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => Err(WalkError::Broken),
        }
    }

    /// Skips an object or a list.
    fn nested(&mut self) -> Result<(), WalkError> {
        let mut nesting = Nesting::default();
        loop {
            match self.next_token()? {
                b'{' => {
                    self.at += 1;
                    if self.next_token()? != b'}' {
                        nesting.open(true);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.next_token()? != b']' {
                        nesting.open(false);
                        continue;
                    }
                    self.at += 1;
                }
                byte => self.scalar(byte)?,
            }
            // The value may be the last of some objects and lists.
            loop {
                if nesting.depth == 0 {
                    return Ok(());
                }
                match (self.next_token()?, nesting.is_in_object()) {
                    (b',', is_in_object) => {
                        self.at += 1;
                        if is_in_object {
                            self.key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        nesting.close();
                    }
                    _ => return Err(WalkError::Broken),
                }
            }
        }
    }

    /// Skips a string, behind its first quote.
    fn string(&mut self) -> Result<(), WalkError> {
        loop {
            self.skip_plain();
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape()?,
                // A control character.
                _ => return Err(WalkError::Broken),
            }
        }
    }

    /// Skips the bytes before the first quote, backslash or control character.
    fn skip_plain(&mut self) {
        // Most strings are too short for a call of memchr to pay.
        while let Some(bytes) = self.text[self.at..].first_chunk() {
            let bytes = u64::from_le_bytes(*bytes);
            self.bits |= bytes;
            let special = special_bytes(bytes);
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += size_of_val(&bytes);
        }
        while let Some(byte) = self.text.get(self.at)
            && !matches!(byte, b'"' | b'\\' | 0..0x20)
        {
            self.bits |= u64::from(*byte);
            self.at += 1;
        }
    }

    /// Skips an escape.
    fn escape(&mut self) -> Result<(), WalkError> {
        self.at += 1;
        match self.byte()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                for _ in 0..4 {
                    self.at += 1;
                    if !self.byte()?.is_ascii_hexdigit() {
                        return Err(WalkError::Broken);
                    }
                }
                self.at += 1;
            }
            _ => return Err(WalkError::Broken),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), WalkError> {
        if self.byte()? == b'-' {
            self.at += 1;
        }
        match self.byte()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.byte()? == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte()?, b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte()?, b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Skips one digit or more.
    fn digits(&mut self) -> Result<(), WalkError> {
        let start = self.at;
        while self.byte()?.is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { Err(WalkError::Broken) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), WalkError> {
        for expected in word {
            if self.byte()? != *expected {
                return Err(WalkError::Broken);
            }
            self.at += 1;
        }
        Ok(())
    }
}

/// Each of eight bytes is 1.
const EACH: u64 = u64::MAX / 255;

/// The highest bit of each of eight bytes.
const HIGHEST: u64 = EACH * 0x80;

/// Marks the quotes, backslashes and control characters among eight bytes, each by its highest bit.
/// Only the lowest mark is exact: behind that a subtraction may have borrowed.
fn special_bytes(bytes: u64) -> u64 {
    let below = |bytes: u64, limit: u64| bytes.wrapping_sub(EACH * limit) & !bytes;
    let equal = |byte: u8| below(bytes ^ (EACH * u64::from(byte)), 1);
    (below(bytes, 0x20) | equal(b'"') | equal(b'\\')) & HIGHEST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    /// The key and the value of each member, and the end of the object.
    type Found<'a> = (Vec<(&'a str, &'a str)>, usize);

    fn members(text: &str) -> Result<Found<'_>, WalkError> {
        let mut members = Vec::new();
        let walked = walk_object(text.as_bytes(), |key, value| {
            members.push((&text[key], &text[value]));
        })?;
        let object = &text[..walked.end];
        assert!(object.is_ascii() || !walked.is_ascii, "{object}");
        assert_eq!(walked.has_line_ends, object.contains(['\n', '\r']), "{object}");
        Ok((members, walked.end))
    }

    #[test]
    fn members_are_found_wherever_they_are() {
        let text =
            " {\"a\" : 1 ,\n\"long key with spaces\":{\"b\":[{},[]]}, \"\":\"\\\"}\",\"n\":null} {";
        let (found, end) = members(text).unwrap();
        assert_eq!(
            found,
            [
                ("a", "1"),
                ("long key with spaces", "{\"b\":[{},[]]}"),
                ("", "\"\\\"}\""),
                ("n", "null")
            ]
        );
        assert_eq!(&text[end..], " {");
        assert_eq!(members("{}"), Ok((vec![], 2)));
    }

    #[test]
    fn broken_text_is_refused() {
        for value in [
            "01",
            "-",
            "+1",
            "1.",
            ".5",
            "1e",
            "1e+",
            "nul",
            "True",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "[1 2]",
            "{]",
            "[}",
            "\u{1}",
        ] {
            let text = format!("{{\"a\":{value}}}");
            assert_eq!(members(&text), Err(WalkError::Broken), "{text}");
        }
        assert_eq!(members("[]"), Err(WalkError::Broken));
    }

    #[test]
    fn any_count_of_levels_is_followed() {
        for levels in [1, 127, 128, 129, 256, 257, 10_000] {
            let open: String = (0..levels).map(|i| ["[", "{\"b\":"][i % 3 % 2]).collect();
            let close: String = (0..levels).rev().map(|i| ["]", "}"][i % 3 % 2]).collect();
            let text = format!("{{\"a\":{open}1{close}}}");
            assert_eq!(members(&text).map(|(_, end)| end), Ok(text.len()), "{levels}");
            let wrong = close.replacen(']', "}", 1);
            let text = format!("{{\"a\":{open}1{wrong}}}");
            assert_eq!(members(&text), Err(WalkError::Broken), "{levels}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-z\"\\\\\u{1}é]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::hash_map(any::<String>(), inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn serde_json_agrees(value in json(), is_pretty: bool, cut: prop::sample::Index) {
            let object = serde_json::json!({ "before": 1, "value": value });
            let text = match is_pretty {
                true => serde_json::to_string_pretty(&object).unwrap(),
                false => object.to_string(),
            };
            let (found, end) = members(&text).unwrap();
            prop_assert_eq!(end, text.len());
            let read: std::collections::BTreeMap<&str, &RawValue> =
                serde_json::from_str(&text).unwrap();
            prop_assert_eq!(found.len(), 2);
            prop_assert_eq!(found[1].1, read["value"].get());
            let cut = &text.as_bytes()[..cut.index(text.len())];
            prop_assert_eq!(walk_object(cut, |_, _| {}), Err(WalkError::Cut));
        }

        #[test]
        fn serde_json_agrees_on_damaged_text(value in json(), at: prop::sample::Index, byte in 0..128_u8) {
            let mut text = serde_json::json!({ "value": value }).to_string().into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            let mut events = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
            let read = events.next().unwrap_or(Ok(Value::Null));
            let Ok(text) = str::from_utf8(&text) else { return Ok(()) };
            match (read, members(text)) {
                (Ok(Value::Object(_)), found) => {
                    prop_assert_eq!(found.map(|(_, end)| end), Ok(events.byte_offset()), "{}", text);
                }
                // serde_json reads the values too.
                (Err(error), Ok(_)) => {
                    let is_of_value = error.to_string().contains("surrogate")
                        || error.to_string().contains("out of range")
                        || error.to_string().contains("hex escape");
                    prop_assert!(is_of_value, "{} {}", error, text);
                }
                _ => {}
            }
        }
    }
}
