//! The call paths of several profiles, each once.

use std::hash::Hash;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// The paths of a profile's nodes, by the nodes: none for those that nobody asked for, and within for a node
/// without a path.
pub type KnownPaths = Vec<Option<Option<u32>>>;

/// Call paths with their values. A path has a larger number than the path above.
#[derive(Debug)]
pub struct PathTree<End, Value = ()> {
    /// By the number of the path above, and what the path ends with.
    paths: IndexMap<(Option<u32>, End), Value, FxBuildHasher>,
}

impl<End, Value> Default for PathTree<End, Value> {
    fn default() -> Self {
        Self { paths: IndexMap::default() }
    }
}

impl<End: Copy + Eq + Hash, Value: Default> PathTree<End, Value> {
    /// Returns the number of a path, and its value.
    pub fn path(&mut self, above: Option<u32>, end: End) -> (u32, &mut Value) {
        let entry = self.paths.entry((above, end));
        (entry.index() as u32, entry.or_default())
    }

    /// Returns the path of a node and the nodes above. `end` returns what a frame adds to a path; none for
    /// nothing.
    pub fn of_node(
        &mut self,
        profile: &ThreadProfile,
        node: u32,
        known: &mut KnownPaths,
        end: impl Fn(u32) -> Option<End>,
    ) -> Option<u32> {
        let mut unknown = Vec::new();
        let mut at = node;
        while at != NONE && known[at as usize].is_none() {
            unknown.push(at);
            at = profile.nodes[at as usize].parent;
        }
        let mut path = if at == NONE { None } else { known[at as usize].flatten() };
        for node in unknown.into_iter().rev() {
            if let Some(end) = end(profile.nodes[node as usize].frame) {
                path = Some(self.path(path, end).0);
            }
            known[node as usize] = Some(path);
        }
        path
    }

    /// Returns the value of a path.
    pub fn value(&mut self, path: u32) -> &mut Value {
        &mut self.paths[path as usize]
    }

    /// Returns the path above a path, and what the path ends with; none for a number that no path has.
    pub fn step(&self, path: u32) -> Option<(Option<u32>, End)> {
        self.paths.get_index(path as usize).map(|(step, _)| *step)
    }

    /// Returns for each path, by its number, the path above, what the path ends with, and its value.
    pub fn list(&self) -> impl ExactSizeIterator<Item = (Option<u32>, End, &Value)> {
        self.paths.iter().map(|((above, end), value)| (*above, *end, value))
    }
}
