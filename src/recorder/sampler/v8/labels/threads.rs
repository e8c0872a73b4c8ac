//! The threads whose labels are read, by what a signal handler can know: a variable of the thread's own
//! could make the C library allocate, which a handler must not.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::sampled_thread::SampledThread;
use cpu_prof_core::base::system::sampling_signal::thread_number;

/// The most threads whose labels are read at a time.
const MAX_THREADS: usize = 1024;

/// The thread numbers of an entry that was never used, and of one that is free again. No thread has them.
const UNUSED: usize = 0;
const FREE: usize = 1;

struct Entry {
    thread: AtomicUsize,
    sampled: AtomicPtr<SampledThread>,
}

static THREADS: [Entry; MAX_THREADS] = [const {
    Entry { thread: AtomicUsize::new(UNUSED), sampled: AtomicPtr::new(ptr::null_mut()) }
}; MAX_THREADS];

/// Returns the indices at which a thread can stand, in their order.
fn places(thread: usize) -> impl Iterator<Item = &'static Entry> {
    // Addresses of threads are megabytes apart.
    let first = thread.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - 10);
    (0..MAX_THREADS).filter_map(move |step| THREADS.get((first + step) % MAX_THREADS))
}

/// Lets the calling thread's signal handler find what it needs, which must stay until [`leave`]. Returns
/// false if there are too many threads.
pub(super) fn enter(sampled: &SampledThread) -> bool {
    let thread = thread_number();
    leave();
    places(thread).any(|entry| {
        let is_taken = [UNUSED, FREE].into_iter().any(|free| {
            entry.thread.compare_exchange(free, thread, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        if is_taken {
            entry.sampled.store(ptr::from_ref(sampled).cast_mut(), Ordering::Release);
        }
        is_taken
    })
}

/// Lets the calling thread's signal handler find nothing.
pub(super) fn leave() {
    if let Some(entry) = entry() {
        entry.sampled.store(ptr::null_mut(), Ordering::Release);
        entry.thread.store(FREE, Ordering::Release);
    }
}

/// Returns what the calling thread has entered. May be called in a signal handler.
pub(super) fn this_thread() -> *const SampledThread {
    entry().map_or(ptr::null(), |entry| entry.sampled.load(Ordering::Acquire))
}

fn entry() -> Option<&'static Entry> {
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
