//! Which format an output's name asks for.

use std::path::Path;

/// A format that files can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Trace,
    CpuProfile,
    Collapsed,
    Speedscope,
}

/// Extensions in lower case. The first that fits counts.
const EXTENSIONS: [(&str, OutputFormat); 6] = [
    (".speedscope.json", OutputFormat::Speedscope),
    (".json", OutputFormat::Trace),
    (".cpuprofile", OutputFormat::CpuProfile),
    (".collapsed", OutputFormat::Collapsed),
    (".folded", OutputFormat::Collapsed),
    (".txt", OutputFormat::Collapsed),
];

impl OutputFormat {
    /// Returns the format of a path's extension, with or without `.gz`.
    pub(super) fn of(output: &Path) -> Option<Self> {
        let name = output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let plain = name.strip_suffix(".gz");
        let known =
            EXTENSIONS.iter().find(|(extension, _)| plain.unwrap_or(&name).ends_with(extension));
        match known {
            Some((_, format)) => Some(*format),
            // DevTools loads `trace.gz` too. In `x.pb.gz` another format is meant.
            None => plain.filter(|stem| !stem.contains('.')).map(|_| Self::Trace),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_choose_the_format() {
        for (name, expected) in [
            ("a.json", Some(OutputFormat::Trace)),
            ("a.trace.json.gz", Some(OutputFormat::Trace)),
            ("a.gz", Some(OutputFormat::Trace)),
            ("a.CPUPROFILE", Some(OutputFormat::CpuProfile)),
            ("a.folded", Some(OutputFormat::Collapsed)),
            ("a.txt.gz", Some(OutputFormat::Collapsed)),
            ("a.speedscope.json", Some(OutputFormat::Speedscope)),
            ("json", None),
            ("a.pb.gz", None),
            ("a.html", None),
        ] {
            assert_eq!(OutputFormat::of(Path::new(name)), expected, "{name}");
        }
    }
}
