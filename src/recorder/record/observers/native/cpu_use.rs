//! The CPU time of the threads that run no JavaScript, by their names. Runs on the writer thread.
//!
//! A look at all threads costs 1.6 µs a thread (here, on Linux: 1.3 µs for the list, 0.3 µs for the clock).
//! After each look there is none for a thousand times the CPU time that it took, and none at all where the process
//! has used no CPU time since.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::record::link::javascript_threads::{recorded_threads, threads_and_workers};
use cpu_prof_core::base::system;
use cpu_prof_core::profile::cpu_use::{NativeSpan, NativeUse};

/// Time between two looks for each microsecond of CPU time that a look took.
const PAUSE_FACTOR: i64 = 1000;
/// CPU time of the process that makes a look worth while, microseconds.
const MIN_PROCESS_US: i64 = 1000;
/// CPU time of one name from which the times are told, microseconds.
const MIN_TOLD_US: i64 = 5000;
/// CPU time of the other names that are told then, and of all at the end of a file, microseconds.
const MIN_LAST_US: i64 = 500;
/// The most names that are told.
const MAX_NAMES: usize = 16;
/// Looks at which the name of a working thread is read: a thread works before it takes its name.
const NAME_READS: u8 = 2;

/// The threads that Node starts before the first line of JavaScript, which up to Node 22 have no names:
/// V8's four workers, the one of delayed tasks, and the one that waits for SIGUSR1. One more is V8's sampling
/// thread, which may not have taken its name yet. With more, some are of another kind, so none is named.
const MAX_EARLY: usize = 7;
/// Their name from Node 24 on.
const EARLY_NAME: &str = "V8Worker";

/// The name of workers, which is Node's from 24 on.
const WORKER_NAME: &str = "WorkerThread";

/// The native threads of a process, as they were at the last look.
pub(crate) struct NativeThreads {
    threads: FxHashMap<u32, KnownThread>,
    /// Names that the main thread has had: a thread of such a name has taken none.
    main_names: FxHashSet<String>,
    /// Workers, recorded or not.
    workers: BTreeSet<u32>,
    /// CPU time of the process at the last look, microseconds.
    process_us: i64,
    /// Time since which CPU times are not told, microseconds.
    since_us: i64,
    /// Time of the next look, microseconds.
    due_us: i64,
}

/// A thread.
#[derive(Debug, Default)]
struct KnownThread {
    /// CPU time, microseconds.
    cpu_us: i64,
    /// CPU time that is not told yet, microseconds.
    untold_us: i64,
    name: String,
    name_reads: u8,
    /// Whether the thread is one of those that Node started first.
    is_early: bool,
    has_ended: bool,
}

impl NativeThreads {
    /// Looks at the threads for the first time; none where the system does not list them. What they used
    /// before is not counted.
    pub(crate) fn now() -> Option<Self> {
        let (ids, workers) = threads_and_workers()?;
        let now_us = system::now_us();
        let mut known = Self {
            threads: FxHashMap::default(),
            main_names: system::thread_name(std::process::id()).into_iter().collect(),
            workers,
            process_us: system::process_cpu_us()?,
            since_us: now_us,
            due_us: now_us,
        };
        let mut unnamed = Vec::new();
        for id in ids {
            let cpu_us = system::thread_cpu_us(id).unwrap_or(0);
            known.threads.insert(id, KnownThread { cpu_us, ..KnownThread::default() });
            if id != std::process::id() && known.name_of(id).is_empty() {
                unnamed.push(id);
            }
        }
        if unnamed.len() <= MAX_EARLY {
            for id in unnamed {
                known.threads.entry(id).and_modify(|thread| thread.is_early = true);
            }
        }
        Some(known)
    }

    /// Looks at the threads again, unless it is too soon. `is_last` tells that there is no later look.
    pub(crate) fn look(&mut self, is_last: bool) {
        let now_us = system::now_us();
        if now_us < self.due_us && !is_last {
            return;
        }
        let Some(process_us) = system::process_cpu_us() else { return };
        if process_us - self.process_us < MIN_PROCESS_US {
            return;
        }
        let began_us = own_cpu_us();
        let Some((ids, workers)) = threads_and_workers() else { return };
        self.process_us = process_us;
        self.threads.values_mut().for_each(|thread| thread.has_ended = true);
        self.main_names.extend(system::thread_name(std::process::id()));
        let recorded = recorded_threads();
        self.workers = workers;
        for id in ids {
            let is_native = id != std::process::id() && !recorded.contains(&id);
            if let Some(cpu_us) = system::thread_cpu_us(id) {
                self.count(id, cpu_us, is_native);
            }
        }
        self.threads.retain(|_, thread| !thread.has_ended || thread.untold_us > 0);
        self.due_us = now_us + PAUSE_FACTOR * (own_cpu_us() - began_us);
    }

    /// Counts what a thread has used since the last look.
    fn count(&mut self, id: u32, cpu_us: i64, is_native: bool) {
        let known = self.threads.entry(id).or_default();
        if cpu_us < known.cpu_us {
            // Another thread has got the id.
            let untold_us = known.untold_us;
            *known = KnownThread { untold_us, ..KnownThread::default() };
        }
        let grown_us = cpu_us - known.cpu_us;
        (known.cpu_us, known.has_ended) = (cpu_us, false);
        if !is_native && self.workers.contains(&id) {
            // The start of a worker that is recorded now.
            known.untold_us = 0;
        }
        if !is_native || grown_us == 0 {
            return;
        }
        known.untold_us += grown_us;
        if known.untold_us >= MIN_LAST_US && known.name_reads < NAME_READS {
            let name = self.name_of(id);
            if let Some(known) = self.threads.get_mut(&id) {
                known.name_reads += 1;
                known.name =
                    if name.is_empty() && known.is_early { EARLY_NAME.into() } else { name };
            }
        }
    }

    /// Returns what a thread is called by the name that it has; empty if it has taken none.
    pub(crate) fn shown_name(&self, id: u32, name: &str) -> String {
        if self.workers.contains(&id) {
            return WORKER_NAME.to_owned();
        }
        let is_early = || self.threads.get(&id).is_some_and(|thread| thread.is_early);
        match self.main_names.contains(name) {
            true if is_early() => EARLY_NAME.to_owned(),
            true => String::new(),
            false => name.to_owned(),
        }
    }

    /// Returns the name of a thread without its number; empty if the thread has taken none.
    fn name_of(&self, id: u32) -> String {
        // A program can give a worker any name.
        if self.workers.contains(&id) {
            return WORKER_NAME.to_owned();
        }
        let name = system::thread_name(id).unwrap_or_default();
        if self.main_names.contains(&name) {
            return String::new();
        }
        unnumbered(&name).to_owned()
    }

    /// Returns what the threads have used until now and was not told; none if that is nothing to speak of.
    /// `to_us` is the time that the file gets to.
    pub(crate) fn untold(&self, to_us: i64, is_last: bool) -> Option<NativeSpan> {
        let mut names: BTreeMap<&str, (u32, i64)> = BTreeMap::new();
        for thread in self.threads.values().filter(|thread| thread.untold_us > 0) {
            let (count, us) = names.entry(&thread.name).or_default();
            *count += 1;
            *us += thread.untold_us;
        }
        let told = names.into_iter().filter(|(_, (_, us))| *us >= MIN_LAST_US);
        let mut threads: Vec<NativeUse> =
            told.map(|(name, (count, us))| NativeUse(name.to_owned(), count, us)).collect();
        threads.sort_by_key(|NativeUse(_, _, us)| std::cmp::Reverse(*us));
        threads.truncate(MAX_NAMES);
        let from_us = self.since_us;
        let is_enough = is_last || threads.first().is_some_and(|first| first.2 >= MIN_TOLD_US);
        (is_enough && !threads.is_empty() && to_us > from_us).then_some(NativeSpan {
            from_us,
            to_us,
            threads,
        })
    }

    /// Notes that what was untold is told up to a time. Names of little time go on being counted.
    pub(crate) fn told(&mut self, span: &NativeSpan) {
        self.since_us = span.to_us;
        let names: Vec<&str> = span.threads.iter().map(|NativeUse(name, ..)| &**name).collect();
        for thread in self.threads.values_mut() {
            if names.contains(&&*thread.name) {
                thread.untold_us = 0;
            }
        }
    }
}

/// Returns the CPU time of the calling thread, which does not count the time for which the thread waits for a core:
/// microseconds.
fn own_cpu_us() -> i64 {
    system::thread_id().and_then(system::thread_cpu_us).unwrap_or(0)
}

/// Returns a name without the number at its end: pools number their threads.
fn unnumbered(name: &str) -> &str {
    let end = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let base = end.trim_end_matches(['-', '_', '#', ' ', ':', '/', '.']);
    if base.is_empty() || end.len() == name.len() { name } else { base }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    fn work(ms: u64) {
        let end = Instant::now() + Duration::from_millis(ms);
        while Instant::now() < end {
            black_box(0);
        }
    }

    #[test]
    fn numbers_are_no_part_of_a_name() {
        let names = ["pool-1-thread-3", "rayon_12", "libuv-worker", "Thread 7", "12", "x2", "-1"];
        let expected = ["pool-1-thread", "rayon", "libuv-worker", "Thread", "12", "x", "-1"];
        assert_eq!(names.map(unnumbered), expected);
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only Linux lists threads")]
    fn a_working_thread_is_told_once_by_its_name() {
        let mut known = NativeThreads::now().unwrap();
        let (go, wait) = channel::<()>();
        let (done, finished) = channel();
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let worker = named("test-pool-4").spawn(move || {
            for () in wait {
                work(20);
                done.send(()).unwrap();
            }
        });
        let told = |known: &mut NativeThreads| {
            known.look(true);
            let span = known.untold(system::now_us(), true)?;
            known.told(&span);
            let is_pool = |each: &NativeUse| each.0 == "test-pool";
            span.threads.into_iter().find(is_pool).map(|NativeUse(_, count, us)| (count, us))
        };
        assert_eq!(told(&mut known), None);
        for _ in 0..2 {
            go.send(()).unwrap();
            finished.recv().unwrap();
            let (count, us) = told(&mut known).unwrap();
            assert_eq!(count, 1);
            assert!(us >= 1000, "{us}");
        }
        assert_eq!(told(&mut known), None);
        drop(go);
        worker.unwrap().join().unwrap();
    }
}
