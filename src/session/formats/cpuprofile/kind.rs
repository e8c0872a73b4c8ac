//! Tells a CPU profile from other JSON by what makes it one: nodes with call frames. Graphs, models and
//! heap profiles have members of the same names.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What a file of JSON is, as far as its members tell.
#[derive(Debug, Default)]
pub struct JsonKind {
    nodes: Option<Nodes>,
    head: Option<Head>,
    /// Whether a member has a time of a profile.
    has_times: bool,
    /// Whether the file describes a heap.
    has_snapshot: bool,
    /// Whether the file tells when objects of a heap were made.
    has_heap_times: bool,
}

/// The list `nodes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nodes {
    Empty,
    WithFrames,
    Other,
}

/// The object `head`, from which the nodes of a tree hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// That of a CPU profile of an old format.
    Cpu,
    Heap,
    Other,
}

const HEAP_PROFILE: &str = "the file is a heap profile: it has the sizes of objects and no CPU times; \
                            Chrome DevTools opens it (Memory)";
const HEAP_SNAPSHOT: &str = "the file is a heap snapshot: it has the objects of a heap and no CPU times; \
                             Chrome DevTools opens it (Memory)";
const HEAP_TIMELINE: &str = "the file is a heap timeline: it has the objects of a heap and no CPU times; \
                             Chrome DevTools opens it (Memory)";
const NO_FRAMES: &str = "the file has nodes without call frames: it is not a CPU profile but other data, \
                         such as a graph";

impl JsonKind {
    /// Members that tell the kind.
    pub const READ: [&'static str; 7] =
        ["nodes", "head", "snapshot", "samples", "trace_tree", "startTime", "timeDeltas"];

    /// Reads a member of the file's object.
    pub fn member(&mut self, key: &str, value: &[u8]) {
        match key {
            "nodes" if value.starts_with(b"[") => self.nodes = Some(nodes(value)),
            "head" if value.starts_with(b"{") => self.head = Some(head(value)),
            "startTime" | "timeDeltas" => self.has_times = true,
            "snapshot" => self.has_snapshot = value.starts_with(b"{"),
            "samples" | "trace_tree" => self.has_heap_times |= !is_empty_list(value),
            _ => {}
        }
    }

    /// Returns whether the file is a CPU profile, by the members so far.
    pub fn is_profile(&self) -> bool {
        match self.nodes {
            _ if self.has_snapshot => false,
            Some(Nodes::WithFrames) => true,
            // A profile can be without any node.
            Some(Nodes::Empty) => self.has_times,
            Some(Nodes::Other) | None => self.head == Some(Head::Cpu),
        }
    }

    /// Returns what the file is instead of a CPU profile; none if its members do not tell. The text ends a
    /// sentence that begins with the file.
    pub fn other(&self) -> Option<&'static str> {
        match (self.nodes, self.head) {
            _ if self.has_snapshot && self.has_heap_times => Some(HEAP_TIMELINE),
            _ if self.has_snapshot => Some(HEAP_SNAPSHOT),
            _ if self.is_profile() => None,
            (_, Some(Head::Heap)) => Some(HEAP_PROFILE),
            (Some(_), _) | (_, Some(Head::Other)) => Some(NO_FRAMES),
            _ => None,
        }
    }
}

fn is_empty_list(value: &[u8]) -> bool {
    value.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"]"))
}

fn nodes(list: &[u8]) -> Nodes {
    if is_empty_list(list) {
        return Nodes::Empty;
    }
    let mut has_frames = HasFrames(false);
    // The search ends with an error where it finds a frame.
    let _ = serde_json::Deserializer::from_slice(list).deserialize_seq(&mut has_frames);
    if has_frames.0 { Nodes::WithFrames } else { Nodes::Other }
}

/// Looks for the first node with a call frame in a list.
struct HasFrames(bool);

impl<'de> Visitor<'de> for &mut HasFrames {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(node) = list.next_element::<&RawValue>()? {
            if has_frame(node) {
                self.0 = true;
                return Err(A::Error::custom("found"));
            }
        }
        Ok(())
    }
}

/// Returns whether an item of a list is a node with a call frame.
fn has_frame(node: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NodeShape<'a> {
        #[serde(borrow)]
        call_frame: &'a RawValue,
    }
    let node = serde_json::from_str::<NodeShape<'_>>(node.get());
    node.is_ok_and(|node| node.call_frame.get().starts_with('{'))
}

fn head(tree: &[u8]) -> Head {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct HeadShape<'a> {
        #[serde(borrow, default)]
        call_frame: Option<&'a RawValue>,
        #[serde(borrow, default)]
        self_size: Option<&'a RawValue>,
        #[serde(borrow, default)]
        function_name: Option<&'a RawValue>,
        #[serde(borrow, default)]
        hit_count: Option<&'a RawValue>,
    }
    match serde_json::from_slice::<HeadShape<'_>>(tree) {
        Ok(HeadShape { call_frame: Some(_), self_size: Some(_), .. }) => Head::Heap,
        Ok(HeadShape { function_name: Some(_), .. } | HeadShape { hit_count: Some(_), .. }) => {
            Head::Cpu
        }
        _ => Head::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::trace::scan::{Item, Scanner};

    fn kind(text: &str) -> JsonKind {
        let mut kind = JsonKind::default();
        let mut scanner = Scanner::new(text.as_bytes());
        while let Ok(Some(item)) = scanner.next() {
            if let Item::Member { key, value } = item {
                kind.member(key, value);
            }
        }
        kind
    }

    #[test]
    fn call_frames_make_a_profile() {
        for text in [
            r#"{"nodes":[{"id":1,"callFrame":{"functionName":"a"}}]}"#,
            r#"{"samples":[1],"nodes":[{"id":0},{"id":1,"callFrame":{}}]}"#,
            r#"{"startTime":0,"nodes":[ ]}"#,
            r#"{"nodes":[],"timeDeltas":[]}"#,
            r#"{"head":{"functionName":"(root)","id":1,"children":[]}}"#,
        ] {
            assert!(kind(text).is_profile(), "{text}");
            assert_eq!(kind(text).other(), None, "{text}");
        }
    }

    #[test]
    fn other_data_is_named() {
        for (text, other) in [
            (r#"{"nodes":[{"id":1,"name":"web"}],"edges":[]}"#, NO_FRAMES),
            (r#"{"nodes":[{"id":1,"callFrame":7}],"samples":[1],"timeDeltas":[0]}"#, NO_FRAMES),
            (r#"{"nodes":[],"edges":[]}"#, NO_FRAMES),
            (r#"{"nodes":["a"],"startTime":5}"#, NO_FRAMES),
            (r#"{"nodes":[1,2],"samples":[{"x":1}]}"#, NO_FRAMES),
            (r#"{"head":{"vars":["a"]},"results":{}}"#, NO_FRAMES),
            (r#"{"head":{"callFrame":{},"selfSize":1,"children":[]},"samples":[]}"#, HEAP_PROFILE),
            (r#"{"snapshot":{"meta":{}},"nodes":[9,1],"edges":[],"samples":[]}"#, HEAP_SNAPSHOT),
            (r#"{"snapshot":{"meta":{}},"nodes":[9,1],"samples":[0,1]}"#, HEAP_TIMELINE),
            (r#"{"snapshot":{"meta":{}},"nodes":[9],"trace_tree":[1,0,0,0,[]]}"#, HEAP_TIMELINE),
        ] {
            assert!(!kind(text).is_profile(), "{text}");
            assert_eq!(kind(text).other(), Some(other), "{text}");
        }
        for text in ["{}", r#"{"nodes":{},"head":[],"snapshot":1}"#, r#"{"traceEvents":[]}"#] {
            assert!(!kind(text).is_profile(), "{text}");
            assert_eq!(kind(text).other(), None, "{text}");
        }
    }
}
