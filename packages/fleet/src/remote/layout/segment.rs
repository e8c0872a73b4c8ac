//! Names of repositories as one segment of a path, on every system and in every object store.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is written as `%` and two digits: all but the letters, digits and signs that every file system has.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The longest segment, bytes: file systems have at most 255, and `repo=` comes before.
const MAX_BYTES: usize = 240;

/// Returns a name as a segment of a path; nothing if the name is empty or too long.
pub(crate) fn encode(name: &str) -> Option<String> {
    let mut segment = utf8_percent_encode(name, ENCODED).to_string();
    // Windows drops a dot at the end.
    if segment.ends_with('.') {
        segment.truncate(segment.len() - 1);
        segment.push_str("%2E");
    }
    (!segment.is_empty() && segment.len() <= MAX_BYTES).then_some(segment)
}

/// Returns the name that `encode` made a segment of; nothing for any other segment.
pub(crate) fn decode(segment: &str) -> Option<String> {
    let name = percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    (encode(&name)? == segment).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_repository_is_one_segment() {
        for (name, segment) in [
            ("org/app", "org%2Fapp"),
            ("a=b%c", "a%3Db%25c"),
            ("..", ".%2E"),
            ("dot.", "dot%2E"),
            ("\0\n", "%00%0A"),
            ("né", "n%C3%A9"),
        ] {
            assert_eq!(encode(name).as_deref(), Some(segment));
            assert_eq!(decode(segment).as_deref(), Some(name));
        }
    }

    #[test]
    fn other_segments_are_no_names() {
        for segment in ["", "a b", "a/b", "%", "%zz", "%2f", "%41", "%ff", ".."] {
            assert_eq!(decode(segment), None, "{segment}");
        }
        assert_eq!(encode(""), None);
        assert_eq!(encode(&"/".repeat(81)), None);
        assert!(encode(&"/".repeat(80)).is_some());
    }

    proptest! {
        #[test]
        fn names_come_back(name in ".{1,40}") {
            if let Some(segment) = encode(&name) {
                prop_assert!(segment.bytes().all(|b| b.is_ascii_graphic() && !b"/\\:*?\"<>|=".contains(&b)));
                prop_assert!(!segment.ends_with('.'));
                prop_assert_eq!(decode(&segment), Some(name));
            }
        }
    }
}
