//! Decides when a profile can be deleted while V8 samples on.
//!
//! Deleting a profile takes milliseconds, because V8 frees its tree node by node, so it happens on
//! the writer thread. Two things must be guarded:
//! - V8's list of finished profiles has no lock of its own. The gate has one.
//! - A code entry is freed by the thread that drops the last reference to it. V8 decrements the
//!   count and then reads it again, so two threads can both see zero and both free the entry. The
//!   other thread is V8's sampling thread, which drops references only when it is told of dead code,
//!   and V8 finds dead code in major garbage collections. So nothing is deleted during such a
//!   collection, nor after it until a younger sample was read: V8 processes samples and code events
//!   in one order, so the references to the dead code are gone by then.
//!
//! V8 also replaces its list of profiles when a deletion leaves the list empty and no profile is
//! running. So nothing is deleted on another thread unless a profile is running.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use super::symbols;
use cpu_prof_core::base::system;

/// `GCType::kGCTypeMarkSweepCompact`
const MAJOR: c_int = 1 << 2;

/// Guards the deletion of one profiler's profiles.
#[derive(Default)]
pub(super) struct DeletionGate {
    state: Mutex<GateState>,
}

#[derive(Default)]
struct GateState {
    /// Count of major collections that have begun and not ended. They nest where a callback of
    /// another addon allocates.
    collections: u32,
    /// End of the last major collection: CLOCK_MONOTONIC, microseconds.
    collected_us: i64,
    /// Whether a profile is running.
    is_profiling: bool,
    /// Whether the isolate may be gone.
    is_closed: bool,
}

impl DeletionGate {
    /// Creates a gate that watches the collections of `isolate`, until [`DeletionGate::unwatch`].
    ///
    /// # Safety
    /// Must be called on the isolate's own thread.
    pub(super) unsafe fn watch(api: &symbols::Api, isolate: *mut symbols::Isolate) -> Arc<Self> {
        let gate = Arc::new(Self::default());
        let data = Arc::into_raw(Arc::clone(&gate)).cast_mut().cast();
        // SAFETY: the caller promises the isolate's thread. The reference that V8 gets was counted
        // just above.
        unsafe {
            (api.add_gc_prologue_callback)(isolate, before_collection, data, MAJOR);
            (api.add_gc_epilogue_callback)(isolate, after_collection, data, MAJOR);
        }
        gate
    }

    /// Stops watching.
    ///
    /// # Safety
    /// Must be called once, on the isolate's own thread, for a gate that `watch` created for this
    /// isolate.
    pub(super) unsafe fn unwatch(
        self: &Arc<Self>,
        api: &symbols::Api,
        isolate: *mut symbols::Isolate,
    ) {
        let data = Arc::as_ptr(self).cast_mut().cast::<c_void>();
        // SAFETY: the caller promises the isolate's thread. V8 has given up its reference to the
        // gate once the callbacks are removed, so the reference can be dropped here, once.
        unsafe {
            (api.remove_gc_prologue_callback)(isolate, before_collection, data);
            (api.remove_gc_epilogue_callback)(isolate, after_collection, data);
            drop(Arc::from_raw(data.cast_const().cast::<Self>()));
        }
    }

    /// Runs `f` with the list of profiles locked.
    pub(super) fn locked<T>(&self, f: impl FnOnce() -> T) -> T {
        let _state = self.state.lock();
        f()
    }

    /// Notes whether a profile is running. Must be called before the last profile stops, and after
    /// the first has started.
    pub(super) fn set_profiling(&self, is_profiling: bool) {
        self.state.lock().is_profiling = is_profiling;
    }

    /// Closes the gate for good, because the isolate may end. Waits for a running deletion.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
    }

    /// Runs `f` with the list of profiles locked, if no code entry can be dropped meanwhile. Returns
    /// whether `f` ran. `newest_us` is the time of the newest sample that V8 is known to have
    /// processed.
    pub(super) fn if_quiet(&self, newest_us: i64, f: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let is_quiet = state.collections == 0 && newest_us > state.collected_us;
        let is_open = is_quiet && state.is_profiling && !state.is_closed;
        if is_open {
            f();
        }
        is_open
    }
}

/// Waits for a running deletion, and lets no other begin.
extern "C" fn before_collection(_: *mut symbols::Isolate, _: c_int, _: c_int, data: *mut c_void) {
    with_gate(data, |gate| gate.state.lock().collections += 1);
}

extern "C" fn after_collection(_: *mut symbols::Isolate, _: c_int, _: c_int, data: *mut c_void) {
    with_gate(data, |gate| {
        let mut state = gate.state.lock();
        state.collections = state.collections.saturating_sub(1);
        state.collected_us = system::now_us();
    });
}

fn with_gate(data: *mut c_void, f: impl FnOnce(&DeletionGate)) {
    // The writer thread, which a forked child does not have, may have held the lock.
    if system::is_forked() {
        return;
    }
    // SAFETY: V8 passes the pointer that `watch` gave it, and holds a reference to the gate.
    f(unsafe { &*data.cast_const().cast::<DeletionGate>() });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens(gate: &DeletionGate, newest_us: i64) -> bool {
        let mut has_run = false;
        let result = gate.if_quiet(newest_us, || has_run = true);
        assert_eq!(result, has_run);
        has_run
    }

    fn begin(gate: &DeletionGate) {
        let data = std::ptr::from_ref(gate).cast_mut().cast();
        before_collection(std::ptr::null_mut(), MAJOR, 0, data);
    }

    fn end(gate: &DeletionGate) {
        let data = std::ptr::from_ref(gate).cast_mut().cast();
        after_collection(std::ptr::null_mut(), MAJOR, 0, data);
    }

    fn open_gate() -> DeletionGate {
        let gate = DeletionGate::default();
        gate.set_profiling(true);
        gate
    }

    #[test]
    fn opens_only_after_a_sample_that_is_newer_than_the_last_collection() {
        let gate = open_gate();
        assert!(opens(&gate, system::now_us()));
        begin(&gate);
        assert!(!opens(&gate, i64::MAX));
        let during = system::now_us();
        end(&gate);
        assert!(!opens(&gate, during));
        assert!(opens(&gate, system::now_us() + 1));
    }

    #[test]
    fn stays_shut_until_the_outermost_of_nested_collections_ends() {
        let gate = open_gate();
        begin(&gate);
        begin(&gate);
        end(&gate);
        assert!(!opens(&gate, i64::MAX));
        end(&gate);
        assert!(opens(&gate, i64::MAX));
        // An end without a beginning: the collection began before the gate watched.
        end(&gate);
        assert!(opens(&gate, i64::MAX));
    }

    #[test]
    fn is_shut_while_no_profile_runs_and_after_it_was_closed() {
        let gate = open_gate();
        gate.set_profiling(false);
        assert!(!opens(&gate, i64::MAX));
        gate.set_profiling(true);
        assert!(opens(&gate, i64::MAX));
        gate.close();
        gate.set_profiling(true);
        assert!(!opens(&gate, i64::MAX));
    }
}
