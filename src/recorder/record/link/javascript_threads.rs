//! The recorded threads by the system's ids: what other threads of the process use is native work.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Counts of the recordings of each thread.
static RECORDED: Mutex<BTreeMap<u32, u32>> = Mutex::new(BTreeMap::new());

/// A note that a thread is recorded, as long as the value lives.
pub(crate) struct RecordedThread(Option<u32>);

impl RecordedThread {
    /// Notes a thread; nothing if its id is not known.
    pub(crate) fn note(thread: Option<u32>) -> Self {
        if let Some(thread) = thread {
            *lock().entry(thread).or_default() += 1;
        }
        Self(thread)
    }
}

impl Drop for RecordedThread {
    fn drop(&mut self) {
        let Some(thread) = self.0 else { return };
        let mut recorded = lock();
        if let Some(count) = recorded.get_mut(&thread) {
            *count -= 1;
            if *count == 0 {
                recorded.remove(&thread);
            }
        }
    }
}

/// Returns the ids of all recorded threads.
pub(crate) fn recorded_threads() -> Vec<u32> {
    lock().keys().copied().collect()
}

fn lock() -> std::sync::MutexGuard<'static, BTreeMap<u32, u32>> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_noted_until_its_last_recording_ends() {
        let is_noted = || recorded_threads().contains(&4_000_000_000);
        let first = RecordedThread::note(Some(4_000_000_000));
        let second = RecordedThread::note(Some(4_000_000_000));
        drop(first);
        assert!(is_noted());
        drop(second);
        assert!(!is_noted());
        drop(RecordedThread::note(None));
    }
}
