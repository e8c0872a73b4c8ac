//! The observers of a recording on the program's thread.

use std::any::Any;

use super::observer::{SignalReads, ThreadObserver};

/// The halves on the program's thread.
pub(crate) struct ThreadObservers(Vec<Box<dyn ThreadObserver>>);

impl ThreadObservers {
    /// Returns these halves, which observe in their order.
    pub(super) fn new(halves: Vec<Box<dyn ThreadObserver>>) -> Self {
        Self(halves)
    }

    /// Returns the half of a type; none if the recording does not have it.
    pub(crate) fn get<T: ThreadObserver>(&self) -> Option<&T> {
        self.0.iter().find_map(|half| {
            let half: &dyn Any = half.as_ref();
            half.downcast_ref()
        })
    }

    /// Returns what the signal handler should read with each sample.
    pub(crate) fn reads(&self) -> SignalReads {
        let mut reads = SignalReads::default();
        self.0.iter().for_each(|half| half.add_reads(&mut reads));
        reads
    }

    /// Lets each half take what belongs to the window that ends now.
    pub(crate) fn end_window(&self) {
        self.0.iter().for_each(|half| half.end_window());
    }

    /// Lets each half take what is left.
    pub(crate) fn end(&self) {
        self.0.iter().for_each(|half| half.end());
    }
}
