//! The threads whose labels are read, by what a signal handler can know: a variable of the thread's own
//! could make the C library allocate, which a handler must not.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use cpu_prof_core::base::system::sampling_signal::thread_number;

/// The most threads whose labels are read at a time, as a power of two.
const MAX_THREADS_LOG2: u32 = 10;
const MAX_THREADS: usize = 1 << MAX_THREADS_LOG2;

/// The thread numbers of an entry that was never used, and of one that is free again. No thread has them.
const UNUSED: usize = 0;
const FREE: usize = 1;

struct ThreadEntry {
    thread: AtomicUsize,
    data: AtomicPtr<c_void>,
}

static THREADS: [ThreadEntry; MAX_THREADS] = [const {
    ThreadEntry { thread: AtomicUsize::new(UNUSED), data: AtomicPtr::new(ptr::null_mut()) }
}; MAX_THREADS];

/// Returns the indices at which a thread can stand, in their order.
fn places(thread: usize) -> impl Iterator<Item = &'static ThreadEntry> {
    // The numbers are addresses, megabytes apart: a product with a large odd number has them in its first bits.
    let product = (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let first = (product >> (u64::BITS - MAX_THREADS_LOG2)) as usize;
    (0..MAX_THREADS).filter_map(move |step| THREADS.get((first + step) % MAX_THREADS))
}

/// Lets the calling thread's signal handler find data, which must stay until [`leave`]. Returns false if
/// there are too many threads.
pub(super) fn enter(data: *mut c_void) -> bool {
    leave();
    let thread = thread_number();
    places(thread).any(|entry| {
        let is_taken = [UNUSED, FREE].into_iter().any(|free| {
            entry.thread.compare_exchange(free, thread, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        if is_taken {
            entry.data.store(data, Ordering::Release);
        }
        is_taken
    })
}

/// Lets the calling thread's signal handler find nothing.
pub(super) fn leave() {
    if let Some(entry) = entry() {
        entry.data.store(ptr::null_mut(), Ordering::Release);
        entry.thread.store(FREE, Ordering::Release);
    }
}

/// Returns the data that the calling thread has entered, or null. May be called in a signal handler.
pub(super) fn data() -> *mut c_void {
    entry().map_or(ptr::null_mut(), |entry| entry.data.load(Ordering::Acquire))
}

fn entry() -> Option<&'static ThreadEntry> {
    let thread = thread_number();
    for entry in places(thread) {
        match entry.thread.load(Ordering::Acquire) {
            UNUSED => return None,
            other if other == thread => return Some(entry),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_finds_its_own_data_only() {
        std::thread::scope(|scope| {
            for number in 1..=64_usize {
                scope.spawn(move || {
                    for round in 1..100 {
                        let own = ptr::without_provenance_mut(number * 1000 + round);
                        assert!(data().is_null());
                        assert!(enter(own));
                        std::thread::yield_now();
                        assert_eq!(data(), own);
                        leave();
                    }
                });
            }
        });
    }
}
