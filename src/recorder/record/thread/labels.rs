//! Lets the signal handler read the calling thread: its labels, from the first label on, its native stacks, and the
//! frames that code has not made.

use std::cell::Cell;
use std::sync::Arc;

use super::recording::{RECORDING, ThreadRecording};
use crate::record::link::label_sets;
pub(crate) use crate::record::link::label_sets::SetId;
use crate::sampler::v8::{LabelRing, LabelSource, SignalReading};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;

thread_local! {
    /// Where the id of the thread's current label set is, once the thread has used labels.
    static SOURCE: Cell<Option<LabelSource>> = const { Cell::new(None) };
}

/// Returns the id of the label set `outer` with further labels: names and values in turn.
pub(crate) fn id_with(outer: u32, labels: Vec<String>) -> SetId {
    let mut texts = labels.into_iter();
    label_sets::id_with(outer, std::iter::from_fn(|| texts.next().zip(texts.next())), each_sampled)
}

/// Calls `each` with the ids of this thread's samples that the writer thread has not taken yet.
fn each_sampled(each: &mut dyn FnMut(u32)) {
    RECORDING.with_borrow(|recording| {
        let ring = recording.as_ref().and_then(|recording| recording.link.labels.get());
        ring.into_iter().for_each(|ring| ring.each_waiting(&mut *each));
    });
}

/// Returns the number of the generation of this thread's label sets.
pub(crate) fn generation() -> u32 {
    label_sets::generation()
}

/// Lets the labels of this thread be recorded from now on, in this recording and later ones.
pub(crate) fn use_source(source: LabelSource) {
    SOURCE.set(Some(source));
    RECORDING.with_borrow(|recording| {
        if let Some(recording) = recording.as_ref().filter(|_| !system::is_forked()) {
            begin(recording);
        }
    });
}

/// Returns where the id of this thread's current label set is, once the thread has used labels.
pub(crate) fn source() -> Option<LabelSource> {
    SOURCE.get()
}

/// Lets the thread of a recording that has begun be read with each sample: its labels, if the thread has used
/// labels, and its native stacks, if they are wanted. Runs in V8's interrupts, where no JavaScript may run.
pub(super) fn begin(recording: &ThreadRecording) {
    if let Err(error) = read_into(recording) {
        warn_once(&error);
    }
}

fn read_into(recording: &ThreadRecording) -> Result<(), Error> {
    if SOURCE.get().is_some_and(|source| !source.is_sound()) {
        SOURCE.set(None);
        let reason = "V8 keeps the asynchronous context in another place";
        warn_once(&Error::Labels(reason.into()));
    }
    let labels = SOURCE.get().map(|source| (source, label_ring(recording)));
    let stacks = recording.link.stacks.get().map(|stacks| Arc::clone(&stacks.ring));
    let frames = recording.frames.clone();
    if labels.is_none() && stacks.is_none() && frames.is_none() {
        return Ok(());
    }
    // The one from before leaves before the next enters.
    recording.reading.take();
    recording.reading.replace(Some(SignalReading::start(labels, stacks, frames)?));
    Ok(())
}

fn label_ring(recording: &ThreadRecording) -> Arc<LabelRing> {
    let ring = recording.link.labels.get_or_init(|| {
        let capacity = capacity(recording);
        Arc::new(LabelRing::new(system::now_us(), capacity))
    });
    Arc::clone(ring)
}

/// Returns how many records the ring has room for: the writer thread takes them with each flush.
fn capacity(recording: &ThreadRecording) -> usize {
    const FLUSHES: usize = 4;
    let samples = recording.flush_us() / u64::from(recording.config.interval_us.max(1));
    (usize::try_from(samples).unwrap_or(0) * FLUSHES).clamp(1 << 14, 1 << 18)
}

/// Calls `f` with a function that returns how many samples V8 has taken of this thread since the call; none if
/// that cannot be known.
pub(super) fn count_samples(recording: &ThreadRecording, f: impl FnOnce(&dyn Fn() -> Option<u32>)) {
    let mut reading = recording.reading.borrow_mut();
    let own = match &*reading {
        Some(_) => None,
        None => SignalReading::start(None, None, None).ok(),
    };
    let is_own = own.is_some();
    if is_own {
        *reading = own;
    }
    let wrapped = reading.as_ref().filter(|reading| reading.wrap_handler());
    let first = wrapped.map_or(0, SignalReading::samples);
    f(&|| wrapped.map(|reading| reading.samples() - first));
    if is_own {
        reading.take();
    }
}

/// Lets the signal handler run again, because V8 has started to sample.
pub(super) fn resumed(recording: &ThreadRecording) {
    if let Some(reading) = &*recording.reading.borrow() {
        reading.wrap_handler();
    }
}
