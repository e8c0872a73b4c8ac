//! The text of code, with places by line and column.

use memchr::memchr3_iter;
use rustc_hash::FxHashMap;

/// UTF-16 units between two known places of a line.
const STEP: usize = 1024;

/// A place in a line: bytes, and UTF-16 units.
type Step = (usize, usize);

/// The text of a file.
#[derive(Debug)]
pub(super) struct CodeText {
    text: String,
    /// Start of each line.
    lines: Vec<usize>,
    /// Every [`STEP`]th place of the lines that were asked for. The whole of minified code is one
    /// line.
    steps: FxHashMap<u32, Vec<Step>>,
}

impl CodeText {
    pub(super) fn new(text: String) -> Self {
        let lines = [0].into_iter().chain(line_starts(&text)).collect();
        Self { lines, text, steps: FxHashMap::default() }
    }

    /// Returns the text on both sides of a place: line and column from 0, the column in UTF-16 units.
    /// None if there is no such place.
    pub(super) fn around(&mut self, line: u32, column: u32) -> Option<(&str, &str)> {
        let at = self.offset(line, column)?;
        Some(self.text.split_at(at))
    }

    /// Returns the text of a line from a column on; both count from 0.
    pub(super) fn line_from(&mut self, line: u32, column: u32) -> Option<&str> {
        let start = self.offset(line, column)?;
        let end = self.lines.get(line as usize + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end)
    }

    /// Returns the text between two columns of a line; none if there are no such columns.
    pub(super) fn between(&mut self, line: u32, columns: (u32, u32)) -> Option<&str> {
        let (start, end) = (self.offset(line, columns.0)?, self.offset(line, columns.1)?);
        self.text.get(start..end)
    }

    fn offset(&mut self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get(line as usize)?;
        let end = self.lines.get(line as usize + 1).copied().unwrap_or(self.text.len());
        let text = &self.text[start..end];
        let steps = self.steps.entry(line).or_insert_with(|| steps(text));
        let column = column as usize;
        let (from, mut units) = *steps.get(column / STEP)?;
        for (at, character) in text[from..].char_indices() {
            if units >= column {
                return Some(start + from + at);
            }
            units += character.len_utf16();
        }
        (units >= column).then_some(end)
    }
}

/// Returns where the lines behind the first start. V8 counts the line ends of JavaScript: of Windows, of
/// old Macs, and Unicode's separators, which can stand in strings.
pub(super) fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    // The first byte of the separators.
    memchr3_iter(b'\n', b'\r', 0xe2, bytes).filter_map(|at| match &bytes[at..] {
        [b'\r', b'\n', ..] => None,
        [b'\r' | b'\n', ..] => Some(at + 1),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(at + 3),
        _ => None,
    })
}

/// Returns the place of every [`STEP`]th UTF-16 unit of a line, or the place before where a character
/// has that unit and the one before.
fn steps(line: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut units = 0;
    for (at, character) in line.char_indices() {
        let next = units + character.len_utf16();
        if next > steps.len() * STEP {
            steps.push((at, units));
        }
        units = next;
    }
    if units >= steps.len() * STEP {
        steps.push((line.len(), units));
    }
    steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_found() {
        let mut text = CodeText::new("ab\n日😀c\r\n".into());
        assert_eq!(text.around(0, 0), Some(("", "ab\n日😀c\r\n")));
        assert_eq!(text.around(0, 2), Some(("ab", "\n日😀c\r\n")));
        assert_eq!(text.around(1, 3), Some(("ab\n日😀", "c\r\n")));
        assert_eq!(text.around(1, 7), None);
        assert_eq!(text.around(2, 0), Some(("ab\n日😀c\r\n", "")));
        assert_eq!(text.around(2, 1), None);
        assert_eq!(CodeText::new("a😀".into()).around(0, 2), Some(("a😀", "")));
        assert_eq!(text.around(3, 0), None);
    }

    #[test]
    fn all_line_ends_of_javascript_count() {
        for end in ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"] {
            let mut text = CodeText::new(format!("a – b{end}{end}f(c)"));
            assert_eq!(text.around(2, 2).map(|(_, after)| after), Some("c)"), "{end:?}");
            assert_eq!(text.around(3, 0), None, "{end:?}");
        }
    }

    proptest! {
        #[test]
        fn any_place_of_a_long_line_is_found(line in "[aé日😀]{0,3000}", part in 0.0..1.1_f64) {
            let units: Vec<u16> = line.encode_utf16().collect();
            let column = (units.len() as f64 * part) as usize;
            let mut text = CodeText::new(line.clone());
            let found = text.around(0, column as u32).map(|(before, _)| before.encode_utf16().count());
            if column > units.len() {
                prop_assert_eq!(found, None);
            } else {
                // Within a character, the place behind the character.
                let found = found.unwrap();
                prop_assert!(found == column || found == column + 1, "{} {}", found, column);
            }
        }
    }
}
