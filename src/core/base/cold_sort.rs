//! Stable sorting with little code, for lists that are short or sorted once.
//!
//! The standard library's sort is compiled for each type and each order, with 10 to 30 kB of code each:
//! eighty of them were a fifth of the library. Here one sort of places serves all.

use std::cmp::Ordering;

/// Sorts a list stably, as the methods of slices do, with little code and some memory.
pub trait ColdSort<T> {
    /// Sorts by a key.
    fn cold_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);

    /// Sorts by a comparison.
    fn cold_sort_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);
}

impl<T> ColdSort<T> for [T] {
    fn cold_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.cold_sort_by(|one, other| key(one).cmp(&key(other)));
    }

    fn cold_sort_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        let mut places = places(self.len(), &|one, other| compare(&self[one], &self[other]));
        for index in 0..self.len() {
            while places[index] != index {
                let place = places[index];
                self.swap(index, place);
                places.swap(index, place);
            }
        }
    }
}

/// Returns the place in the order of each of `count` items.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    let mut places = vec![0; count];
    for (place, item) in order.into_iter().enumerate() {
        places[item] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_sorted_as_by_the_standard_library(list in vec((0_u8..9, any::<u16>()), 0..60)) {
            let (mut ours, mut expected) = (list.clone(), list);
            ours.cold_sort_by_key(|(key, _)| *key);
            expected.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(&ours, &expected);
            ours.cold_sort_by(|one, other| other.cmp(one));
            expected.sort_by(|one, other| other.cmp(one));
            prop_assert_eq!(ours, expected);
        }
    }
}
