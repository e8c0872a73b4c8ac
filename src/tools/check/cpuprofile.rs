//! The contents of a `.cpuprofile` file.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::problems::Problems;
use super::profiles::{check_deltas, list};

/// Checks a profile. Returns the count of its samples.
pub(super) fn check(profile: &Value, to: &mut Problems) -> u64 {
    if profile["nodes"].is_null() {
        to.warn(
            "head",
            0,
            "head",
            "the profile is of an old format, which DevTools no longer reads",
        );
        return list(&profile["samples"]).len() as u64;
    }
    let nodes = list(&profile["nodes"]);
    let mut parents: FxHashMap<u64, usize> = FxHashMap::default();
    for (index, node) in nodes.iter().enumerate() {
        let at = |field: &str| format!("nodes[{index}].{field}");
        match node["id"].as_u64() {
            None => to.error("id", 0, &at("id"), "a node needs a number as its id"),
            Some(id) if parents.insert(id, 0).is_some() => {
                to.error("again", 0, "nodes", format!("two nodes have the id {id}"));
            }
            Some(_) => {}
        }
        if !node["callFrame"].is_object() {
            to.error("frame", 0, &at("callFrame"), "a node needs a call frame");
        }
    }
    for node in nodes {
        for child in list(&node["children"]) {
            match child.as_u64().and_then(|child| parents.get_mut(&child)) {
                None => to.error("child", 0, "nodes", format!("{child} is a child, but no node")),
                Some(count) => *count += 1,
            }
        }
        if let Some(parent) = node["parent"].as_u64()
            && let Some(id) = node["id"].as_u64()
        {
            if !parents.contains_key(&parent) {
                to.error(
                    "parent",
                    0,
                    "nodes",
                    format!("node {id} has the unknown parent {parent}"),
                );
            }
            parents.entry(id).and_modify(|count| *count += 1);
        }
    }
    let with = |wanted: fn(usize) -> bool| parents.values().filter(|count| wanted(**count)).count();
    if !nodes.is_empty() && with(|count| count == 0) != 1 {
        let roots = with(|count| count == 0);
        to.error("roots", 0, "nodes", format!("the tree has {roots} roots instead of one"));
    }
    if with(|count| count > 1) > 0 {
        to.error("parents", 0, "nodes", "a node has two parents");
    }
    let samples = list(&profile["samples"]);
    for sample in samples {
        if sample.as_u64().is_none_or(|id| !parents.contains_key(&id)) {
            to.error("sample", 0, "samples", format!("a sample of the unknown node {sample}"));
        }
    }
    times(profile, samples.len(), to);
    samples.len() as u64
}

/// Checks the times of a profile.
fn times(profile: &Value, samples: usize, to: &mut Problems) {
    let (start, end) = (profile["startTime"].as_f64(), profile["endTime"].as_f64());
    for (field, time) in [("startTime", start), ("endTime", end)] {
        if time.is_none() {
            to.error("time", 0, field, "a profile needs this time in microseconds");
        }
    }
    if start.zip(end).is_some_and(|(start, end)| end < start) {
        to.error("end", 0, "endTime", "the profile ends before it starts");
    }
    check_deltas(samples, list(&profile["timeDeltas"]), 0, "timeDeltas", to);
    if samples == 0 {
        to.warn("none", 0, "samples", "the profile has no samples");
    }
}
