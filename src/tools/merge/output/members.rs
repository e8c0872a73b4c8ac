//! The top-level members of other traces, which a merged trace keeps.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::linked_ids::ForeignIds;
use super::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::files::spool::Spool;
use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::lines::SEPARATOR;
use cpu_prof_core::format::trace::ours::OurMember;

/// Larger metadata is kept as a member of its own: bytes.
const MAX_METADATA_BYTES: usize = 16 << 20;

/// Members whose value is a setting of viewers. Only the first one counts.
const VIEWER_SETTINGS: [&str; 3] = ["displayTimeUnit", "controllerTraceDataKey", "otherData"];

/// A member in which the contents of all traces stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharedMember {
    /// `stackFrames`, a dictionary.
    StackFrames,
    /// `samples`, a list.
    Samples,
}

/// The encoded contents of all traces, without brackets around them.
#[derive(Debug)]
struct SharedContents {
    spool: Spool,
    is_empty: bool,
}

/// The members of other traces.
#[derive(Debug, Default)]
pub(crate) struct OtherMembers {
    /// Path of the output, beside which members wait for its end.
    target: PathBuf,
    /// Encoded members, each behind a separator.
    spool: Option<Spool>,
    /// Members that all traces share.
    shared: BTreeMap<SharedMember, SharedContents>,
    keys: FxHashSet<String>,
    /// Metadata of other traces, each with the name of its file. As text: values take ten times as
    /// much memory.
    pub(super) sources: Vec<Box<RawValue>>,
}

impl OtherMembers {
    /// Returns no members, of traces that go into the output at `target`.
    pub(super) fn new(target: &Path) -> Self {
        Self { target: target.to_owned(), ..Self::default() }
    }

    /// Keeps the metadata of traces that an earlier merge has joined.
    pub(crate) fn add_sources(&mut self, sources: Vec<Box<RawValue>>) {
        self.sources.extend(sources);
    }

    /// Keeps a member. Returns the new name if another trace has a member of this name.
    pub(crate) fn add(
        &mut self,
        key: &str,
        value: &[u8],
        ids: ForeignIds,
        file: &str,
    ) -> Result<Option<String>, MergeError> {
        let is_json = |text: &[u8]| serde_json::from_slice::<IgnoredAny>(text).is_ok();
        // The scanner takes a key as it is written.
        if !is_json(value) || !is_json(format!("\"{key}\"").as_bytes()) {
            return Ok(None);
        }
        if key == "metadata" && value.len() < MAX_METADATA_BYTES {
            let mut text = b"{\"file\":".to_vec();
            encode(&mut text, &file);
            text.extend_from_slice(b",\"metadata\":");
            // Most writers escape what is not ASCII, as the merged trace does.
            match value.is_ascii() && memchr::memchr2(b'\n', b'\r', value).is_none() {
                true => text.extend_from_slice(value),
                false => {
                    encode(&mut text, &serde_json::from_slice::<Value>(value).unwrap_or_default());
                }
            }
            text.push(b'}');
            let text = String::from_utf8_lossy(&text).into_owned();
            self.sources.extend(RawValue::from_string(text));
            return Ok(None);
        }
        if let Some((member, contents)) = shared(key, value, ids) {
            return self.add_shared(member, &contents).map(|()| None);
        }
        // The trace has metadata of its own.
        let is_new = key != "metadata" && self.keys.insert(key.to_owned());
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
            None => self.spool.insert(Spool::create(&self.target)?),
        };
        spool.write(&text)?;
        Ok(new_name)
    }

    /// Adds encoded contents, without the brackets around them.
    fn add_shared(&mut self, member: SharedMember, contents: &[u8]) -> Result<(), MergeError> {
        let shared = match self.shared.entry(member) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                free.insert(SharedContents { spool: Spool::create(&self.target)?, is_empty: true })
            }
        };
        if !contents.is_empty() {
            if !std::mem::replace(&mut shared.is_empty, false) {
                shared.spool.write(SEPARATOR)?;
            }
            shared.spool.write(contents)?;
        }
        Ok(())
    }

    /// Writes the members.
    pub(crate) fn write(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        for (member, SharedContents { spool, .. }) in &mut self.shared {
            let (start, end) = match member {
                SharedMember::StackFrames => (",\n\"stackFrames\":{", b"}"),
                SharedMember::Samples => (",\n\"samples\":[", b"]"),
            };
            trace.write(start.as_bytes())?;
            trace.copy(spool)?;
            trace.write(end)?;
        }
        match &mut self.spool {
            Some(spool) => trace.copy(spool),
            None => Ok(()),
        }
    }
}

/// Returns the encoded contents of a member that all traces share, without its brackets; none for
/// other members.
fn shared(key: &str, value: &[u8], ids: ForeignIds) -> Option<(SharedMember, Vec<u8>)> {
    let mut text = Vec::new();
    let member = match key {
        "stackFrames" => {
            encode(&mut text, &ids.stack_frames(serde_json::from_slice(value).ok()?));
            SharedMember::StackFrames
        }
        "samples" => {
            let mut samples: Vec<Value> = serde_json::from_slice(value).ok()?;
            ids.samples(&mut samples);
            encode(&mut text, &samples);
            SharedMember::Samples
        }
        _ => return None,
    };
    text.pop();
    text.remove(0);
    Some((member, text))
}

/// The facts in the metadata of a merged trace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MergedFacts {
    /// Facts about the processes.
    pub processes: Vec<Map<String, Value>>,
    /// Metadata of other traces that were merged.
    pub sources: Vec<Box<RawValue>>,
}

impl MergedFacts {
    /// Reads a member of a trace's object; none if the member is not the metadata of a merged trace of
    /// this project.
    pub(crate) fn of_member(key: &str, value: &[u8]) -> Option<Self> {
        if key != "metadata" {
            return None;
        }
        let member = serde_json::from_slice::<OurMember<Self>>(value).ok()?;
        Some(member.facts).filter(|facts| !facts.processes.is_empty())
    }
}
