//! The label sets of the process, by their ids.

use std::sync::LazyLock;

use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::session::label_table::{LabelSet, NO_LABELS};
use parking_lot::RwLock;

/// The most label sets of a process. Labels are meant for routes and tenants, not for ids of requests.
const MAX_SETS: usize = 10_000;

/// The sets by their ids less one. The first stands for those that have no place.
static SETS: LazyLock<RwLock<FxIndexSet<LabelSet>>> = LazyLock::new(|| {
    let too_many = [("(too many)", "true")].into_iter().collect();
    RwLock::new(std::iter::once(too_many).collect())
});

/// The id of the set that stands for those that have no place.
const TOO_MANY: u32 = 1;

/// Returns the id of the set `outer` with further labels, which take precedence.
pub(crate) fn id_with(outer: u32, labels: impl Iterator<Item = (String, String)>) -> u32 {
    let set = merged(set_of(outer).as_ref(), labels);
    if set.is_empty() {
        return NO_LABELS;
    }
    if let Some(index) = SETS.read().get_index_of(&set) {
        return index as u32 + 1;
    }
    let mut sets = SETS.write();
    if sets.len() > MAX_SETS { TOO_MANY } else { sets.insert_full(set).0 as u32 + 1 }
}

/// Returns the set of an id; none if no set has this id.
pub(crate) fn set_of(id: u32) -> Option<LabelSet> {
    SETS.read().get_index(id.checked_sub(1)? as usize).cloned()
}

fn merged(outer: Option<&LabelSet>, labels: impl Iterator<Item = (String, String)>) -> LabelSet {
    let mut all: std::collections::BTreeMap<String, String> = outer
        .into_iter()
        .flat_map(LabelSet::iter)
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    all.extend(labels);
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(outer: u32, labels: &[(&str, &str)]) -> u32 {
        id_with(outer, labels.iter().map(|(key, value)| ((*key).into(), (*value).into())))
    }

    #[test]
    fn sets_have_ids_by_their_contents_until_there_are_too_many() {
        let outer = id(0, &[("b", "1"), ("a", "2")]);
        assert_eq!(id(0, &[("a", "2"), ("b", "1")]), outer);
        let inner = id(outer, &[("b", "3"), ("c", "4")]);
        assert_eq!(set_of(inner).unwrap().to_string(), "a=2 · b=3 · c=4");
        assert_eq!(id(inner, &[]), inner);
        assert_eq!((id(0, &[]), set_of(0), set_of(u32::MAX)), (0, None, None));

        let many: Vec<u32> = (0..MAX_SETS).map(|n| id(0, &[("n", &n.to_string())])).collect();
        assert_eq!(many.iter().filter(|id| **id == TOO_MANY).count(), 2);
        assert_eq!(id(0, &[("n", "0")]), many[0]);
        assert_eq!(id(0, &[("a", "2"), ("b", "1")]), outer);
        assert_eq!(set_of(id(outer, &[("x", "y")])).unwrap().to_string(), "(too many)=true");
        assert_eq!(id(TOO_MANY, &[("x", "y")]), TOO_MANY);
    }
}
