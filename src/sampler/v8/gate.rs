//! When a profile can be deleted while V8 samples on.
//!
//! Deleting one takes milliseconds (V8 frees its tree node by node), so it is done on the writer's
//! thread. Two things stand in the way:
//! - the profiler's list of profiles is not guarded by V8: here a lock guards it;
//! - a code entry is freed by whoever drops the last reference to it, but V8 reads the count again
//!   after decrementing it, so that two threads can both see zero, and both free. The other one is
//!   V8's sampling thread, and it drops references only when told of dead code, which a major
//!   garbage collection finds. So nothing is deleted while one is under way, nor after it until a
//!   sample was seen that is younger: V8 processes samples and code events in one order, so every
//!   reference to the dead code is gone by then.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use super::symbols;
use crate::base::system;

/// `GCType::kGCTypeMarkSweepCompact`
const MAJOR: c_int = 1 << 2;

#[derive(Default)]
pub(super) struct DeletionGate {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    collecting: bool,
    /// When the last major collection ended: CLOCK_MONOTONIC, microseconds.
    collected_us: i64,
}

impl DeletionGate {
    /// A gate that watches the collections of `isolate`; to be unwatched on the same thread.
    ///
    /// # Safety
    /// On the isolate's own thread.
    pub(super) unsafe fn watch(api: &symbols::Api, isolate: *mut symbols::Isolate) -> Arc<Self> {
        let gate = Arc::new(Self::default());
        let data = Arc::into_raw(Arc::clone(&gate)).cast_mut().cast();
        // SAFETY: as the caller promises; V8's reference to the gate was counted just above.
        unsafe {
            (api.add_gc_prologue_callback)(isolate, before_collection, data, MAJOR);
            (api.add_gc_epilogue_callback)(isolate, after_collection, data, MAJOR);
        }
        gate
    }

    /// # Safety
    /// Once, on the isolate's own thread, for a gate that `watch` made for it.
    pub(super) unsafe fn unwatch(
        self: &Arc<Self>,
        api: &symbols::Api,
        isolate: *mut symbols::Isolate,
    ) {
        let data = Arc::as_ptr(self).cast_mut().cast::<c_void>();
        // SAFETY: as the caller promises; once V8 has forgotten the gate, its reference is ours.
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

    /// Runs `f`, with the list of profiles locked, if no code entry can be dropped meanwhile;
    /// false if one could. `newest_us` is the time of the youngest sample that V8 is known to have
    /// processed.
    pub(super) fn if_quiet(&self, newest_us: i64, f: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let is_quiet = !state.collecting && newest_us > state.collected_us;
        if is_quiet {
            f();
        }
        is_quiet
    }
}

/// Waits for a deletion that is under way, and lets no other one begin.
extern "C" fn before_collection(_: *mut symbols::Isolate, _: c_int, _: c_int, data: *mut c_void) {
    with_gate(data, |gate| gate.state.lock().collecting = true);
}

extern "C" fn after_collection(_: *mut symbols::Isolate, _: c_int, _: c_int, data: *mut c_void) {
    with_gate(data, |gate| {
        *gate.state.lock() = State { collecting: false, collected_us: system::now_us() };
    });
}

fn with_gate(data: *mut c_void, f: impl FnOnce(&DeletionGate)) {
    // SAFETY: V8 gives back what `watch` gave it, and holds a reference to it.
    f(unsafe { &*data.cast_const().cast::<DeletionGate>() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_after_a_sample_younger_than_the_last_collection() {
        let gate = DeletionGate::default();
        let data = std::ptr::from_ref(&gate).cast_mut().cast();
        let isolate = std::ptr::null_mut();
        let opens = |newest_us| {
            let mut opened = false;
            let said = gate.if_quiet(newest_us, || opened = true);
            assert_eq!(said, opened);
            opened
        };
        assert!(opens(system::now_us()));
        before_collection(isolate, MAJOR, 0, data);
        assert!(!opens(i64::MAX));
        let during = system::now_us();
        after_collection(isolate, MAJOR, 0, data);
        assert!(!opens(during));
        assert!(opens(system::now_us() + 1));
    }
}
