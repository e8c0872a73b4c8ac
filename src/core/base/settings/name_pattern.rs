//! Patterns of output names, such as `CPU.%D.%H.%P.%T.%N`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};

use super::name_label::{name_part, part_lengths};
use super::values::Formats;
use crate::base::path_text::is_drive;
use crate::base::system::IS_WINDOWS;
use crate::base::windows_names;

/// Values of the placeholders.
#[derive(Debug, Clone)]
pub struct NameFields {
    /// `%D` and `%H`: local time at the start of the recording.
    pub started: DateTime<FixedOffset>,
    /// `%P`: id of the process.
    pub pid: u32,
    /// `%T`: Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// `%N`: number of the recording in its process, from 1.
    pub sequence: u32,
    /// `%L`: label of the recording; empty if there is none.
    pub label: String,
}

/// A checked name pattern. Expands to a path, which counts from the output folder if it is relative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<NamePart>,
    /// Whether the names are for Windows: with backslashes, and without the names of devices.
    is_windows: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamePart {
    Text(String),
    Date,
    Time,
    Pid,
    Thread,
    Sequence,
    Label,
}

/// Digits of a sequence number, at least.
const SEQUENCE_DIGITS: usize = 3;

/// Digits of the largest `u32`.
const U32_DIGITS: usize = 10;

/// The process id as Node's own `--cpu-prof-name` writes it, from Node 22 on.
const NODE_PID: &str = "${pid}";

/// Extensions that the formats add. A pattern may end in one of them, and it is not added again.
const EXTENSIONS: [&str; 2] = [Formats::TRACE_EXTENSION, Formats::CPUPROFILE_EXTENSION];

impl NamePattern {
    /// The pattern of the built-in `--cpu-prof`, without its extension.
    pub(crate) const DEFAULT: &str = "CPU.%D.%H.%P.%T.%N";

    /// Checks a pattern. An error says what is wrong, as the end of a sentence.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        Self::parse_for(IS_WINDOWS, pattern)
    }

    fn parse_for(is_windows: bool, pattern: &str) -> Result<Self, String> {
        let pattern = &native(pattern, is_windows);
        let extension = EXTENSIONS.iter().find_map(|extension| pattern.strip_suffix(extension));
        let pattern = extension.unwrap_or(pattern);
        check_path(pattern, is_windows)?;
        let mut parts = Vec::new();
        let mut text = String::new();
        for (index, piece) in pattern.split(NODE_PID).enumerate() {
            if index > 0 {
                push_text(&mut parts, &mut text);
                parts.push(NamePart::Pid);
            }
            let mut chars = piece.chars();
            while let Some(c) = chars.next() {
                if c != '%' {
                    text.push(c);
                    continue;
                }
                match chars.next() {
                    Some('%') => text.push('%'),
                    letter => {
                        let part = placeholder(letter)?;
                        push_text(&mut parts, &mut text);
                        parts.push(part);
                    }
                }
            }
        }
        push_text(&mut parts, &mut text);
        Ok(Self { parts, is_windows })
    }

    /// Returns the name without extension. Appends the sequence number to a pattern without `%N` if
    /// `is_numbered`, so that a taken name has a successor.
    pub(crate) fn expand(&self, fields: &NameFields, is_numbered: bool) -> String {
        let mut name: String = self
            .parts
            .iter()
            .map(|part| match part {
                NamePart::Text(text) => text.clone(),
                NamePart::Date => fields.started.format("%Y%m%d").to_string(),
                NamePart::Time => fields.started.format("%H%M%S").to_string(),
                NamePart::Pid => fields.pid.to_string(),
                NamePart::Thread => fields.thread_id.to_string(),
                NamePart::Sequence => format!("{:03}", fields.sequence),
                NamePart::Label => name_part(&fields.label),
            })
            .collect();
        if is_numbered && !self.has_sequence() {
            name.push_str(&format!(".{:03}", fields.sequence));
        }
        // A label or a number can make the name of a device.
        if self.is_windows { windows_names::without_devices(&name) } else { name }
    }

    /// Returns whether a recording with this pattern may be written to `path`, which has an
    /// extension. Compares text: both paths must count from the same folder, in the same form.
    pub fn matches(&self, path: &str) -> bool {
        let path = native(path, self.is_windows);
        let name = EXTENSIONS.iter().find_map(|extension| path.strip_suffix(extension));
        name.is_some_and(|name| {
            self.matches_name(name)
                || self.is_windows && self.matches_name(&windows_names::with_devices(name))
        })
    }

    fn matches_name(&self, name: &str) -> bool {
        // Several ends are possible: in `%P%T` nothing says where the first number stops.
        let mut ends = BTreeSet::from([0]);
        for part in &self.parts {
            ends = ends.into_iter().flat_map(|start| part.ends(name, start)).collect();
        }
        if !self.has_sequence() {
            let numbers = ends
                .iter()
                .filter(|end| name[**end..].starts_with('.'))
                .flat_map(|end| digit_ends(name, end + 1, SEQUENCE_DIGITS, U32_DIGITS));
            ends.extend(numbers.collect::<Vec<_>>());
        }
        ends.contains(&name.len())
    }

    fn has_sequence(&self) -> bool {
        self.parts.contains(&NamePart::Sequence)
    }
}

impl NamePart {
    /// Returns where this part may end in `name` if it begins at `start`.
    fn ends(&self, name: &str, start: usize) -> Vec<usize> {
        let digits = |least, most| digit_ends(name, start, least, most).collect();
        match self {
            Self::Text(text) if name[start..].starts_with(text) => {
                vec![start + text.len()]
            }
            Self::Text(_) => Vec::new(),
            Self::Date => digits(8, 8),
            Self::Time => digits(6, 6),
            Self::Pid | Self::Thread => digits(1, U32_DIGITS),
            Self::Sequence => digits(SEQUENCE_DIGITS, U32_DIGITS),
            Self::Label => {
                part_lengths(&name[start..]).into_iter().map(|length| start + length).collect()
            }
        }
    }
}

/// Returns the ends of the numbers with `least` to `most` digits that begin at `start`.
fn digit_ends(
    name: &str,
    start: usize,
    least: usize,
    most: usize,
) -> impl Iterator<Item = usize> + use<> {
    let digits = name[start..].bytes().take(most).take_while(u8::is_ascii_digit).count();
    (least..=digits).map(move |length| start + length)
}

fn placeholder(letter: Option<char>) -> Result<NamePart, String> {
    match letter {
        Some('D') => Ok(NamePart::Date),
        Some('H') => Ok(NamePart::Time),
        Some('P') => Ok(NamePart::Pid),
        Some('T') => Ok(NamePart::Thread),
        Some('N') => Ok(NamePart::Sequence),
        Some('L') => Ok(NamePart::Label),
        Some(other) => Err(format!(
            "%{other} is not a placeholder (there are %D %H %P %T %N %L %% and ${{pid}})"
        )),
        None => Err("it has a single % (write %% for a percent sign)".into()),
    }
}

fn push_text(parts: &mut Vec<NamePart>, text: &mut String) {
    if !text.is_empty() {
        parts.push(NamePart::Text(std::mem::take(text)));
    }
}

/// The names that a recording tries in turn until one is free.
#[derive(Debug, Clone)]
pub struct FileNames {
    pattern: NamePattern,
    fields: NameFields,
    next_sequence: fn() -> u32,
    is_numbered: bool,
}

impl FileNames {
    /// Creates the list of names. `fields` are those of the first name.
    pub fn new(pattern: NamePattern, fields: NameFields, next_sequence: fn() -> u32) -> Self {
        Self { pattern, fields, next_sequence, is_numbered: false }
    }

    /// Returns the names of another thread's recording, which are from the next number on.
    pub fn of_thread(&self, thread_id: u32) -> Self {
        let mut names = self.clone();
        names.fields.thread_id = thread_id;
        names.advance();
        names
    }

    /// Returns the current name.
    pub fn current(&self) -> String {
        self.pattern.expand(&self.fields, self.is_numbered)
    }

    /// Returns the sequence number of the current name.
    pub fn sequence(&self) -> u32 {
        self.fields.sequence
    }

    /// Moves on to the next name.
    pub fn advance(&mut self) {
        self.fields.sequence = (self.next_sequence)();
        self.is_numbered = true;
    }
}

/// Returns a path with the separator of its system.
fn native(path: &str, is_windows: bool) -> Cow<'_, str> {
    if is_windows { path.replace('/', "\\").into() } else { path.into() }
}

/// Checks that a pattern names a file.
fn check_path(pattern: &str, is_windows: bool) -> Result<(), String> {
    if pattern.contains('\0') {
        return Err("it contains a NUL character".into());
    }
    let separator = if is_windows { '\\' } else { '/' };
    match pattern.rsplit(separator).next() {
        None | Some("" | "." | "..") => Err("it names a folder, and must name a file".into()),
        Some(_) if is_windows => {
            windows_names::check(if is_drive(pattern) { &pattern[2..] } else { pattern })
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;
    use proptest::prelude::*;

    fn fields() -> NameFields {
        NameFields {
            started: FixedOffset::east_opt(3600)
                .unwrap()
                .with_ymd_and_hms(2026, 3, 4, 5, 6, 7)
                .unwrap(),
            pid: 4242,
            thread_id: 3,
            sequence: 12,
            label: "parser: big file".to_owned(),
        }
    }

    fn expand(pattern: &str) -> String {
        NamePattern::parse(pattern).unwrap().expand(&fields(), false)
    }

    #[test]
    fn expands_every_placeholder() {
        assert_eq!(expand(NamePattern::DEFAULT), "CPU.20260304.050607.4242.3.012");
        assert_eq!(expand("100%%-%P"), "100%-4242");
        assert_eq!(expand("profiles/%P/%T"), "profiles/4242/3");
        assert_eq!(expand("${pid}-${pid}.%P"), "4242-4242.4242");
        assert_eq!(expand("${PID}${pid"), "${PID}${pid");
        assert_eq!(expand("ünï%N"), "ünï012");
        assert_eq!(expand("%L.%T"), "parser-big-file.3");
    }

    #[test]
    fn an_extension_is_not_doubled() {
        assert_eq!(expand("build-%P.cpuprofile"), "build-4242");
        assert_eq!(expand("build.trace.json"), "build");
        assert_eq!(expand("build.json"), "build.json");
        assert!(NamePattern::parse(".cpuprofile").is_err());
    }

    #[test]
    fn a_sequence_past_999_grows() {
        let name = NamePattern::parse("%N").unwrap();
        assert_eq!(name.expand(&NameFields { sequence: 12345, ..fields() }, false), "12345");
    }

    #[test]
    fn a_taken_name_without_a_number_gets_one() {
        let fixed = NamePattern::parse("fixed").unwrap();
        assert_eq!(fixed.expand(&fields(), false), "fixed");
        assert_eq!(fixed.expand(&fields(), true), "fixed.012");
        let numbered = NamePattern::parse("a%N").unwrap();
        assert_eq!(numbered.expand(&fields(), true), "a012");
    }

    #[test]
    fn matches_the_files_of_a_recording() {
        for (pattern, path, expected) in [
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.012.trace.json", true),
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.012.cpuprofile", true),
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.12345.cpuprofile", true),
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.12.cpuprofile", false),
            (NamePattern::DEFAULT, "CPU.2026.050607.4242.3.012.cpuprofile", false),
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.012.003.cpuprofile", false),
            (NamePattern::DEFAULT, "CPU.20260304.050607.4242.3.012", false),
            (NamePattern::DEFAULT, "trace.json", false),
            ("fixed", "fixed.trace.json", true),
            ("fixed", "fixed.002.cpuprofile", true),
            ("fixed", "fixed.2.cpuprofile", false),
            ("fixed", "fixed.json", false),
            ("fixed", "sub/fixed.trace.json", false),
            ("fixed", "fixed.trace.json.gz", false),
            ("build.trace.json", "build.trace.json", true),
            ("%P/%T", "4242/0.trace.json", true),
            ("%P/%T", "4242/0/1.trace.json", false),
            ("%P%T%N", "11001.trace.json", true),
            ("%P%T%N", "1001.trace.json", false),
            ("%P1%T", "111.trace.json", true),
            ("x${pid}", "x4242.trace.json", true),
            ("x${pid}", "x${pid}.trace.json", false),
            ("%L.%N", "parser-big-file.012.trace.json", true),
            ("%L.%N", "検索.1.012.trace.json", true),
            ("%L.%N", ".012.trace.json", false),
            ("%L.%N", "a/b.012.trace.json", false),
            ("é%Lé", "éxé.trace.json", true),
            ("%L", "a b.trace.json", false),
            ("/abs/%P", "/abs/7.trace.json", true),
            ("/abs/%P", "abs/7.trace.json", false),
            ("../%P", "../7.cpuprofile", true),
            ("100%%-ü(%P)", "100%-ü(7).trace.json", true),
            ("100%%-ü(%P)", "100%-ü(é).trace.json", false),
        ] {
            let name = NamePattern::parse(pattern).unwrap();
            assert_eq!(name.matches(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn many_numbers_in_a_row_are_matched_in_time() {
        let name = NamePattern::parse(&"%P".repeat(50)).unwrap();
        assert!(name.matches(&format!("{}.trace.json", "1".repeat(200))));
        assert!(!name.matches(&format!("{}x.trace.json", "1".repeat(200))));
    }

    #[test]
    fn refuses_names_of_folders() {
        for bad in ["", "..", ".", "a/", "a/..", "a/.", "/", "a\0b", "a/.trace.json"] {
            assert!(NamePattern::parse(bad).is_err(), "{bad:?} was accepted");
        }
        for good in ["a..b", "...", "%P..%T", "a/b", "/a", "../a", "a//b", "./a", "a\\b"] {
            assert!(NamePattern::parse(good).is_ok(), "{good:?} was refused");
        }
    }

    #[test]
    fn names_on_windows_have_no_forbidden_characters() {
        let parse = |pattern| NamePattern::parse_for(true, pattern);
        for (bad, reason) in [
            ("a:b", "it contains ':', which no file name on Windows has"),
            ("C:x", "it contains ':', which no file name on Windows has"),
            ("x/a|%P", "it contains '|', which no file name on Windows has"),
            ("\\\\?\\C:\\a", "it contains '?', which no file name on Windows has"),
            ("a\tb", "it contains a control character"),
            ("a./b", "a folder in it ends with a dot or a space, which Windows leaves out"),
            ("a \\b", "a folder in it ends with a dot or a space, which Windows leaves out"),
            ("a\\", "it names a folder, and must name a file"),
            ("a\\..", "it names a folder, and must name a file"),
        ] {
            assert_eq!(parse(bad).unwrap_err(), reason, "{bad:?}");
        }
        for good in
            ["a/b", "..\\b", "C:\\x\\%P", "C:/x/%P", "\\\\server\\share\\%P", "%L.%N", "a.", "./a"]
        {
            assert!(parse(good).is_ok(), "{good:?} was refused");
        }
        assert!(NamePattern::parse_for(false, "a:b|c\\").is_ok());
    }

    #[test]
    fn names_on_windows_are_not_those_of_devices() {
        let with = |label: &str, pattern: &str| {
            let fields = NameFields { label: label.to_owned(), thread_id: 1, ..fields() };
            let pattern = NamePattern::parse_for(true, pattern).unwrap();
            let name = pattern.expand(&fields, false);
            assert!(pattern.matches(&format!("{}.trace.json", name.replace('\\', "/"))), "{name}");
            name
        };
        assert_eq!(with("con", "%L"), "_con");
        assert_eq!(with("NUL", "%L.%N"), "_NUL.012");
        assert_eq!(with("n", "co%L/%P"), "_con\\4242");
        assert_eq!(with("", "com%T"), "_com1");
        assert_eq!(with("console", "x/%L"), "x\\console");
        assert_eq!(with("con", "_%L"), "_con");
    }

    #[test]
    fn refuses_unknown_placeholders() {
        for bad in ["%X", "%d", "a%", "%%%", "% "] {
            assert!(NamePattern::parse(bad).is_err(), "{bad:?} was accepted");
        }
    }

    /// Any text, and mostly valid patterns.
    fn pattern() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "(%[DHPTNL%]|%|[$][{]pid[}]|[$]|[.]|/|[a-c]|é|\0){0,8}",
            "(%[DHPTNL%]|[$][{]pid[}]|[.]|[a-c0-9]|é|/a){1,8}",
            r"/?([.]{1,3}|a|%N)(/([.]{1,3}|a|%%)){0,2}",
        ]
    }

    fn any_fields() -> impl Strategy<Value = NameFields> {
        // Up to the year 9999.
        let label = prop_oneof![any::<String>(), "[-. /a_é]{0,8}"];
        (0_i64..253_370_000_000, -86_399..86_400, any::<[u32; 3]>(), label).prop_map(
            |(seconds, zone, [pid, thread_id, sequence], label)| {
                let zone = FixedOffset::east_opt(zone).unwrap();
                let started = zone.timestamp_opt(seconds, 0).unwrap();
                NameFields { started, pid, thread_id, sequence, label }
            },
        )
    }

    proptest! {
        #[test]
        fn any_name_names_a_file_in_the_folder_of_its_pattern(
            pattern in pattern(),
            fields in any_fields(),
            is_numbered: bool,
        ) {
            let Ok(name) = NamePattern::parse(&pattern) else { return Ok(()) };
            let name = name.expand(&fields, is_numbered);
            prop_assert!(!name.contains('\0'));
            let last = name.rsplit('/').next().unwrap();
            prop_assert!(!["", ".", ".."].contains(&last), "{name:?}");
            // A placeholder is never a separator, nor a way up.
            let folders = |path: &str| {
                let parts: Vec<_> = path.split('/').map(|part| part == "..").collect();
                (path.starts_with('/'), parts)
            };
            prop_assert_eq!(folders(&name), folders(&pattern));
        }

        #[test]
        fn every_name_matches_its_pattern(
            pattern in pattern(),
            fields in any_fields(),
            numbered: bool,
            extension in prop::sample::select(EXTENSIONS.as_slice()),
            is_windows: bool,
        ) {
            let Ok(name) = NamePattern::parse_for(is_windows, &pattern) else { return Ok(()) };
            let path = name.expand(&fields, numbered) + extension;
            prop_assert!(name.matches(&path), "{path:?}");
        }

        #[test]
        fn doubled_percent_signs_are_plain_ones(
            text in prop_oneof![any::<String>(), "[a%DHPTNL/é]{1,8}"],
            fields in any_fields(),
        ) {
            prop_assume!(!text.contains(NODE_PID));
            if let Ok(name) = NamePattern::parse(&text.replace('%', "%%")) {
                prop_assert_eq!(name.expand(&fields, false), text);
            }
        }

        #[test]
        fn every_sequence_number_has_its_own_name(
            pattern in pattern(),
            fields in any_fields(),
            other in prop_oneof![0_u32..2000, any::<u32>()],
        ) {
            let Ok(name) = NamePattern::parse(&pattern) else { return Ok(()) };
            let next = NameFields { sequence: other, ..fields.clone() };
            prop_assume!(fields.sequence != other);
            prop_assert_ne!(name.expand(&fields, true), name.expand(&next, true));
            let differ = name.expand(&fields, false) != name.expand(&next, false);
            prop_assert_eq!(differ, name.has_sequence());
        }
    }
}
