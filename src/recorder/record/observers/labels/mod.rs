//! Labels: gives each sample the label set that its work had.
//!
//! The signal handler notes the set of each sample, from the thread's first label on.

mod label_sets;
mod pairing;

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

pub(crate) use self::label_sets::SetId;
use self::pairing::LabelPairing;
use super::observer::{Halves, Observer, SignalReads, Start, ThreadObserver, WriterObserver};
use crate::sampler::v8::{LabelRing, LabelSource};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::window::Window;

thread_local! {
    /// Where the id of the thread's current label set is, once the thread has used labels.
    static SOURCE: Cell<Option<LabelSource>> = const { Cell::new(None) };
}

/// The observer of labels.
pub(super) const OBSERVER: Observer = Observer { categories: &[], is_always_on: true, begin };

fn begin(start: &Start<'_>) -> Halves {
    let ring = Arc::<SharedRing>::default();
    let labels = ThreadLabels { ring: Arc::clone(&ring), capacity: capacity(start) };
    Halves::both(labels, LabelPairs { ring, pairing: LabelPairing::default() })
}

/// Label sets of the samples that are not written yet, once the thread has used labels.
type SharedRing = OnceLock<Arc<LabelRing>>;

/// The labels of a thread.
pub(crate) struct ThreadLabels {
    ring: Arc<SharedRing>,
    /// Count of the records that the ring has room for.
    capacity: usize,
}

/// Returns how many records a ring has room for: the writer thread takes them with each flush.
fn capacity(start: &Start<'_>) -> usize {
    const FLUSHES: usize = 4;
    let flush_us = start.config.flush_interval(start.source).as_micros();
    let samples = flush_us / u128::from(start.config.interval_us.max(1));
    (usize::try_from(samples).unwrap_or(0) * FLUSHES).clamp(1 << 14, 1 << 18)
}

impl ThreadLabels {
    /// Calls `each` with the ids of the thread's samples that the writer thread has not taken yet.
    pub(crate) fn each_sampled(&self, each: &mut dyn FnMut(u32)) {
        self.ring.get().into_iter().for_each(|ring| ring.each_waiting(&mut *each));
    }
}

impl ThreadObserver for ThreadLabels {
    fn add_reads(&self, reads: &mut SignalReads) {
        if SOURCE.get().is_some_and(|source| !source.is_sound()) {
            SOURCE.set(None);
            let reason = "V8 keeps the asynchronous context in another place";
            warn_once(&Error::Labels(reason.into()));
        }
        let ring =
            || self.ring.get_or_init(|| LabelRing::new(system::now_us(), self.capacity).into());
        reads.labels = SOURCE.get().map(|source| (source, Arc::clone(ring())));
    }
}

/// The label sets of the samples.
struct LabelPairs {
    ring: Arc<SharedRing>,
    pairing: LabelPairing,
}

impl WriterObserver for LabelPairs {
    fn before_passes(&mut self, window: &mut Window) {
        if let Some(ring) = self.ring.get() {
            self.pairing.pair(window, ring);
        }
    }
}

/// Returns the id of the label set `outer` with further labels: names and values in turn. `each_sampled` calls
/// its argument with the ids of this thread's samples that the writer thread has not taken yet.
pub(crate) fn id_with(
    outer: u32,
    labels: Vec<String>,
    each_sampled: impl Fn(&mut dyn FnMut(u32)),
) -> SetId {
    let mut texts = labels.into_iter();
    label_sets::id_with(outer, std::iter::from_fn(|| texts.next().zip(texts.next())), each_sampled)
}

/// Returns the number of the generation of this thread's label sets.
pub(crate) fn generation() -> u32 {
    label_sets::generation()
}

/// Lets the labels of this thread be recorded in the recordings that begin to read from now on.
pub(crate) fn use_source(source: LabelSource) {
    SOURCE.set(Some(source));
}

/// Returns where the id of this thread's current label set is, once the thread has used labels.
pub(crate) fn source() -> Option<LabelSource> {
    SOURCE.get()
}
