//! The thread that reads copies of stacks, one for a process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use std::{io, mem, thread};

use parking_lot::Mutex;

use super::unwinder::{CopiedBytes, FollowedStack, StackEnd, Unwinder};
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
    shared: Arc<SharedReader>,
    bell: Bell,
}

/// What the threads share that read stacks.
#[derive(Default)]
struct SharedReader {
    /// Locked while files are read: so never by a thread of the program.
    work: Mutex<ReaderWork>,
    /// Locked for a moment.
    threads: Mutex<Vec<Weak<ThreadStacks>>>,
}

#[derive(Default)]
struct ReaderWork {
    unwinder: Unwinder,
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
        let shared: Arc<SharedReader> = Arc::default();
        let of_thread = Arc::clone(&shared);
        system::with_signals_blocked(|| {
            thread::Builder::new()
                .name("cpu-prof-stacks".into())
                .spawn(move || read_when_full(bell, &of_thread))
        })
        .map_err(failed)?;
        Ok(Self { shared, bell })
    }
}

/// Reads the stacks of each thread whose ring fills up before the writer thread asks for them.
fn read_when_full(bell: Bell, shared: &SharedReader) {
    loop {
        bell.wait();
        // A panic costs the stacks of this round.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let threads: Vec<_> = shared.threads.lock().iter().filter_map(Weak::upgrade).collect();
            let mut work = shared.work.lock();
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
            let FollowedStack { functions, end, copied } = followed;
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
            if let Some(bytes) = limit.next(ring.limit(), &copied) {
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
        let mut threads = reader.shared.threads.lock();
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&stacks));
        drop(threads);
        Ok(stacks)
    }

    /// Takes the stacks up to now.
    pub(crate) fn take(&self) -> Vec<NativeStack> {
        self.reader.shared.work.lock().read(self);
        mem::take(&mut *self.read.lock())
    }

    /// Returns the frame of a function by its number.
    pub(crate) fn frame(&self, number: u32) -> CallFrame {
        let work = self.reader.shared.work.lock();
        work.unwinder.frame(number).cloned().unwrap_or_else(CallFrame::unknown)
    }
}

/// How much of each stack is copied: what most stacks need.
#[derive(Debug, Default)]
struct CopyLimit {
    /// Count of stacks since the last change, and of those that were cut.
    seen: u32,
    short: u32,
    /// The most that a stack needed, bytes.
    used_bytes: usize,
}

impl CopyLimit {
    /// Counts a stack. Returns the next limit, if it changes, bytes.
    fn next(&mut self, limit: usize, copied: &CopiedBytes) -> Option<usize> {
        /// One stack in so many may be cut.
        const MAX_SHORT: u32 = 64;
        /// Stacks before the limit becomes less.
        const STACKS: u32 = 512;
        /// Less than the first would save little, and the thread that reads stacks would see later that more is
        /// needed.
        const RANGE: std::ops::RangeInclusive<usize> = 16 << 10..=256 << 10;
        self.seen += 1;
        self.used_bytes = self.used_bytes.max(copied.used);
        // A stack that was copied before the last change says nothing about the limit of now.
        self.short += u32::from(copied.is_short && copied.all >= limit);
        let next = match () {
            () if self.short > 1 && self.short * MAX_SHORT > self.seen => limit * 2,
            () if self.seen < STACKS => return None,
            () if self.used_bytes * 4 < limit => limit / 2,
            () => limit,
        };
        *self = Self::default();
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
                let copied = CopiedBytes { all: bytes, used, is_short: is_short(index) };
                bytes = limit.next(bytes, &copied).unwrap_or(bytes);
            }
            bytes
        };
        assert_eq!(after(2048, 9000, &|_| false), 16 << 10);
        assert_eq!(after(1, 9000, &|_| true), 16 << 10);
        assert_eq!(after(1, 9000, &|_| true), 32 << 10);
        assert_eq!(after(640, 9000, &|index| index % 128 == 127), 32 << 10);
        assert_eq!(after(640, 9000, &|_| true), 256 << 10);
        assert_eq!(after(6400, 3000, &|_| false), 16 << 10);
        // Stacks that were copied with less than the limit of now.
        let old = CopiedBytes { all: 8 << 10, used: 8 << 10, is_short: true };
        assert!((0..100).all(|_| limit.next(16 << 10, &old).is_none()));
    }
}
