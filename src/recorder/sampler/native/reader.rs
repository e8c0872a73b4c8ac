//! The thread that reads copies of stacks, one for a process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use std::{io, mem, thread};

use parking_lot::Mutex;

use super::copy_limit::CopyLimit;
use super::ticks::{ThreadTicks, WatchedThreads};
use super::unwinder::{FollowedStack, StackEnd, Unwinder};
use crate::sampler::v8::{JavaScriptCode, StackRing};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system::stopped_thread::{self, Bell, own_stack};
use cpu_prof_core::base::system::{self, sampling_signal};
use cpu_prof_core::profile::frame::CallFrame;

/// The most bytes that are copied of the stack of a thread of JavaScript.
const MAX_COPY: usize = 256 << 10;

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
    /// Locked before `work`, and never by a thread of the program.
    native: Mutex<WatchedThreads>,
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

    /// Returns the frame of a function by its number.
    fn frame(&self, number: u32) -> CallFrame {
        let work = self.shared.work.lock();
        work.unwinder.frame(number).cloned().unwrap_or_else(CallFrame::unknown)
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
        let pause = shared.native.lock().pause();
        bell.wait(pause);
        // A panic costs the stacks of this round.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let threads: Vec<_> = shared.threads.lock().iter().filter_map(Weak::upgrade).collect();
            let mut native = shared.native.lock();
            native.look_when_due();
            let mut work = shared.work.lock();
            let ReaderWork { unwinder, buffer } = &mut *work;
            native.read_filling(unwinder, buffer);
            drop(native);
            threads.iter().filter(|thread| thread.ring.is_filling()).for_each(|thread| {
                work.read(thread);
            });
        }));
    }
}

impl ReaderWork {
    /// Reads the stacks that a thread has copied.
    fn read(&mut self, thread: &ThreadStacks) {
        let Self { unwinder, buffer } = self;
        let ThreadStacks { ring, read, limit, .. } = thread;
        let (mut read, mut limit) = (read.lock(), limit.lock());
        ring.take(buffer, |copy| {
            // The stack of the start is one of this addon.
            let is_proof = copy.from_us == 0;
            let followed = unwinder.follow(&copy, &ring.stack(), &ring.code, is_proof);
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
        let ring = Arc::new(StackRing::new(stack, code, reader.bell, StackRing::BYTES));
        let (read, limit) = (Mutex::default(), Mutex::new(CopyLimit::up_to(MAX_COPY)));
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
        self.reader.frame(number)
    }
}

/// The samples of the threads that run no JavaScript, as long as the value lives.
pub(crate) struct NativeTicks {
    reader: &'static StackReader,
}

impl NativeTicks {
    /// Lets the threads be sampled each time that they have used so much CPU time; returns none if they are sampled
    /// already. `others` returns the ids of the threads that are sampled otherwise.
    pub(crate) fn sample(
        interval_us: u32,
        others: fn() -> Vec<u32>,
    ) -> Result<Option<Self>, Error> {
        let reader = StackReader::get_or_start()?;
        let is_first = reader.shared.native.lock().start(interval_us, reader.bell, others)?;
        // The thread that reads stacks waits without a limit.
        reader.bell.ring();
        Ok(is_first.then_some(Self { reader }))
    }

    /// Takes what the threads did up to now.
    pub(crate) fn take(&self) -> Vec<ThreadTicks> {
        let mut native = self.reader.shared.native.lock();
        let mut work = self.reader.shared.work.lock();
        let ReaderWork { unwinder, buffer } = &mut *work;
        native.take(unwinder, buffer)
    }

    /// Returns the frame of a function by its number.
    pub(crate) fn frame(&self, number: u32) -> CallFrame {
        self.reader.frame(number)
    }
}

impl Drop for NativeTicks {
    fn drop(&mut self) {
        self.reader.shared.native.lock().stop();
    }
}
