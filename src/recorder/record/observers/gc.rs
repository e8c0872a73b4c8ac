//! Garbage collections: the longest are drawn, and the totals of all are in the heartbeats.

use std::mem;
use std::sync::Arc;

use super::observer::{
    FoundEvents, Halves, Moment, Observer, Start, ThreadObserver, WriterObserver, WrittenWindow,
};
use crate::sampler::v8::{CollectionLog, Heap};
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::profile::gc::{Collection, CollectionTotals};

/// Bytes of a collection, with the call that it may need.
const COLLECTION_BYTES: i64 = 280;
/// Duration from which a collection is always drawn, microseconds.
const ALWAYS_DRAWN_US: i64 = 5000;

/// The observer of collections.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Gc], is_always_on: false, begin };

fn begin(_: &Start<'_>) -> Halves {
    let log: Arc<CollectionLog> = Arc::default();
    match Heap::watch(Some(Arc::clone(&log))) {
        Some(heap) => Halves::both(CollectingHeap { _heap: heap }, Collections::new(log)),
        None => Halves::default(),
    }
}

/// The heap whose collections V8 tells.
struct CollectingHeap {
    _heap: Heap,
}

impl ThreadObserver for CollectingHeap {}

/// The collections that are not written yet.
struct Collections {
    log: Arc<CollectionLog>,
    /// Collections that are younger than the last window.
    waiting: Vec<Collection>,
}

impl Collections {
    fn new(log: Arc<CollectionLog>) -> Self {
        Self { log, waiting: Vec::new() }
    }

    /// Takes the collections that began before a time: their totals, and those that are drawn.
    fn take_until(&mut self, at: &Moment<'_>, found: &mut FoundEvents) {
        let mut collections = mem::take(&mut self.waiting);
        collections.extend(self.log.take());
        self.waiting = collections.extract_if(.., |each| each.start_us >= at.until_us).collect();
        if !collections.is_empty() {
            let mut totals = CollectionTotals::default();
            collections.iter().for_each(|each| totals.add(each));
            found.collection_totals = Some(totals);
        }
        let count = usize::try_from(at.room / COLLECTION_BYTES).unwrap_or(0);
        found.collections = longest(collections, count);
        for collection in &found.collections {
            at.trace.collection(&mut found.lasting, collection);
        }
    }
}

impl WriterObserver for Collections {
    fn window(&mut self, _: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        self.take_until(at, found);
    }

    fn end(&mut self, _: bool, at: &Moment<'_>, found: &mut FoundEvents) {
        self.take_until(at, found);
    }
}

/// Returns the `count` longest collections, and all that are always drawn, in the order of time.
fn longest(mut collections: Vec<Collection>, count: usize) -> Vec<Collection> {
    collections.sort_by_key(|each| std::cmp::Reverse(each.duration_us));
    let always = collections.partition_point(|each| each.duration_us >= ALWAYS_DRAWN_US);
    collections.truncate(count.max(always));
    collections.sort_by_key(|each| each.start_us);
    collections
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::gc::CollectionKind;

    #[test]
    fn the_longest_collections_are_drawn_in_the_order_of_time() {
        let of = |durations: &[i64]| -> Vec<Collection> {
            let each = |(index, duration_us): (usize, &i64)| Collection {
                kind: CollectionKind::Minor,
                start_us: index as i64,
                duration_us: *duration_us,
                heap_before: 0,
                heap_after: 0,
                is_nested: false,
            };
            durations.iter().enumerate().map(each).collect()
        };
        let drawn = |durations: &[i64], count| -> Vec<i64> {
            longest(of(durations), count).iter().map(|each| each.duration_us).collect()
        };
        assert_eq!(drawn(&[3, 1, 4, 2], 2), [3, 4]);
        assert_eq!(drawn(&[3, 9000, 4, 5000], 1), [9000, 5000]);
        assert!(drawn(&[3, 1], 0).is_empty());
    }
}
