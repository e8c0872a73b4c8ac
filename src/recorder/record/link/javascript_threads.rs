//! The threads that run JavaScript, by the system's ids: what other threads of the process use is native work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use cpu_prof_core::base::system;

/// Counts of the recordings of each thread.
static RECORDED: Mutex<BTreeMap<u32, u32>> = Mutex::new(BTreeMap::new());

/// The workers that recorded threads have started, as far as that is known.
static WORKERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Notes the worker that the calling thread has just started: before Node 24 its thread has no name, and a worker
/// without a preload makes itself known in no other way. The system lists threads in the order of their starts.
pub(crate) fn note_started_worker() {
    let newest = system::thread_ids().and_then(|ids| ids.last().copied());
    workers().extend(newest.filter(|id| *id != std::process::id()));
}

/// Returns the threads that there are, and the noted workers among them; none where the system does not list threads.
pub(crate) fn threads_and_workers() -> Option<(Vec<u32>, BTreeSet<u32>)> {
    let mut workers = workers();
    // Not before: a worker that is noted meanwhile would not be in the list.
    let threads = system::thread_ids()?;
    // Another thread can get the id.
    workers.retain(|id| threads.contains(id));
    Some((threads, workers.clone()))
}

fn workers() -> std::sync::MutexGuard<'static, BTreeSet<u32>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    #[cfg_attr(not(target_os = "linux"), ignore = "only Linux lists threads")]
    fn the_newest_thread_is_the_worker_until_it_ends() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let worker = std::thread::spawn(move || {
            tell.send(system::thread_id().unwrap()).unwrap();
            wait.recv().unwrap();
        });
        let id = told.recv().unwrap();
        let has = || threads_and_workers().is_some_and(|(_, workers)| workers.contains(&id));
        // Tests beside this one start threads too.
        let is_newest = || system::thread_ids().unwrap().last() == Some(&id);
        let was_newest = is_newest();
        note_started_worker();
        assert!(has() || !was_newest || !is_newest());
        go.send(()).unwrap();
        worker.join().unwrap();
        assert!(!has());
    }

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
