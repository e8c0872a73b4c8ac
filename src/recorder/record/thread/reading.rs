//! Lets the signal handler read the calling thread with each sample: what its observers want, and the frames that code
//! has not made.

use std::cell::{Cell, RefCell};

use crate::record::observers::observer::SignalReads;
use crate::sampler::v8::{FrameFinder, OwnSampling, SignalReading};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;

/// The reading of a recorded thread.
pub(super) struct ThreadReading {
    /// Finds the frames that code of the thread has not made, where that is possible.
    frames: Option<FrameFinder>,
    /// What the handler samples itself, if V8 is not the source.
    own: Cell<Option<OwnSampling>>,
    /// None where there is nothing to read.
    current: RefCell<Option<SignalReading>>,
}

impl ThreadReading {
    /// Returns the reading of a thread that is not read yet.
    pub(super) fn new(frames: Option<FrameFinder>, own: Option<OwnSampling>) -> Self {
        Self { frames, own: Cell::new(own), current: RefCell::default() }
    }

    /// Lets the thread be read with each sample from now on. Runs in V8's interrupts, where no JavaScript may run.
    pub(super) fn begin(&self, reads: SignalReads) {
        if let Err(error) = self.try_begin(reads) {
            warn_once(&error);
        }
    }

    fn try_begin(&self, SignalReads { labels, stacks }: SignalReads) -> Result<(), Error> {
        let frames = self.frames.clone();
        if labels.is_none() && stacks.is_none() && frames.is_none() && self.own.get().is_none() {
            return Ok(());
        }
        // The one from before leaves before the next enters.
        self.current.take();
        self.current.replace(Some(SignalReading::start(labels, stacks, frames, self.own.get())?));
        Ok(())
    }

    /// Calls `f` with a function that returns how many samples V8 has taken of this thread since the call; none if
    /// that cannot be known.
    pub(super) fn count_samples(&self, f: impl FnOnce(&dyn Fn() -> Option<u32>)) {
        let mut reading = self.current.borrow_mut();
        let own = match &*reading {
            Some(_) => None,
            None => SignalReading::start(None, None, None, None).ok(),
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

    /// Lets V8 take the samples of the thread from now on. The thread is not read until the next beginning.
    pub(super) fn leave_to_v8(&self) {
        self.own.set(None);
        self.current.take();
    }

    /// Lets the thread be read no more.
    pub(super) fn end(&self) {
        self.current.take();
    }

    /// Lets the signal handler run again, because V8 has started to sample.
    pub(super) fn resumed(&self) {
        if let Some(reading) = &*self.current.borrow() {
            reading.wrap_handler();
        }
    }
}
