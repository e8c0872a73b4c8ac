//! The top-level members of other traces, which a merged trace keeps.

use std::path::Path;

use rustc_hash::FxHashSet;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::outcome::MergeError;
use super::part::OutputPart;
use crate::files::spool::Spool;
use crate::format::ascii_json::encode;

/// Larger metadata is kept as a member of its own: bytes.
const MAX_METADATA_BYTES: usize = 16 << 20;

/// Members whose value is a setting of viewers. Only the first one counts.
const VIEWER_SETTINGS: [&str; 3] = ["displayTimeUnit", "controllerTraceDataKey", "otherData"];

/// The members of other traces.
#[derive(Debug, Default)]
pub(super) struct OtherMembers {
    /// Encoded members, each behind a separator.
    spool: Option<Spool>,
    keys: FxHashSet<String>,
    /// Metadata of other traces, each with the name of its file.
    pub sources: Vec<Value>,
}

impl OtherMembers {
    /// Keeps a member. Returns the new name if another trace has a member of this name.
    pub(super) fn add(
        &mut self,
        key: &str,
        value: &[u8],
        file: &str,
        output: &Path,
    ) -> Result<Option<String>, MergeError> {
        if serde_json::from_slice::<IgnoredAny>(value).is_err() {
            return Ok(None);
        }
        if key == "metadata" && value.len() < MAX_METADATA_BYTES {
            let value = serde_json::from_slice::<Value>(value).unwrap_or_default();
            self.sources.push(json!({ "file": file, "metadata": value }));
            return Ok(None);
        }
        let is_new = self.keys.insert(key.to_owned());
        if !is_new && VIEWER_SETTINGS.contains(&key) {
            return Ok(None);
        }
        let new_name = (!is_new).then(|| format!("{key} ({file})"));
        let mut text = b",\n".to_vec();
        match &new_name {
            // The key keeps its escapes.
            None => text.extend_from_slice(format!("\"{key}\"").as_bytes()),
            Some(name) => encode(&mut text, name),
        }
        text.push(b':');
        text.extend_from_slice(value);
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool::create(output)?),
        };
        spool.write(&text)?;
        Ok(new_name)
    }

    /// Writes the members to a part.
    pub(super) fn write(&mut self, part: &mut OutputPart) -> Result<(), MergeError> {
        match &mut self.spool {
            Some(spool) => part.copy(spool),
            None => Ok(()),
        }
    }
}
