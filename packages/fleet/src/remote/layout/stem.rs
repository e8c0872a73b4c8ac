//! Stems: the names that the files of a run, or of many compacted runs, have in common.

use std::fmt;

/// Digits of a run id, and of a hash.
const DIGITS: usize = 16;
/// What the stem of compacted runs begins with.
const COMPACTED: &str = "c-";

/// The name of a run's files, `<run id>-<content hash>`, or of a compaction's, `c-<hash>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stem(String);

impl Stem {
    /// Returns a stem; nothing for any other text.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let is_stem = match text.strip_prefix(COMPACTED) {
            Some(hash) => is_hex(hash),
            None => text.split_once('-').is_some_and(|(run, hash)| is_hex(run) && is_hex(hash)),
        };
        is_stem.then(|| Self(text.to_owned()))
    }

    /// Returns the id of the run; nothing for compacted runs.
    pub(crate) fn run_id(&self) -> Option<&str> {
        (!self.0.starts_with(COMPACTED)).then(|| &self.0[..DIGITS])
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Stem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_hex(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_of_runs_or_of_compactions() {
        let run = Stem::of("0123456789abcdef-fedcba9876543210").unwrap();
        assert_eq!(run.run_id(), Some("0123456789abcdef"));
        let compacted = Stem::of("c-0123456789abcdef").unwrap();
        assert_eq!(compacted.run_id(), None);
        for text in [
            "",
            "c-",
            "c-0123456789ABCDEF",
            "0123456789abcdef",
            "0123456789abcdef-fedcba987654321",
            "0123456789abcdef-fedcba9876543210-1",
            "0123456789abcdef-fedcba987654321é",
            "../456789abcdef0-fedcba9876543210",
        ] {
            assert_eq!(Stem::of(text), None, "{text}");
        }
    }
}
