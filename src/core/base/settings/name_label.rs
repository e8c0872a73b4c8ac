//! The label of a recording as a part of a file name.

/// The part of the name for a recording without a label, or whose label has no usable character. An
/// empty part would hide the file (`.4242.trace.json`), or would name a folder.
const UNLABELLED: &str = "unlabelled";

/// Length of the part, at most: bytes. A file name has 255, and other placeholders need some.
const MAX_BYTES: usize = 100;

/// Returns a label as a part of a file name. Each run of other characters than letters, digits, `.`,
/// `_` and `-` becomes one `-`. The part never begins or ends with `.` or `-`.
pub(super) fn name_part(label: &str) -> String {
    let mut part = String::with_capacity(label.len().min(MAX_BYTES));
    for c in label.chars() {
        let c = if is_allowed(c) { c } else { '-' };
        if c == '-' && part.ends_with('-') {
            continue;
        }
        if part.is_empty() && is_trimmed(c) {
            continue;
        }
        if part.len() + c.len_utf8() > MAX_BYTES {
            break;
        }
        part.push(c);
    }
    let part = part.trim_end_matches(is_trimmed);
    if part.is_empty() { UNLABELLED.to_owned() } else { part.to_owned() }
}

/// Returns the lengths of the parts that can stand at the start of a text.
pub(super) fn part_lengths(text: &str) -> Vec<usize> {
    let mut lengths = Vec::new();
    for (start, c) in text.char_indices() {
        let length = start + c.len_utf8();
        if !is_allowed(c) || length > MAX_BYTES || (start == 0 && is_trimmed(c)) {
            break;
        }
        if !is_trimmed(c) {
            lengths.push(length);
        }
    }
    lengths
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn is_trimmed(c: char) -> bool {
    matches!(c, '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_characters_become_one_dash() {
        for (label, part) in [
            ("parser: big file", "parser-big-file"),
            ("a/../b\\c", "a-..-b-c"),
            ("../../etc/passwd", "etc-passwd"),
            ("  adds 1 + 1 (fast!)  ", "adds-1-1-fast"),
            ("v1.2_x-y", "v1.2_x-y"),
            ("a--b", "a-b"),
            ("検索 é", "検索-é"),
            ("\0\n", "unlabelled"),
            ("..", "unlabelled"),
            ("🚀", "unlabelled"),
            ("", "unlabelled"),
        ] {
            assert_eq!(name_part(label), part, "{label}");
        }
    }

    #[test]
    fn a_long_label_is_cut_between_characters() {
        assert_eq!(name_part(&"x".repeat(300)), "x".repeat(100));
        assert_eq!(name_part(&format!("a{}", "é".repeat(99))), format!("a{}", "é".repeat(49)));
        assert_eq!(name_part(&format!("{} y", "x".repeat(99))), "x".repeat(99));
    }

    proptest! {
        #[test]
        fn any_label_is_one_part_of_a_visible_name(label in prop_oneof![any::<String>(), "[-. /a_é]{0,130}"]) {
            let part = name_part(&label);
            prop_assert!(!part.is_empty() && part.len() <= MAX_BYTES, "{part}");
            prop_assert!(part.chars().all(is_allowed), "{part}");
            prop_assert!(!part.contains("--"), "{part}");
            prop_assert!(!part.starts_with(is_trimmed) && !part.ends_with(is_trimmed), "{part}");
            prop_assert!(part_lengths(&part).contains(&part.len()), "{part}");
        }
    }
}
