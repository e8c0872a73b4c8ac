//! A sampled thread whose labels are read: what its signal handler does, and its collections.
//!
//! V8 moves objects in collections only, on the thread itself. So the label set from before a collection
//! counts until the collection has ended.

use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering, compiler_fence};

use super::super::symbols::{self, Isolate};
use super::ring::{LabelRecord, LabelRing};
use super::source::LabelSource;
use super::threads;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system::{self, sampling_signal};
use cpu_prof_core::profile::session::label_table::NO_LABELS;

/// `GCType::kGCTypeAll`
const ALL: c_int = 0b1_1111;

/// What the signal handler and the collections of a thread use.
pub(super) struct SampledThread {
    source: LabelSource,
    /// Count of the collections that have begun and not ended.
    collections: AtomicU32,
    /// Id of the label set before the collections.
    before: AtomicI32,
    ring: Arc<LabelRing>,
}

impl SampledThread {
    /// Returns the id of the current label set; 0 if there is none. May be called in a signal handler.
    ///
    /// # Safety
    /// Must be called on the thread, while its isolate is alive.
    unsafe fn labels(&self) -> i32 {
        if self.collections.load(Ordering::Relaxed) > 0 {
            return self.before.load(Ordering::Relaxed);
        }
        // SAFETY: the caller promises the thread, and no collection moves objects.
        unsafe { self.source.read() }.unwrap_or_default()
    }
}

/// The reading of a thread's labels with each sample. A `LabelSampling` never leaves its thread (it is not
/// `Send`), and is given up in the environment's cleanup hook at the latest.
pub(crate) struct LabelSampling {
    /// The signal handler and V8 have its address.
    sampled: Rc<SampledThread>,
    /// The isolate whose collections are watched.
    watched: Option<*mut Isolate>,
}

impl LabelSampling {
    /// Lets the labels of this thread be read with each sample from now on, into `ring`.
    pub(crate) fn start(source: LabelSource, ring: Arc<LabelRing>) -> Result<Self, Error> {
        let api = symbols::api()?;
        let sampled = Rc::new(SampledThread {
            source,
            collections: AtomicU32::new(0),
            before: AtomicI32::new(0),
            ring,
        });
        let watched = source.isolate();
        if let Some(isolate) = watched {
            let data = data_of(&sampled);
            // SAFETY: this is the isolate's own thread. The data stays until the callbacks are removed.
            unsafe {
                (api.add_gc_prologue_callback)(isolate, before_collection, data, ALL);
                (api.add_gc_epilogue_callback)(isolate, after_collection, data, ALL);
            }
        }
        let sampling = Self { sampled, watched };
        if !threads::enter(data_of(&sampling.sampled)) {
            return Err(Error::Labels("too many threads are recorded at a time".into()));
        }
        sampling.wrap_handler();
        Ok(sampling)
    }

    /// Lets the signal handler run again, which V8 has replaced if this thread's sampling has just begun and
    /// no other thread was sampled. A handler of others stays: then there are no records, which the writer
    /// thread sees.
    pub(crate) fn wrap_handler(&self) {
        if let Ok(api) = symbols::api() {
            sampling_signal::wrap(api.profiler_start as *const () as usize, around_sample);
        }
    }
}

impl Drop for LabelSampling {
    fn drop(&mut self) {
        threads::leave();
        let (Some(isolate), Ok(api)) = (self.watched, symbols::api()) else { return };
        let data = data_of(&self.sampled);
        // SAFETY: this is the isolate's own thread, and the isolate is alive. The data was given above.
        unsafe {
            (api.remove_gc_prologue_callback)(isolate, before_collection, data);
            (api.remove_gc_epilogue_callback)(isolate, after_collection, data);
        }
    }
}

fn data_of(sampled: &Rc<SampledThread>) -> *mut c_void {
    Rc::as_ptr(sampled).cast_mut().cast()
}

/// Runs in the signal handler of any thread. Nothing here may lock, allocate or panic.
fn around_sample(v8: &dyn Fn()) {
    // SAFETY: what a thread has entered stays until the thread itself leaves, and the handler runs on the
    // thread.
    let Some(thread) = (unsafe { threads::data().cast::<SampledThread>().as_ref() }) else {
        return v8();
    };
    // SAFETY: this is the thread. Its isolate is alive until it leaves.
    let labels = unsafe { thread.labels() };
    let from_us = system::now_us();
    v8();
    let labels = u32::try_from(labels).unwrap_or(NO_LABELS);
    thread.ring.add(LabelRecord { from_us, to_us: system::now_us(), labels });
}

extern "C" fn before_collection(_: *mut Isolate, _: c_int, _: c_int, data: *mut c_void) {
    // SAFETY: V8 passes the data that it was given, on the isolate's own thread. No object has moved yet.
    unsafe {
        let thread = &*data.cast_const().cast::<SampledThread>();
        let begun = thread.collections.load(Ordering::Relaxed);
        if begun == 0 {
            let labels = thread.source.read().unwrap_or_default();
            thread.before.store(labels, Ordering::Relaxed);
        }
        // The handler runs on this thread, between any two instructions.
        compiler_fence(Ordering::SeqCst);
        thread.collections.store(begun + 1, Ordering::Relaxed);
    }
}

extern "C" fn after_collection(_: *mut Isolate, _: c_int, _: c_int, data: *mut c_void) {
    // SAFETY: V8 passes the data that it was given, on the isolate's own thread. No object moves any more
    // when the outermost collection has ended.
    unsafe {
        let thread = &*data.cast_const().cast::<SampledThread>();
        match thread.collections.load(Ordering::Relaxed) {
            // The collection had begun before the callbacks were added.
            0 => return,
            1 => {
                // A collection changes no context: so each proves that the reading still works.
                let labels = thread.source.read().unwrap_or_default();
                if labels != thread.before.load(Ordering::Relaxed) {
                    thread.ring.give_up();
                }
            }
            _ => {}
        }
        compiler_fence(Ordering::SeqCst);
        thread.collections.fetch_sub(1, Ordering::Relaxed);
    }
}
