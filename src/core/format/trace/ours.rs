//! The marks of our traces: how they begin, and how readers recognise them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The value of `source`, in a recording's metadata and at the head of a merged trace.
pub const SOURCE: &str = "cpu-prof";

/// The key of the facts that this crate adds to a trace's metadata.
pub const METADATA_KEY: &str = "cpu-prof";

/// The member of that key.
#[derive(Debug, Serialize, Deserialize)]
pub struct OurMember<T> {
    /// The facts.
    #[serde(rename = "cpu-prof")]
    pub facts: T,
}

/// The category of V8's profiles.
pub const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";

/// The start of a part of a profile, up to its id.
pub const CHUNK: &[u8] =
    br#"{"cat":"disabled-by-default-v8.cpu_profiler","name":"ProfileChunk","ph":"P","id":""#;

/// The head of a merged trace, up to the first event. Its metadata comes last, because most of it
/// is known only then.
pub const MERGED_HEAD: &[u8] = b"{\"source\":\"cpu-prof\",\"traceEvents\":[\n";

/// The first member of a recording, and of a merged trace, as far as it is always the same.
const FIRST_MEMBERS: [&[u8]; 2] =
    [br#""metadata":{"source":"cpu-prof""#, br#""source":"cpu-prof""#];

/// Returns whether the first member of a file's object (`"key":value`) is that of a trace of ours.
/// Such a trace has one event a line.
pub fn is_ours(first_member: &[u8]) -> bool {
    FIRST_MEMBERS.iter().any(|start| first_member.starts_with(start))
}

/// Returns the ids of the process and the thread whose recording a trace's metadata announces; none
/// for metadata of another kind.
pub fn recorded_thread(metadata: &[u8]) -> Option<(u32, u32)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Ids {
        pid: u32,
        thread_id: u32,
    }
    let OurMember { facts: Ids { pid, thread_id } } = serde_json::from_slice(metadata).ok()?;
    // The other facts have to be readable too: half a surrogate pair is no text.
    serde_json::from_slice::<Value>(metadata).is_ok().then_some((pid, thread_id))
}

/// Returns whether a top-level member marks a merged trace.
pub fn is_merged_mark(key: &str, value: &[u8]) -> bool {
    key == "source" && value == b"\"cpu-prof\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_agree() {
        let value = format!("\"{SOURCE}\"");
        assert!(is_merged_mark("source", value.as_bytes()));
        assert!(!is_merged_mark("source", b"\"other\""));
        assert!(is_ours(MERGED_HEAD.strip_prefix(b"{").unwrap()));
        assert!(is_ours(format!("\"metadata\":{{\"source\":{value},\"x\":1}}").as_bytes()));
        assert!(!is_ours(b"\"metadata\":{\"source\":\"other\"}"));
        let member = serde_json::to_string(&OurMember { facts: 1 }).unwrap();
        assert_eq!(member, format!("{{\"{METADATA_KEY}\":1}}"));
    }

    #[test]
    fn written_files_begin_with_the_marks() {
        for file in [
            crate::testing::traces::MAIN,
            crate::testing::traces::WORKER,
            crate::testing::traces::MERGED,
        ] {
            assert!(is_ours(&file.as_bytes()[1..]), "{file}");
        }
        let chunk = str::from_utf8(CHUNK).unwrap();
        assert!(crate::testing::traces::MAIN.contains(chunk));
        let merged = crate::testing::traces::MERGED;
        assert!(merged.as_bytes().starts_with(MERGED_HEAD));
        assert!(merged.contains(&format!("\"metadata\":{{\"{METADATA_KEY}\":{{")));
    }
}
