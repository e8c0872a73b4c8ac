//! Numbers for values: each distinct value has one number, from 0 in the order of their coming.

use std::hash::{BuildHasherDefault, Hash};

use indexmap::{Equivalent, IndexSet};
use rustc_hash::FxHasher;

/// Values with their numbers, which are the indices.
pub type FxIndexSet<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

/// Returns the number of a value. Only a new value is cloned, by `clone`.
pub fn number_of<T, Q>(values: &mut FxIndexSet<T>, value: &Q, clone: impl FnOnce(&Q) -> T) -> u32
where
    T: Hash + Eq,
    Q: ?Sized + Hash + Equivalent<T>,
{
    let index = values.get_index_of(value).unwrap_or_else(|| values.insert_full(clone(value)).0);
    index as u32
}
