//! A sampled thread: what its signal handler reads.

use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::labels::{LabelReader, LabelRing, LabelSource};
use super::super::stacks::StackRing;
use super::super::symbols;
use super::missing_frame::FrameFinder;
use super::threads;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system::registers;
use cpu_prof_core::base::system::stopped_thread::StoppedThread;
use cpu_prof_core::base::system::{self, sampling_signal};

/// What takes the samples of a thread in its signal handler, if V8 does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnSampling {
    /// What `sample` gets. It must stay until the reading of the thread is given up.
    pub data: *const c_void,
    /// Takes a sample of the calling thread. It locks and allocates nothing, and never panics.
    pub sample: unsafe fn(*const c_void, StoppedThread),
}

/// What the signal handler of a thread uses.
struct SampledThread {
    labels: Option<Rc<LabelReader>>,
    stacks: Option<Arc<StackRing>>,
    frames: Option<FrameFinder>,
    /// The thread, if its samples are our own.
    own: Option<OwnSampling>,
    /// Count of the samples since the reading began.
    samples: AtomicU32,
}

/// The reading of a thread with each sample. A `SignalReading` never leaves its thread (it is not `Send`), and
/// is given up in the environment's cleanup hook at the latest.
pub(crate) struct SignalReading {
    /// The signal handler has its address.
    sampled: Box<SampledThread>,
}

impl SignalReading {
    /// Lets this thread be read with each sample from now on: its labels and its native stacks, where these are
    /// given. V8 sees missing frames, where something finds them. Another reading of the thread must have been given
    /// up.
    pub(crate) fn start(
        labels: Option<(LabelSource, Arc<LabelRing>)>,
        stacks: Option<Arc<StackRing>>,
        frames: Option<FrameFinder>,
        own: Option<OwnSampling>,
    ) -> Result<Self, Error> {
        let labels = labels.map(|(source, ring)| LabelReader::start(source, ring)).transpose()?;
        let reading = Self {
            sampled: Box::new(SampledThread {
                labels,
                stacks,
                frames,
                own,
                samples: AtomicU32::new(0),
            }),
        };
        let data: *const SampledThread = &raw const *reading.sampled;
        if !threads::enter(data.cast_mut().cast::<c_void>()) {
            return Err(Error::Unread("too many threads are recorded at a time".into()));
        }
        reading.wrap_handler();
        Ok(reading)
    }

    /// Lets the signal handler run again, which V8 has replaced if this thread's sampling has just begun and
    /// no other thread was sampled. A handler of others stays: then there are no records, which the writer
    /// thread sees. Returns whether it runs.
    pub(crate) fn wrap_handler(&self) -> bool {
        let is_set = symbols::api().is_ok_and(|api| {
            sampling_signal::wrap(api.profiler_start as *const () as usize, around_sample)
        });
        if let Some(labels) = self.sampled.labels.as_ref().filter(|_| is_set) {
            labels.handler_was_set();
        }
        is_set
    }

    /// Returns how many samples V8 has taken of this thread since the reading began.
    pub(crate) fn samples(&self) -> u32 {
        self.sampled.samples.load(Ordering::Relaxed)
    }
}

impl Drop for SignalReading {
    fn drop(&mut self) {
        threads::leave();
    }
}

/// Returns whether the calling thread is read with each sample. May be called in a signal handler.
pub(crate) fn is_read_here() -> bool {
    !threads::data().is_null()
}

/// Runs in the signal handler of any thread. Nothing here may lock, allocate or panic.
pub(crate) fn around_sample(v8: Option<&dyn Fn()>, stopped: StoppedThread) {
    // SAFETY: what a thread has entered stays until the thread itself leaves, and the handler runs on the
    // thread.
    let thread = unsafe { threads::data().cast::<SampledThread>().as_ref() };
    // A signal of our timer is for a thread that is walked, and one of V8's for any other.
    let Some(thread) = thread.filter(|thread| thread.own.is_some() == v8.is_none()) else {
        return v8.into_iter().for_each(|v8| v8());
    };
    let SampledThread { labels, stacks, frames, own, samples } = thread;
    // SAFETY: this is the thread. Its isolate is alive until it leaves.
    let current = labels.as_ref().map(|labels| unsafe { labels.current() });
    let from_us = system::now_us();
    match (own, v8, frames) {
        // SAFETY: the data lives until the thread leaves, and the handler does not interrupt itself.
        (Some(own), ..) => unsafe { (own.sample)(own.data, stopped) },
        (None, Some(v8), Some(frames)) => with_missing_frame(frames, v8, stopped),
        (None, Some(v8), None) => v8(),
        (None, None, _) => {}
    }
    let to_us = system::now_us();
    samples.fetch_add(1, Ordering::Relaxed);
    if let Some((labels, current)) = labels.as_ref().zip(current) {
        labels.add(current, from_us, to_us);
    }
    if let Some(stacks) = stacks {
        // SAFETY: this is the thread, which stands still while its handler runs.
        unsafe { stacks.add(from_us, to_us, &stopped.registers()) };
    }
}

/// Calls V8's handler, with a frame for code that has none.
fn with_missing_frame(frames: &FrameFinder, v8: &dyn Fn(), stopped: StoppedThread) {
    let values = stopped.registers();
    // SAFETY: this is the thread, which stands still while its handler runs.
    unsafe {
        match frames.missing(&values) {
            Some(frame) => {
                let stack = values[usize::from(registers::STACK)];
                frame.while_made(stack, |registers| stopped.while_seen_with(registers, v8));
            }
            None => v8(),
        }
    }
}
