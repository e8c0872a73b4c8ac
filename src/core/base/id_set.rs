//! A set of ids that are mostly small and close together.

use rustc_hash::FxHashSet;

/// Ids below this limit need one bit each.
const SMALL: u64 = 1 << 26;

/// A set of ids.
#[derive(Debug, Default, Clone)]
pub struct IdSet {
    /// A bit for each small id.
    small: Vec<u64>,
    large: FxHashSet<u64>,
}

impl IdSet {
    /// Adds an id. Returns whether the set did not have the id.
    #[inline]
    pub fn insert(&mut self, id: u64) -> bool {
        if id >= SMALL {
            return self.large.insert(id);
        }
        let (word, bit) = place(id);
        if word >= self.small.len() {
            self.small.resize(word + 1, 0);
        }
        let is_new = self.small[word] & bit == 0;
        self.small[word] |= bit;
        is_new
    }

    /// Returns the ids that another set does not have, in no order.
    pub fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> + 'a {
        let small = self.small.iter().enumerate().flat_map(move |(word, bits)| {
            let rest = bits & !other.small.get(word).copied().unwrap_or_default();
            (0..64).filter(move |bit| rest >> bit & 1 == 1).map(move |bit| word as u64 * 64 + bit)
        });
        small.chain(self.large.difference(&other.large).copied())
    }

    /// Removes an id.
    pub fn remove(&mut self, id: u64) {
        let (word, bit) = place(id);
        match self.small.get_mut(word) {
            Some(word) if id < SMALL => *word &= !bit,
            _ => drop(self.large.remove(&id)),
        }
    }

    /// Returns whether the set has an id.
    #[inline]
    pub fn contains(&self, id: u64) -> bool {
        if id >= SMALL {
            return self.large.contains(&id);
        }
        let (word, bit) = place(id);
        self.small.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[inline]
fn place(id: u64) -> (usize, u64) {
    ((id / 64) as usize, 1 << (id % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_sizes_are_kept() {
        let mut set = IdSet::default();
        for id in [0, 63, 64, SMALL - 1, SMALL, u64::MAX] {
            assert!(!set.contains(id));
            assert!(set.insert(id) && set.contains(id));
            assert!(!set.insert(id));
        }
        assert!(!set.contains(1));
        for id in [63, SMALL, 7] {
            set.remove(id);
            assert!(!set.contains(id));
        }
        let mut rest: Vec<u64> = set.without(&IdSet::default()).collect();
        rest.sort_unstable();
        assert_eq!(rest, [0, 64, SMALL - 1, u64::MAX]);
        assert_eq!(set.without(&set.clone()).count(), 0);
    }
}
