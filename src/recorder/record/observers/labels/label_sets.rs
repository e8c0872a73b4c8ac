//! The label sets of the process, by their ids. No id stands for two sets.
//!
//! Each thread remembers its own sets. Those that nothing has used for long are forgotten, because ids of
//! traces and requests make new sets without end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::profile::label_table::{LabelSet, NO_LABELS};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// Memory of the sets that a thread remembers at least after their last use, bytes: thousands of sets. It holds
/// as much again of older ones.
const KEPT_BYTES: usize = 1 << 20;

/// Memory of the sets of all threads, bytes.
const PROCESS_BYTES: usize = 16 << 20;

/// Memory of a set beside its labels, bytes: its counters, and its entries in two tables.
const ENTRY_BYTES: usize = 120;

/// The id of the set that stands for those that got no id.
const TOO_MANY: u32 = 1;

/// The largest id: JavaScript keeps ids as small integers.
const MAX_ID: u32 = i32::MAX as u32;

static NEXT_ID: AtomicU32 = AtomicU32::new(TOO_MANY + 1);

/// The sets of all threads, which the writer thread reads.
static THREADS: Mutex<Vec<Weak<Mutex<ThreadSets>>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Arc<Mutex<ThreadSets>> = {
        let own = Arc::default();
        let mut threads = THREADS.lock();
        threads.retain(|sets| sets.strong_count() > 0);
        threads.push(Arc::downgrade(&own));
        own
    };
}

/// The sets of one thread.
#[derive(Default)]
struct ThreadSets {
    /// Sets that were used since the last change of generations.
    young: Generation,
    /// Sets that were used in the generation before, and not since.
    old: Generation,
    /// Number of this generation.
    number: u32,
}

#[derive(Default)]
struct Generation {
    ids: FxHashMap<Arc<LabelSet>, u32>,
    sets: FxHashMap<u32, Arc<LabelSet>>,
    /// Memory of the sets.
    bytes: usize,
}

impl Generation {
    fn add(&mut self, id: u32, set: Arc<LabelSet>) {
        self.bytes += ENTRY_BYTES + set.bytes();
        self.ids.insert(Arc::clone(&set), id);
        self.sets.insert(id, set);
    }
}

impl ThreadSets {
    /// Returns the set of an id, which counts as used now.
    fn set_of(&mut self, id: u32) -> Option<Arc<LabelSet>> {
        if let Some(set) = self.young.sets.get(&id) {
            return Some(Arc::clone(set));
        }
        let set = self.old.sets.remove(&id)?;
        self.old.ids.remove(&set);
        self.young.add(id, Arc::clone(&set));
        Some(set)
    }

    /// Returns the id of a set, which counts as used now. `kept` is the memory of a generation, bytes. `sampled`
    /// lists ids that the writer thread is going to ask for.
    fn id_of(
        &mut self,
        set: LabelSet,
        kept: usize,
        sampled: impl Fn(&mut dyn FnMut(u32)),
    ) -> SetId {
        if let Some(id) = self.young.ids.get(&set) {
            return SetId { id: *id, is_new: false };
        }
        if self.young.bytes > kept {
            self.number = self.number.wrapping_add(1);
            let mut dropped = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            sampled(&mut |id| {
                if let Some(set) = dropped.sets.remove(&id) {
                    self.young.add(id, set);
                }
            });
        }
        if let Some(id) = self.old.ids.get(&set).copied() {
            self.set_of(id);
            return SetId { id, is_new: false };
        }
        let next = |id| (id < MAX_ID).then_some(id + 1);
        let Ok(id) = NEXT_ID.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else {
            return SetId { id: TOO_MANY, is_new: true };
        };
        self.young.add(id, Arc::new(set));
        SetId { id, is_new: true }
    }
}

/// Returns the number of the calling thread's generation. Ids that were asked for in this generation are
/// remembered without a further request.
pub(crate) fn generation() -> u32 {
    OWN.with(|own| own.lock().number)
}

/// An id that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SetId {
    /// The id.
    pub id: u32,
    /// Whether nobody has asked for the set before, as far as the thread remembers.
    pub is_new: bool,
}

/// Returns the id of the set `outer` with further labels, which take precedence. An empty value takes a label
/// away. `sampled` lists ids that the writer thread is going to ask for, which are remembered until then.
pub(crate) fn id_with(
    outer: u32,
    labels: impl Iterator<Item = (String, String)>,
    sampled: impl Fn(&mut dyn FnMut(u32)),
) -> SetId {
    let own = OWN.with(Arc::clone);
    let outer = own.lock().set_of(outer).or_else(|| set_of(outer));
    let set = merged(outer.as_deref(), labels);
    if set.is_empty() {
        return SetId { id: NO_LABELS, is_new: false };
    }
    let kept = KEPT_BYTES.min(PROCESS_BYTES / 2 / THREADS.lock().len().max(1));
    own.lock().id_of(set, kept, sampled)
}

/// Returns the set of an id, which counts as used now; none if no set has had this id. A set that stands
/// for all others takes the place of one that is forgotten.
pub(crate) fn set_of(id: u32) -> Option<Arc<LabelSet>> {
    if id == NO_LABELS || id >= NEXT_ID.load(Ordering::Relaxed) {
        return None;
    }
    let threads: Vec<_> = THREADS.lock().iter().filter_map(Weak::upgrade).collect();
    let known = threads.iter().find_map(|sets| sets.lock().set_of(id));
    Some(known.unwrap_or_else(|| {
        warn_once(&Error::ManyLabels);
        Arc::new([("(too many)", "true")].into_iter().collect())
    }))
}

fn merged(outer: Option<&LabelSet>, labels: impl Iterator<Item = (String, String)>) -> LabelSet {
    let mut all: std::collections::BTreeMap<String, String> = outer
        .into_iter()
        .flat_map(LabelSet::iter)
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    all.extend(labels);
    all.retain(|_, value| !value.is_empty());
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(outer: u32, labels: &[(&str, &str)]) -> u32 {
        let texts = labels.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        id_with(outer, texts, |_| {}).id
    }

    #[test]
    fn sets_have_ids_by_their_contents() {
        let outer = id(0, &[("b", "1"), ("a", "2")]);
        assert_eq!(id(0, &[("a", "2"), ("b", "1")]), outer);
        let inner = id(outer, &[("b", "3"), ("c", "4")]);
        assert_eq!(set_of(inner).unwrap().to_string(), "a=2 · b=3 · c=4");
        assert_eq!(id(inner, &[]), inner);
        assert_eq!(id(inner, &[("c", ""), ("d", "")]), id(0, &[("a", "2"), ("b", "3")]));
        assert_eq!(id(inner, &[("a", ""), ("b", ""), ("c", "")]), 0);
        assert_eq!((id(0, &[]), set_of(0), set_of(u32::MAX)), (0, None, None));
        let elsewhere = std::thread::spawn(move || (id(inner, &[]), set_of(inner).unwrap()));
        let (other, set) = elsewhere.join().unwrap();
        assert_ne!(other, inner);
        assert_eq!(set, set_of(inner).unwrap());
    }

    #[test]
    fn sets_that_were_sampled_stay_until_the_writer_has_asked() {
        let [sampled, other] = ["waits", "does not"].map(|text| id(0, &[("sample", text)]));
        for n in 0..100_000 {
            let texts = [("n".to_owned(), n.to_string())].into_iter();
            id_with(0, texts, |each| [sampled, u32::MAX].into_iter().for_each(each));
        }
        assert_eq!(set_of(sampled).unwrap().get("sample"), Some("waits"));
        assert_eq!(set_of(other).unwrap().to_string(), "(too many)=true");
    }

    #[test]
    fn a_million_sets_do_not_stay_and_those_in_use_do() {
        let [sampled, around, asked, unused] =
            ["sampled", "around", "asked", "unused"].map(|use_| id(0, &[("use", use_)]));
        for n in 0..1_000_000 {
            id(0, &[("n", &n.to_string())]);
            if n % 1000 == 0 {
                assert_eq!(set_of(sampled).unwrap().get("use"), Some("sampled"));
                id(around, &[("x", "y")]);
                assert_eq!(id(0, &[("use", "asked")]), asked);
            }
        }
        OWN.with(|own| {
            let ThreadSets { young, old, number } = &*own.lock();
            assert!(*number > 10);
            for Generation { ids, sets, bytes } in [young, old] {
                assert_eq!(ids.len(), sets.len());
                let counted: usize = sets.values().map(|set| ENTRY_BYTES + set.bytes()).sum();
                assert!(counted <= *bytes && *bytes <= 2 * KEPT_BYTES, "{counted} {bytes}");
            }
        });
        assert_eq!(set_of(around).unwrap().get("use"), Some("around"));
        assert_eq!(set_of(unused).unwrap().to_string(), "(too many)=true");
        assert_ne!(id(0, &[("use", "unused")]), unused);
    }
}
