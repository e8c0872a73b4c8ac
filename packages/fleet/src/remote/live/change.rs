//! Changes: each is one file, with which a compaction or a replacement takes effect at once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::layout::stem::Stem;

/// The version of the layout that this code reads and writes.
const VERSION: u32 = 1;

/// What a change adds to a partition, and what of it no longer counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LakeChange {
    pub adds: BTreeSet<Stem>,
    pub replaces: BTreeSet<Stem>,
}

/// A change as its file has it.
#[derive(Serialize, Deserialize)]
struct ChangeFile {
    version: u32,
    adds: Vec<String>,
    replaces: Vec<String>,
    /// Who wrote the change: by it a writer knows its own.
    #[serde(default)]
    by: String,
}

impl LakeChange {
    /// Returns the contents of the file. `by` is unique to a writer.
    pub(crate) fn to_json(&self, by: &str) -> String {
        let texts = |stems: &BTreeSet<Stem>| stems.iter().map(Stem::to_string).collect();
        let file = ChangeFile {
            version: VERSION,
            adds: texts(&self.adds),
            replaces: texts(&self.replaces),
            by: by.into(),
        };
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Reads the contents of a file. The error says what is wrong.
    pub(crate) fn from_json(json: &[u8]) -> Result<Self, &'static str> {
        let file: ChangeFile =
            serde_json::from_slice(json).map_err(|_| "is damaged: it is no change as JSON")?;
        if file.version != VERSION {
            return Err("is of another version of cpu-prof");
        }
        let stems = |texts: Vec<String>| {
            let stems: Option<BTreeSet<Stem>> = texts.iter().map(|text| Stem::of(text)).collect();
            stems.ok_or("is damaged: it names what is no run")
        };
        Ok(Self { adds: stems(file.adds)?, replaces: stems(file.replaces)? })
    }

    /// Lists the stems that the change names.
    pub(crate) fn stems(&self) -> impl Iterator<Item = &Stem> {
        self.adds.iter().chain(&self.replaces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back() {
        let change = LakeChange {
            adds: [Stem::of("c-0123456789abcdef").unwrap()].into(),
            replaces: [Stem::of("0123456789abcdef-fedcba9876543210").unwrap()].into(),
        };
        let json = change.to_json("me");
        assert_eq!(
            json,
            r#"{"version":1,"adds":["c-0123456789abcdef"],"replaces":["0123456789abcdef-fedcba9876543210"],"by":"me"}"#
        );
        assert_eq!(LakeChange::from_json(json.as_bytes()), Ok(change));
    }

    #[test]
    fn other_contents_are_refused() {
        for (json, word) in [
            ("", "damaged"),
            ("{}", "damaged"),
            (r#"{"version":1,"adds":["x"],"replaces":[]}"#, "damaged"),
            (r#"{"version":2,"adds":[],"replaces":[]}"#, "another version"),
        ] {
            assert!(LakeChange::from_json(json.as_bytes()).unwrap_err().contains(word), "{json}");
        }
        assert!(
            LakeChange::from_json(br#"{"version":1,"adds":[],"replaces":[],"more":1}"#).is_ok()
        );
    }
}
