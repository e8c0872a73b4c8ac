//! Writes a chunk of a profile again that is not sound.

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::value::RawValue;

use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::ascii_json::encode_raw;
use cpu_prof_core::format::frame_json::CallFrameJson;
use cpu_prof_core::format::script_id::ScriptIdOffset;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_session::formats::label_json::cleaned_sets;
use cpu_prof_session::formats::node_json::NodeJson;
use cpu_prof_session::formats::trace::event::chunk_json::ChunkJson;

/// The id of a root that a profile lacks.
const ADDED_ROOT: u64 = 0;

/// The nodes of a profile that were announced.
#[derive(Debug, Default)]
pub(super) struct KnownNodes {
    pub ids: IdSet,
    /// Id of the first node without a parent.
    pub root: Option<u64>,
}

impl KnownNodes {
    /// Adds a node.
    pub(super) fn announce(&mut self, id: u64, has_parent: bool) {
        self.ids.insert(id);
        if !has_parent {
            self.root.get_or_insert(id);
        }
    }
}

/// A chunk that could not be copied, as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SoundChunk<'a> {
    cpu_profile: SoundTree<'a>,
    time_deltas: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_sets: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<i64>,
}

#[derive(Serialize)]
struct SoundTree<'a> {
    nodes: Vec<SoundNode<'a>>,
    samples: Vec<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SoundNode<'a> {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u64>,
    call_frame: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    deopt_reason: Option<&'a RawValue>,
}

/// `args`
#[derive(Serialize)]
struct SoundArgs<'a> {
    data: SoundChunk<'a>,
}

/// Returns the arguments of a chunk as readers understand it: what was never announced is `(unknown)`.
/// `frame_of` returns another frame of a node, by its index; `positions` are those of the samples, or
/// none.
pub(super) fn repaired_args<'a>(
    chunk: &ChunkJson<'a>,
    known: &mut KnownNodes,
    frame_of: impl Fn(usize) -> Option<&'a RawValue>,
    time_deltas: Vec<i64>,
    mut positions: Vec<SourcePosition>,
) -> Option<Box<RawValue>> {
    let encode = |frame: &CallFrame| CallFrameJson::new(frame, "", ScriptIdOffset::NONE).encode();
    let (root, unknown) = (encode(&CallFrame::root())?, encode(&CallFrame::unknown())?);
    let mut tree = RepairedTree { nodes: Vec::new(), root: &root, unknown: &unknown };
    let parents = parents(chunk.nodes());
    for index in parents_first(chunk.nodes(), &parents) {
        let node = &chunk.nodes()[index];
        let (id, parent) = (node.id.0, parents[index]);
        if let Some(parent) = parent {
            tree.know(parent, known);
        }
        known.announce(id, parent.is_some());
        let own = node.call_frame.filter(|frame| frame.get().starts_with('{'));
        let call_frame = frame_of(index).or(own).unwrap_or(&unknown);
        let deopt_reason = node.deopt_reason;
        tree.nodes.push(SoundNode { id, parent, call_frame, deopt_reason });
    }
    let samples: Vec<u64> = chunk.samples().iter().map(|id| id.0).collect();
    samples.iter().for_each(|id| tree.know(*id, known));
    if !positions.is_empty() {
        positions.resize(samples.len(), SourcePosition::default());
    }
    let label_sets = chunk.label_sets.and_then(cleaned_sets);
    encode_raw(&SoundArgs {
        data: SoundChunk {
            time_deltas,
            lines: positions.iter().map(|position| position.line).collect(),
            columns: positions.iter().map(|position| position.column).collect(),
            cpu_profile: SoundTree { nodes: tree.nodes, samples },
            labels: chunk.labels,
            label_sets: label_sets.as_deref().or(chunk.label_sets),
            end_time: chunk.end_time.map(|end| end.0),
        },
    })
}

/// Returns the parent of each node, where the node or the list of a parent's children names it.
fn parents(nodes: &[NodeJson<'_>]) -> Vec<Option<u64>> {
    let mut of_children = FxHashMap::default();
    for node in nodes {
        for child in node.children.iter().flatten() {
            of_children.entry(child.0).or_insert(node.id.0);
        }
    }
    let parent = |node: &NodeJson<'_>| {
        let named = node.parent.map(|parent| parent.0);
        let parent = named.or_else(|| of_children.get(&node.id.0).copied());
        parent.filter(|parent| *parent != node.id.0)
    };
    nodes.iter().map(parent).collect()
}

/// Returns the indices of nodes, parents before their children.
fn parents_first(nodes: &[NodeJson<'_>], parents: &[Option<u64>]) -> Vec<usize> {
    // Of several nodes with one id, the first counts, as for readers.
    let indices: FxHashMap<u64, usize> =
        nodes.iter().enumerate().rev().map(|(index, node)| (node.id.0, index)).collect();
    let mut is_placed = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| !is_placed[*index]) {
            is_placed[index] = true;
            path.push(index);
            next = parents[index].and_then(|parent| indices.get(&parent)).copied();
        }
        order.extend(path.drain(..).rev());
    }
    order
}

/// The nodes of a chunk that is repaired.
struct RepairedTree<'a> {
    nodes: Vec<SoundNode<'a>>,
    root: &'a RawValue,
    unknown: &'a RawValue,
}

impl RepairedTree<'_> {
    /// Announces a node that was never announced: a file can have lost the announcement.
    fn know(&mut self, id: u64, known: &mut KnownNodes) {
        if known.ids.contains(id) {
            return;
        }
        let root = *known.root.get_or_insert(ADDED_ROOT);
        if known.ids.insert(root) {
            let (parent, call_frame, deopt_reason) = (None, self.root, None);
            self.nodes.push(SoundNode { id: root, parent, call_frame, deopt_reason });
        }
        if known.ids.insert(id) {
            let (parent, call_frame, deopt_reason) = (Some(root), self.unknown, None);
            self.nodes.push(SoundNode { id, parent, call_frame, deopt_reason });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn repaired(known: &mut KnownNodes, cpu_profile: Value, deltas: &[i64]) -> Value {
        let args = json!({ "data": { "cpuProfile": cpu_profile } }).to_string();
        let chunk = ChunkJson::from_args(Some(&args)).unwrap();
        let text = repaired_args(&chunk, known, |_| None, deltas.to_vec(), Vec::new()).unwrap();
        serde_json::from_str::<Value>(text.get()).unwrap()["data"].take()
    }

    /// Ids, parents and names of nodes.
    fn tree(data: &Value) -> Vec<(u64, Option<u64>, String)> {
        let nodes = data["cpuProfile"]["nodes"].as_array().unwrap().iter();
        let name = |node: &Value| node["callFrame"]["functionName"].as_str().unwrap().to_owned();
        let node =
            |node: &Value| (node["id"].as_u64().unwrap(), node["parent"].as_u64(), name(node));
        nodes.map(node).collect()
    }

    fn node(id: u64, parent: u64, name: &str) -> Value {
        json!({ "id": id, "parent": parent, "callFrame": { "functionName": name } })
    }

    #[test]
    fn what_was_lost_is_unknown() {
        let mut known = KnownNodes::default();
        let unknown = |id, parent| (id, Some(parent), "(unknown)".to_owned());
        let nodes = json!([node(7, 5, "a"), { "id": 8, "parent": 7 }]);
        let data = repaired(&mut known, json!({ "nodes": nodes, "samples": [8, 9] }), &[1, 2]);
        assert_eq!(
            tree(&data),
            [
                (0, None, "(root)".into()),
                unknown(5, 0),
                (7, Some(5), "a".into()),
                unknown(8, 7),
                unknown(9, 0)
            ]
        );
        assert_eq!(data["cpuProfile"]["samples"], json!([8, 9]));
        assert_eq!(data["timeDeltas"], json!([1, 2]));
        assert_eq!(data.get("lines"), None);
        // All are known now.
        let data = repaired(&mut known, json!({ "samples": [5, 7, 9] }), &[1, 1, 1]);
        assert!(tree(&data).is_empty());
    }

    #[test]
    fn parents_come_first_and_cycles_end() {
        let mut known = KnownNodes::default();
        let root = json!({ "id": 1, "callFrame": { "functionName": "(root)" }, "children": [2] });
        let two = json!({ "id": 2, "callFrame": { "functionName": "b" } });
        let nodes =
            json!([node(3, 2, "c"), two, root, node(4, 5, "x"), node(5, 4, "y"), node(6, 6, "z")]);
        let data = repaired(&mut known, json!({ "nodes": nodes, "samples": [] }), &[]);
        let ids: Vec<_> = tree(&data).into_iter().map(|(id, parent, _)| (id, parent)).collect();
        assert_eq!(ids[..3], [(1, None), (2, Some(1)), (3, Some(2))]);
        assert!(ids.contains(&(4, Some(5))) && ids.contains(&(5, Some(4))));
        assert!(ids.contains(&(6, None)));
    }
}
