//! The thread that reads copies of stacks, one for a process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use std::{io, mem, thread};

use parking_lot::Mutex;

use super::unwinder::{FollowedStack, StackEnd, Unwinder};
use crate::sampler::v8::{JavaScriptCode, StackRing};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system::stopped_thread::{self, Bell, own_stack};
use cpu_prof_core::base::system::{self, sampling_signal};
use cpu_prof_core::profile::frame::CallFrame;

/// The most stacks of a thread that wait for the writer thread.
const MAX_WAITING: usize = 100_000;

/// A native stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeStack {
    /// Time before the sample was taken: CLOCK_MONOTONIC, microseconds.
    pub from_us: i64,
    /// Time after the sample was taken.
    pub to_us: i64,
    /// Numbers of the functions, the innermost first.
    pub functions: Vec<u32>,
    pub end: StackEnd,
}

/// The stacks of a recorded thread.
pub(crate) struct ThreadStacks {
    /// Copies that were not read.
    pub ring: Arc<StackRing>,
    /// Stacks that were read and not taken.
    read: Mutex<Vec<NativeStack>>,
    limit: Mutex<CopyLimit>,
    reader: &'static StackReader,
}

/// Reads the stacks of all threads.
pub(crate) struct StackReader {
    work: Arc<Mutex<ReaderWork>>,
    bell: Bell,
}

#[derive(Default)]
struct ReaderWork {
    unwinder: Unwinder,
    threads: Vec<Weak<ThreadStacks>>,
    /// Memory for a copy.
    buffer: Vec<u64>,
}

impl StackReader {
    /// Returns the reader of this process. The first call starts its thread.
    fn get_or_start() -> Result<&'static Self, Error> {
        static READER: OnceLock<Result<StackReader, String>> = OnceLock::new();
        let reader = READER.get_or_init(Self::start);
        reader.as_ref().map_err(|reason| Error::Native(reason.clone()))
    }

    fn start() -> Result<Self, String> {
        if !(sampling_signal::IS_AVAILABLE && stopped_thread::IS_AVAILABLE) {
            return Err("this needs Linux with glibc on x64 or arm64".into());
        }
        let failed = |error: io::Error| format!("their thread could not be started: {error}");
        let bell = Bell::new().map_err(failed)?;
        let work: Arc<Mutex<ReaderWork>> = Arc::default();
        let of_thread = Arc::clone(&work);
        system::with_signals_blocked(|| {
            thread::Builder::new()
                .name("cpu-prof-stacks".into())
                .spawn(move || read_when_full(bell, &of_thread))
        })
        .map_err(failed)?;
        Ok(Self { work, bell })
    }
}

/// Reads the stacks of each thread whose ring fills up before the writer thread asks for them.
fn read_when_full(bell: Bell, work: &Mutex<ReaderWork>) {
    loop {
        bell.wait();
        // A panic costs the stacks of this round.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut work = work.lock();
            let threads: Vec<_> = work.threads.iter().filter_map(Weak::upgrade).collect();
            threads.iter().filter(|thread| thread.ring.is_filling()).for_each(|thread| {
                work.read(thread);
            });
        }));
    }
}

impl ReaderWork {
    /// Reads the stacks that a thread has copied.
    fn read(&mut self, thread: &ThreadStacks) {
        let Self { unwinder, buffer, .. } = self;
        let ThreadStacks { ring, read, limit, .. } = thread;
        let (mut read, mut limit) = (read.lock(), limit.lock());
        ring.take(buffer, |copy| {
            // The stack of the start is one of this addon.
            let is_proof = copy.from_us == 0;
            let followed = unwinder.follow(&copy, &ring.stack, &ring.code, is_proof);
            let FollowedStack { functions, end, is_short, used_bytes } = followed;
            if is_proof {
                // JavaScript or Node's event loop has called the addon.
                if end == StackEnd::Cut {
                    ring.give_up();
                    let reason = match unwinder.knows_nothing() {
                        true => "/proc/self/maps cannot be read",
                        false => "V8's stacks cannot be followed here",
                    };
                    warn_once(&Error::Native(reason.into()));
                }
                return;
            }
            if let Some(bytes) = limit.next(ring.limit(), used_bytes, is_short) {
                ring.set_limit(bytes);
            }
            if read.len() < MAX_WAITING {
                let (from_us, to_us) = (copy.from_us, copy.to_us);
                read.push(NativeStack { from_us, to_us, functions, end });
            }
        });
    }
}

impl ThreadStacks {
    /// Returns the stacks of the calling thread, of which none is copied yet.
    pub(crate) fn of_this_thread() -> Result<Arc<Self>, Error> {
        let reader = StackReader::get_or_start()?;
        let stack = own_stack().ok_or_else(|| Error::Native("the stack is not known".into()))?;
        let code = JavaScriptCode::of_this_thread()
            .ok_or_else(|| Error::Native("V8 does not tell where its code is".into()))?;
        let ring = Arc::new(StackRing::new(stack, code, reader.bell));
        let (read, limit) = (Mutex::default(), Mutex::default());
        let stacks = Arc::new(Self { ring, read, limit, reader });
        stacks.ring.add_own();
        let mut work = reader.work.lock();
        work.threads.retain(|thread| thread.strong_count() > 0);
        work.threads.push(Arc::downgrade(&stacks));
        Ok(stacks)
    }

    /// Takes the stacks up to now.
    pub(crate) fn take(&self) -> Vec<NativeStack> {
        self.reader.work.lock().read(self);
        mem::take(&mut *self.read.lock())
    }

    /// Returns the frames of functions by their numbers.
    pub(crate) fn frames(&self, numbers: &[u32]) -> Vec<CallFrame> {
        let work = self.reader.work.lock();
        let frame = |number: &u32| work.unwinder.frame(*number).cloned();
        numbers.iter().map(|number| frame(number).unwrap_or_else(CallFrame::unknown)).collect()
    }
}

/// How much of each stack is copied: what most stacks need.
#[derive(Debug, Default)]
struct CopyLimit {
    /// Count of stacks since the last judgement, and of those that were cut.
    seen: u32,
    short: u32,
    /// The most that a stack needed, bytes.
    used_bytes: usize,
}

impl CopyLimit {
    /// Counts a stack. Returns the next limit, if it changes, bytes.
    fn next(&mut self, limit: usize, used_bytes: usize, is_short: bool) -> Option<usize> {
        /// Stacks before a judgement.
        const STACKS: u32 = 64;
        /// One in so many may be cut.
        const MAX_SHORT: u32 = 64;
        const RANGE: std::ops::RangeInclusive<usize> = 4 << 10..=256 << 10;
        self.seen += 1;
        self.short += u32::from(is_short);
        self.used_bytes = self.used_bytes.max(used_bytes);
        if self.seen < STACKS {
            return None;
        }
        let Self { seen, short, used_bytes } = mem::take(self);
        let next = match () {
            () if short * MAX_SHORT > seen => limit * 2,
            () if used_bytes * 4 < limit => limit / 2,
            () => limit,
        };
        let next = next.clamp(*RANGE.start(), *RANGE.end());
        (next != limit).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_stacks() {
        let mut limit = CopyLimit::default();
        let mut bytes = 16 << 10;
        let mut after = |count: usize, used: usize, is_short: &dyn Fn(usize) -> bool| {
            for index in 0..count {
                bytes = limit.next(bytes, used, is_short(index)).unwrap_or(bytes);
            }
            bytes
        };
        assert_eq!(after(640, 9000, &|_| false), 16 << 10);
        assert_eq!(after(64, 9000, &|index| index < 2), 32 << 10);
        assert_eq!(after(640, 9000, &|_| true), 256 << 10);
        assert_eq!(after(6400, 3000, &|_| false), 8 << 10);
        assert_eq!(after(6400, 0, &|_| false), 4 << 10);
    }
}
