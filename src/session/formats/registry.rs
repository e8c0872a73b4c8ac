//! The formats of files: their endings, and how each is written. A new format is a file beside this
//! one and a line here.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::{collapsed, pprof, speedscope};
use crate::model::Session;
use cpu_prof_core::profile::read_scope::ReadScope;

/// A format that recordings are converted to.
#[derive(Debug, Serialize)]
pub struct Format {
    /// Endings of its files, in lower case and without `.gz`.
    pub endings: &'static [&'static str],
    /// Description for the help of `convert`.
    pub about: &'static str,
    /// How a file is written.
    #[serde(skip)]
    pub writer: FormatWriter,
}

/// How a format is written.
#[derive(Debug, Clone, Copy)]
pub enum FormatWriter {
    /// A merge writes it.
    Merge,
    /// Each thread gets a `.cpuprofile`.
    EachThread,
    /// One file has all threads.
    Session {
        /// What has to be read.
        scope: ReadScope,
        /// Writes the session, which has a name.
        write: fn(&Session, &str, &mut dyn Write) -> io::Result<()>,
    },
}

/// All formats.
pub static FORMATS: &[Format] = &[
    Format {
        endings: &[".json"],
        about: "a trace for Chrome DevTools",
        writer: FormatWriter::Merge,
    },
    Format {
        endings: &[".cpuprofile"],
        about: "one file for each thread",
        writer: FormatWriter::EachThread,
    },
    Format {
        endings: &[".collapsed", ".folded", ".txt"],
        about: "stacks for FlameGraph or inferno",
        writer: FormatWriter::Session { scope: ReadScope::TIMES, write: collapsed::write },
    },
    Format {
        endings: &[".speedscope.json"],
        about: "for speedscope",
        writer: FormatWriter::Session { scope: ReadScope::SAMPLES, write: speedscope::write },
    },
    Format {
        endings: &[".pb", ".pprof"],
        about: "for pprof and what reads its format",
        writer: FormatWriter::Session { scope: ReadScope::LINES, write: pprof::write::write },
    },
];

/// Returns the format that a path's ending asks for, with or without `.gz`. Of two endings that fit,
/// the longer one counts.
pub fn format_of(output: &Path) -> Option<&'static Format> {
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz");
    let endings = FORMATS.iter().flat_map(|format| format.endings.iter().map(move |e| (e, format)));
    let fitting = endings.filter(|(ending, _)| plain.unwrap_or(&name).ends_with(**ending));
    let known = fitting.max_by_key(|(ending, _)| ending.len()).map(|(_, format)| format);
    // DevTools loads `trace.gz` too. In `x.made-up.gz` another format is meant.
    known.or_else(|| plain.filter(|stem| !stem.contains('.')).map(|_| &FORMATS[0]))
}

/// Returns the endings of all formats with what they stand for, for a message.
pub fn known_endings() -> String {
    let texts = FORMATS.iter().map(|Format { endings, about, .. }| match endings {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last} ({about})", rest.join(", ")),
        _ => format!("{} ({about})", endings.concat()),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_the_format() {
        for (name, expected) in [
            ("a.json", Some(".json")),
            ("a.trace.json.gz", Some(".json")),
            ("a.gz", Some(".json")),
            ("a.CPUPROFILE", Some(".cpuprofile")),
            ("a.folded", Some(".collapsed")),
            ("a.txt.gz", Some(".collapsed")),
            ("a.speedscope.json", Some(".speedscope.json")),
            ("json", None),
            ("a.pb.gz", Some(".pb")),
            ("a.pprof", Some(".pb")),
            ("a.made-up.gz", None),
            ("a.html", None),
        ] {
            let format = format_of(Path::new(name));
            assert_eq!(format.map(|format| format.endings[0]), expected, "{name}");
        }
    }

    #[test]
    fn no_ending_stands_for_two_formats() {
        let mut endings: Vec<_> = FORMATS.iter().flat_map(|format| format.endings).collect();
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count);
    }
}
