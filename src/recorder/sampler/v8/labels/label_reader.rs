//! Reads the labels of a thread in its signal handler, and watches its collections.
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
use cpu_prof_core::base::error::Error;
use cpu_prof_core::profile::label_table::NO_LABELS;

/// `GCType::kGCTypeAll`
const ALL: c_int = 0b1_1111;

/// The reader of a thread's labels, which never leaves its thread.
pub(crate) struct LabelReader {
    source: LabelSource,
    /// Count of the collections that have begun and not ended.
    collections: AtomicU32,
    /// Id of the label set before the collections.
    before: AtomicI32,
    ring: Arc<LabelRing>,
    /// The isolate whose collections are watched.
    watched: Option<*mut Isolate>,
}

impl LabelReader {
    /// Returns the reader of this thread's labels, which adds them to `ring`.
    pub(crate) fn start(source: LabelSource, ring: Arc<LabelRing>) -> Result<Rc<Self>, Error> {
        let api = symbols::api()?;
        let watched = source.isolate();
        let reader = Rc::new(Self {
            source,
            collections: AtomicU32::new(0),
            before: AtomicI32::new(0),
            ring,
            watched,
        });
        if let Some(isolate) = watched {
            let data = data_of(&reader);
            // SAFETY: this is the isolate's own thread. The data stays until the callbacks are removed.
            unsafe {
                (api.add_gc_prologue_callback)(isolate, before_collection, data, ALL);
                (api.add_gc_epilogue_callback)(isolate, after_collection, data, ALL);
            }
        }
        Ok(reader)
    }

    /// Returns the id of the current label set; 0 if there is none. May be called in a signal handler.
    ///
    /// # Safety
    /// Must be called on the thread, while its isolate is alive.
    pub(crate) unsafe fn current(&self) -> i32 {
        if self.collections.load(Ordering::Relaxed) > 0 {
            return self.before.load(Ordering::Relaxed);
        }
        // SAFETY: the caller promises the thread, and no collection moves objects.
        unsafe { self.source.read() }.unwrap_or_default()
    }

    /// Notes that the thread's signal handler was set.
    pub(crate) fn handler_was_set(&self) {
        self.ring.handler_was_set();
    }

    /// Adds the labels of a sample, whose signal was handled between two times of CLOCK_MONOTONIC,
    /// microseconds. May be called in a signal handler.
    pub(crate) fn add(&self, labels: i32, from_us: i64, to_us: i64) {
        let labels = u32::try_from(labels).unwrap_or(NO_LABELS);
        self.ring.add(LabelRecord { from_us, to_us, labels });
    }
}

impl Drop for LabelReader {
    fn drop(&mut self) {
        let (Some(isolate), Ok(api)) = (self.watched, symbols::api()) else { return };
        let data = (&raw const *self).cast_mut().cast();
        // SAFETY: this is the isolate's own thread, and the isolate is alive. The data was given above.
        unsafe {
            (api.remove_gc_prologue_callback)(isolate, before_collection, data);
            (api.remove_gc_epilogue_callback)(isolate, after_collection, data);
        }
    }
}

fn data_of(reader: &Rc<LabelReader>) -> *mut c_void {
    Rc::as_ptr(reader).cast_mut().cast()
}

extern "C" fn before_collection(_: *mut Isolate, _: c_int, _: c_int, data: *mut c_void) {
    // SAFETY: V8 passes the data that it was given, on the isolate's own thread. No object has moved yet.
    unsafe {
        let reader = &*data.cast_const().cast::<LabelReader>();
        let begun = reader.collections.load(Ordering::Relaxed);
        if begun == 0 {
            let labels = reader.source.read().unwrap_or_default();
            reader.before.store(labels, Ordering::Relaxed);
        }
        // The handler runs on this thread, between any two instructions.
        compiler_fence(Ordering::SeqCst);
        reader.collections.store(begun + 1, Ordering::Relaxed);
    }
}

extern "C" fn after_collection(_: *mut Isolate, _: c_int, _: c_int, data: *mut c_void) {
    // SAFETY: V8 passes the data that it was given, on the isolate's own thread. No object moves any more
    // when the outermost collection has ended.
    unsafe {
        let reader = &*data.cast_const().cast::<LabelReader>();
        match reader.collections.load(Ordering::Relaxed) {
            // The collection had begun before the callbacks were added.
            0 => return,
            1 => {
                // A collection changes no context: so each proves that the reading still works.
                let labels = reader.source.read().unwrap_or_default();
                if labels != reader.before.load(Ordering::Relaxed) {
                    reader.ring.give_up();
                }
            }
            _ => {}
        }
        compiler_fence(Ordering::SeqCst);
        reader.collections.fetch_sub(1, Ordering::Relaxed);
    }
}
