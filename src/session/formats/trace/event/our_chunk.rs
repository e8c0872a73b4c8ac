//! Reads a `ProfileChunk` as this project writes it, without allocating. A merge copies gigabytes of
//! such events, and has to know that each is sound.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use cpu_prof_core::format::number::NodeNumber;

/// Checks the parts of a chunk.
pub trait ChunkCheck {
    /// Returns whether a node is sound: its id, its parent's id, and its frame as it is written.
    fn node(&mut self, id: u64, parent: Option<u64>, frame: &[u8]) -> bool;

    /// Returns whether a sample's node is known.
    fn sample(&mut self, id: u64) -> bool;

    /// Returns whether a label stays as it is written.
    fn label(&mut self, key: &[u8], value: &[u8]) -> bool;
}

/// Reads the arguments of a chunk. Returns none unless they are written as this project writes them, all
/// lists have the length of the samples, and `check` finds each part sound: then the length of the
/// samples, microseconds.
pub fn length_if_sound(args: &[u8], check: &mut impl ChunkCheck) -> Option<i64> {
    Reader { text: args, at: 0 }.chunk(check)
}

/// The last member of a frame that each frame has.
static LAST_MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"columnNumber\":"));

/// A position in the arguments.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn chunk(&mut self, check: &mut impl ChunkCheck) -> Option<i64> {
        self.skip(b"{\"data\":{\"cpuProfile\":{")?;
        if self.skip(b"\"nodes\":[").is_some() {
            loop {
                self.node(check)?;
                if self.skip(b",").is_none() {
                    break;
                }
            }
            self.skip(b"],")?;
        }
        self.skip(b"\"samples\":[")?;
        let samples = self.list(|id| check.sample(id))?;
        self.skip(b"},\"timeDeltas\":[")?;
        let mut length_us = 0_u64;
        let deltas = self.list(|delta| {
            length_us = length_us.saturating_add(delta);
            true
        })?;
        let mut is_even = deltas == samples;
        for list in [&b",\"lines\":["[..], b",\"columns\":[", b",\"labels\":["] {
            if self.skip(list).is_some() {
                is_even &= self.list(|_| true)? == samples;
            }
        }
        if self.skip(b",\"labelSets\":{").is_some() {
            self.label_sets(check)?;
        }
        self.skip(b"}}")?;
        let is_whole = is_even && self.at == self.text.len();
        i64::try_from(length_us).ok().filter(|_| is_whole)
    }

    /// Moves behind label sets: objects of texts, by their ids.
    fn label_sets(&mut self, check: &mut impl ChunkCheck) -> Option<()> {
        loop {
            self.skip(b"\"")?;
            self.number()?;
            self.skip(b"\":{")?;
            loop {
                self.skip(b"\"")?;
                let key = self.plain_text()?;
                self.skip(b":\"")?;
                let value = self.plain_text()?;
                if !check.label(key, value) {
                    return None;
                }
                if self.skip(b",").is_none() {
                    break;
                }
            }
            self.skip(b"}")?;
            if self.skip(b",").is_none() {
                return self.skip(b"}");
            }
        }
    }

    fn node(&mut self, check: &mut impl ChunkCheck) -> Option<()> {
        self.skip(b"{\"id\":")?;
        let id = self.number()?;
        let parent = match self.skip(b",\"parent\":") {
            Some(()) => Some(self.number()?),
            None => None,
        };
        self.skip(b",\"callFrame\":")?;
        let rest = self.text.get(self.at..)?;
        let last = LAST_MEMBER.find(rest)?;
        let length = last + memchr::memchr(b'}', &rest[last..])? + 1;
        self.at += length;
        if self.skip(b",\"deoptReason\":\"").is_some() {
            self.plain_text()?;
        }
        self.skip(b"}")?;
        check.node(id, parent, &rest[..length]).then_some(())
    }

    /// Moves behind a text; none if another text is there.
    // Inlined into the crates that read chunks: a merge of our own files took 8 % longer without.
    #[inline]
    fn skip(&mut self, text: &[u8]) -> Option<()> {
        let is_there = self.text.get(self.at..)?.starts_with(text);
        is_there.then(|| self.at += text.len())
    }

    /// Moves behind a text without escapes. Returns the text.
    #[inline]
    fn plain_text(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.at..)?;
        let length = memchr::memchr2(b'"', b'\\', rest)?;
        self.at += length + 1;
        let is_plain = rest[length] == b'"' && rest[..length].iter().all(|byte| *byte >= b' ');
        is_plain.then_some(&rest[..length])
    }

    /// Reads a list of whole numbers behind its bracket. Returns their count.
    fn list(&mut self, mut take: impl FnMut(u64) -> bool) -> Option<usize> {
        let mut count = 0;
        if self.skip(b"]").is_some() {
            return Some(0);
        }
        loop {
            if !take(self.number()?) {
                return None;
            }
            count += 1;
            match self.text.get(self.at)? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(count)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        /// Any number of so many digits is exact in JavaScript.
        const MOST_DIGITS: usize = 15;
        let rest = self.text.get(self.at..)?;
        let mut number = 0;
        let mut length = 0;
        while let Some(digit) = rest.get(length).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            if length == MOST_DIGITS {
                return None;
            }
            number = number * 10 + u64::from(digit);
            length += 1;
        }
        let has_leading_zero = length > 1 && rest[0] == b'0';
        self.at += length;
        (length > 0 && !has_leading_zero && number <= NodeNumber::MAX).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::trace::event::chunk_json::ChunkJson;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Seen(Vec<(u64, Option<u64>, String)>, Vec<u64>);

    impl ChunkCheck for Seen {
        fn node(&mut self, id: u64, parent: Option<u64>, frame: &[u8]) -> bool {
            let frame = String::from_utf8_lossy(frame).into_owned();
            let is_json = serde_json::from_str::<serde_json::Value>(&frame).is_ok();
            self.0.push((id, parent, frame));
            is_json
        }

        fn sample(&mut self, id: u64) -> bool {
            self.1.push(id);
            true
        }

        fn label(&mut self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }

    const CHUNK: &str = r#"{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},{"id":2,"parent":1,"callFrame":{"functionName":"}\"columnNumber\":","scriptId":"7","url":"/a.js","lineNumber":1,"columnNumber":2,"origin":"source map"},"deoptReason":"why"}],"samples":[2,1]},"timeDeltas":[5,0],"lines":[3,0],"columns":[1,0],"labels":[7,0],"labelSets":{"7":{"route":"/x","t":""},"8":{"a":"b"}}}}"#;

    #[test]
    fn all_parts_are_checked() {
        let mut seen = Seen::default();
        assert_eq!(length_if_sound(CHUNK.as_bytes(), &mut seen), Some(5));
        assert_eq!((seen.0[0].0, seen.0[0].1, seen.0[1].0, seen.0[1].1), (1, None, 2, Some(1)));
        assert!(seen.0[1].2.ends_with("\"origin\":\"source map\"}"));
        assert_eq!(seen.1, [2, 1]);
        let short = r#"{"data":{"cpuProfile":{"samples":[]},"timeDeltas":[]}}"#;
        assert!(length_if_sound(short.as_bytes(), &mut Seen::default()).is_some());
    }

    #[test]
    fn golden_chunks_are_written_so() {
        let golden = cpu_prof_core::testing::traces::MAIN;
        let lines = golden.lines().filter(|line| line.contains("\"ProfileChunk\""));
        let args: Vec<&str> = lines
            .map(|line| line.split_once("\"args\":").unwrap().1.trim_end_matches(','))
            .collect();
        assert!(args.len() > 1);
        for args in args {
            let args = args.strip_suffix('}').unwrap();
            assert!(length_if_sound(args.as_bytes(), &mut Seen::default()).is_some(), "{args}");
        }
    }

    #[test]
    fn other_forms_are_not_sound() {
        for (part, other) in [
            ("[5,0]", "[5]"),
            ("[5,0]", "[5,0,]"),
            ("[5,0]", "[5,00]"),
            ("[5,0]", "[-5,0]"),
            ("[5,0]", "[5,9999999999999999]"),
            ("\"lines\":[3,0]", "\"lines\":[3]"),
            ("\"samples\":[2,1]", "\"samples\":[2 ,1]"),
            ("\"samples\":[2,1]", "\"samples\":[-2,1]"),
            ("\"id\":2", "\"id\":2.0"),
            ("\"columnNumber\":-1", "\"columnNumber\":x"),
            ("\"b\"}}}}", "\"b\"}}}}}"),
            ("\"labels\":[7,0]", "\"labels\":[7]"),
            ("\"labels\":[7,0]", "\"labels\":[7,\"x\"]"),
            ("\"t\":\"\"", "\"t\":1"),
            ("\"7\":{", "\"x\":{"),
            ("\"why\"", "\"wh\\y\""),
            ("\"why\"", "\"wh\u{1}\""),
        ] {
            let text = CHUNK.replace(part, other);
            assert_ne!(text, CHUNK, "{part}");
            assert!(length_if_sound(text.as_bytes(), &mut Seen::default()).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sound_can_be_read(at: prop::sample::Index, byte in 32..127_u8, cut: bool) {
            let mut text = CHUNK.as_bytes().to_vec();
            let at = at.index(text.len());
            if cut { text.remove(at); } else { text[at] = byte; }
            if length_if_sound(&text, &mut Seen::default()).is_some() {
                let text = String::from_utf8(text).unwrap();
                let chunk = ChunkJson::from_args(Some(&text)).unwrap();
                prop_assert_eq!(chunk.samples().len(), chunk.deltas().len());
                serde_json::from_str::<serde_json::Value>(&text).unwrap();
            }
        }
    }
}
