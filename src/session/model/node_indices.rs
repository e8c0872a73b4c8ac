//! The indices of a profile's nodes by their ids, which are mostly small and close together.

use rustc_hash::FxHashMap;

/// The index of an id that has none.
const NONE: u32 = u32::MAX;
/// Ids that have a place in a list however few nodes there are.
const SPARE: u64 = 1024;

/// Indices by ids.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeIndices {
    /// Indices of the small ids.
    small: Vec<u32>,
    /// Indices of ids that were far above the count of nodes.
    large: FxHashMap<u64, u32>,
}

impl NodeIndices {
    /// Returns the index of an id. A new id gets the index `next`, the count of nodes so far.
    pub(super) fn number(&mut self, id: u64, next: u32) -> u32 {
        if let Some(index) = self.known(id) {
            return index;
        }
        self.set(id, next);
        next
    }

    /// Sets the index of a new id.
    pub(super) fn set(&mut self, id: u64, index: u32) {
        if id > 2 * u64::from(index) + SPARE {
            self.large.insert(id, index);
            return;
        }
        let at = id as usize;
        if at >= self.small.len() {
            self.small.resize(at + 1, NONE);
        }
        self.small[at] = index;
    }

    /// Returns all ids with their indices.
    pub(super) fn known_ids(&self) -> impl Iterator<Item = (u64, u32)> {
        let small = (0..).zip(self.small.iter().copied()).filter(|(_, index)| *index != NONE);
        small.chain(self.large.iter().map(|(id, index)| (*id, *index)))
    }

    fn known(&self, id: u64) -> Option<u32> {
        let small = usize::try_from(id).ok().and_then(|at| self.small.get(at).copied());
        small.filter(|index| *index != NONE).or_else(|| {
            // An id of the list can have come before the list was as long.
            if self.large.is_empty() { None } else { self.large.get(&id).copied() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_keeps_its_index() {
        let mut indices = NodeIndices::default();
        let ids = [1, 2, 1 << 53, 0, u64::MAX, 5000, 3];
        for (next, id) in (0..).zip(ids) {
            assert_eq!(indices.number(id, next), next);
        }
        for next in 7..3000 {
            assert_eq!(indices.number(u64::from(next) + 100_000, next), next);
        }
        for (index, id) in (0..).zip(ids) {
            assert_eq!(indices.number(id, 9999), index);
        }
        assert!(indices.small.len() < 5000, "a large id needs no long list");
        for id in 10..5000 {
            indices.number(id, 3000 + id as u32);
        }
        assert_eq!(indices.number(5000, 9999), 5);
    }
}
