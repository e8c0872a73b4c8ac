//! The heap of an isolate: its use, and its collections as they happen.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;

use super::symbols::{self, Isolate, exported};
use cpu_prof_core::base::system;
use cpu_prof_core::profile::gc::{Collection, CollectionKind, MemoryUse};

/// `GCType::kGCTypeAll`
const ALL: c_int = 0b1_1111;

/// The most collections that wait for the writer thread, 400 kB: a thread that is blocked has none, and
/// a busy thread has a window twice a second.
const MAX_WAITING: usize = 10_000;

/// `v8::HeapStatistics`. Its first fields are the same from Node 18 to 26, and later versions add
/// fields at the end, for which there is room.
#[repr(C)]
#[derive(Default)]
pub(super) struct HeapStatistics {
    total: usize,
    total_executable: usize,
    total_physical: usize,
    total_available: usize,
    used: usize,
    limit: usize,
    malloced: usize,
    external: usize,
    later: [usize; 24],
}

exported! {
    /// The function of V8 that is needed. The profiler works without it.
    HeapApi
    statistics:
        c"_ZN2v87Isolate17GetHeapStatisticsEPNS_14HeapStatisticsE"
        c"?GetHeapStatistics@Isolate@v8@@QEAAXPEAVHeapStatistics@2@@Z"
        fn(*mut Isolate, *mut HeapStatistics);
}

/// Collections that wait for the writer thread.
#[derive(Default)]
pub(crate) struct CollectionLog {
    state: Mutex<LogState>,
}

#[derive(Default)]
struct LogState {
    /// Collections that have begun and not ended, the innermost last: type, time, used heap.
    open: Vec<(c_int, i64, u64)>,
    ended: Vec<Collection>,
}

impl CollectionLog {
    /// Takes the collections that have ended, the earliest end first.
    pub(crate) fn take(&self) -> Vec<Collection> {
        mem::take(&mut self.state.lock().ended)
    }

    fn begin(&self, kind: c_int, time_us: i64, heap: u64) {
        self.state.lock().open.push((kind, time_us, heap));
    }

    fn end(&self, kind: c_int, time_us: i64, heap_after: u64) {
        let mut state = self.state.lock();
        // A collection that had begun before the callbacks were added has no start.
        let Some(index) = state.open.iter().rposition(|(open, ..)| *open == kind) else { return };
        let (_, start_us, heap_before) = state.open[index];
        state.open.truncate(index);
        if state.ended.len() >= MAX_WAITING {
            return;
        }
        let duration_us = time_us - start_us;
        let (kind, is_nested) = (kind_of(kind), index > 0);
        state.ended.push(Collection {
            kind,
            start_us,
            duration_us,
            heap_before,
            heap_after,
            is_nested,
        });
    }
}

/// Returns the kind of a `GCType`.
fn kind_of(gc_type: c_int) -> CollectionKind {
    match gc_type {
        0b1 | 0b10 => CollectionKind::Minor,
        0b1000 => CollectionKind::Incremental,
        0b1_0000 => CollectionKind::WeakCallbacks,
        _ => CollectionKind::Major,
    }
}

/// The heap of the calling thread's isolate. A `Heap` never leaves its thread (it is not `Send`),
/// and is given up in the environment's cleanup hook at the latest.
pub(crate) struct Heap {
    api: &'static symbols::Api,
    heap_api: &'static HeapApi,
    isolate: *mut Isolate,
    /// Log of collections, if they are watched.
    watched: Option<Arc<Watched>>,
}

/// The data of the callbacks.
struct Watched {
    heap_api: &'static HeapApi,
    log: Arc<CollectionLog>,
}

impl Heap {
    /// Returns the heap of the calling thread's isolate; None if V8 does not offer what is needed.
    /// Collections are added to `log`.
    pub(crate) fn watch(log: Option<Arc<CollectionLog>>) -> Option<Self> {
        let (api, heap_api) = (symbols::api().ok()?, HeapApi::find().ok()?);
        let isolate = symbols::current_isolate(api)?;
        let watched = log.map(|log| Arc::new(Watched { heap_api, log }));
        if let Some(watched) = &watched {
            let data = Arc::into_raw(Arc::clone(watched)).cast_mut().cast();
            // SAFETY: this is the isolate's own thread. The reference that V8 gets was counted just
            // above.
            unsafe {
                (api.add_gc_prologue_callback)(isolate, before_collection, data, ALL);
                (api.add_gc_epilogue_callback)(isolate, after_collection, data, ALL);
            }
        }
        Some(Self { api, heap_api, isolate, watched })
    }

    /// Returns the memory that the isolate uses now, without that of the process.
    pub(crate) fn memory(&self) -> MemoryUse {
        // SAFETY: this is the isolate's own thread, and the isolate is alive.
        let HeapStatistics { used, total, external, .. } =
            unsafe { statistics(self.heap_api, self.isolate) };
        MemoryUse {
            heap_used: used as u64,
            heap_total: total as u64,
            external: external as u64,
            rss: None,
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let Some(watched) = self.watched.take() else { return };
        let data = Arc::as_ptr(&watched).cast_mut().cast::<c_void>();
        // SAFETY: this is the isolate's own thread, and the isolate is alive. V8 has given up its
        // reference once the callbacks are removed, so the reference can be dropped here, once.
        unsafe {
            (self.api.remove_gc_prologue_callback)(self.isolate, before_collection, data);
            (self.api.remove_gc_epilogue_callback)(self.isolate, after_collection, data);
            drop(Arc::from_raw(data.cast_const().cast::<Watched>()));
        }
    }
}

/// # Safety
/// Must be called on the isolate's own thread, while the isolate is alive.
unsafe fn statistics(api: &HeapApi, isolate: *mut Isolate) -> HeapStatistics {
    let mut statistics = HeapStatistics::default();
    // SAFETY: the caller promises the thread. The struct has room for the fields of every version.
    unsafe { (api.statistics)(isolate, &raw mut statistics) };
    statistics
}

extern "C" fn before_collection(isolate: *mut Isolate, kind: c_int, _: c_int, data: *mut c_void) {
    note(isolate, data, |log, heap| log.begin(kind, system::now_us(), heap));
}

extern "C" fn after_collection(isolate: *mut Isolate, kind: c_int, _: c_int, data: *mut c_void) {
    note(isolate, data, |log, heap| log.end(kind, system::now_us(), heap));
}

/// Passes the log and the used heap to `f`. Runs in a collection, so nothing of V8 may be called
/// that allocates on the heap: the statistics only read counters.
fn note(isolate: *mut Isolate, data: *mut c_void, f: impl FnOnce(&CollectionLog, u64)) {
    // The writer thread, which a forked child does not have, may have held the lock.
    if system::is_forked() {
        return;
    }
    // SAFETY: V8 passes the pointer that `watch` gave it, and holds a reference to it. V8 calls on
    // the isolate's own thread.
    unsafe {
        let watched = &*data.cast_const().cast::<Watched>();
        let HeapStatistics { used, .. } = statistics(watched.heap_api, isolate);
        f(&watched.log, used as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_collections_have_their_own_times() {
        let log = CollectionLog::default();
        log.end(4, 5, 1);
        log.begin(4, 10, 900);
        log.begin(16, 12, 500);
        log.end(16, 15, 400);
        log.end(4, 30, 300);
        let ended = log.take();
        let facts: Vec<_> =
            ended.iter().map(|each| (each.kind, each.start_us, each.duration_us)).collect();
        assert_eq!(
            facts,
            [(CollectionKind::WeakCallbacks, 12, 3), (CollectionKind::Major, 10, 20)]
        );
        assert!(ended[0].is_nested && !ended[1].is_nested);
        assert_eq!((ended[1].heap_before, ended[1].heap_after), (900, 300));
        assert_eq!(log.take(), []);
    }

    #[test]
    fn the_log_is_bounded() {
        let log = CollectionLog::default();
        for time_us in 0..MAX_WAITING as i64 + 7 {
            log.begin(1, time_us, 0);
            log.end(1, time_us, 0);
        }
        assert_eq!(log.take().len(), MAX_WAITING);
    }
}
