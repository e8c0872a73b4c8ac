//! What the signal handler of a native thread uses: memory that is there for the life of the process.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::sampler::v8::{JavaScriptCode, StackRing, is_read_here};
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::registers;
use cpu_prof_core::base::system::sampling_signal::thread_number;
use cpu_prof_core::base::system::stopped_thread::{Bell, StoppedThread};
use cpu_prof_core::base::system::thread_timer::own_cpu_us;

/// The most threads whose stacks are copied at a time.
const SLOTS: usize = 48;

/// Bytes that the copies of a thread have room for.
const RING_BYTES: usize = 512 << 10;

/// The most searches for the stack of a thread.
const MAX_FAILURES: u32 = 5;

static ALL: [TickSlot; SLOTS] = [const { TickSlot::free() }; SLOTS];

/// The place of a thread.
pub(super) struct TickSlot {
    /// The system's id of the thread, 0 if the slot is free.
    thread: AtomicU32,
    /// An address on the thread's stack, 0 before the first tick.
    on_stack: AtomicU64,
    /// Address of what the C library keeps for the thread, 0 before the first tick. The library puts it at the
    /// end of the stack that the thread began with, above all functions.
    data: AtomicU64,
    /// How often the stack was not found.
    failures: AtomicU32,
    /// Count of the ticks that were handled. It only grows.
    handled: AtomicU32,
    /// Copies of the stack. A slot has the same ring for all its threads, one after the other.
    ring: OnceLock<StackRing>,
}

impl TickSlot {
    const fn free() -> Self {
        Self {
            thread: AtomicU32::new(0),
            on_stack: AtomicU64::new(0),
            data: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            handled: AtomicU32::new(0),
            ring: OnceLock::new(),
        }
    }

    /// Gives a thread a slot, and returns its number; none if all are taken. One thread at a time may call this.
    pub(super) fn take(thread: u32, bell: Bell) -> Option<usize> {
        let number = ALL.iter().position(|slot| slot.thread.load(Ordering::Relaxed) == 0)?;
        let slot = &ALL[number];
        slot.ring.get_or_init(|| StackRing::new(0..0, JavaScriptCode::default(), bell, RING_BYTES));
        slot.thread.store(thread, Ordering::Release);
        Some(number)
    }

    /// Returns the slot with a number.
    pub(super) fn of(number: usize) -> Option<&'static Self> {
        ALL.get(number)
    }

    /// Frees the slot. Its thread must have ended.
    pub(super) fn release(&self) {
        if let Some(ring) = self.ring() {
            ring.set_stack(0..0);
        }
        self.failures.store(0, Ordering::Relaxed);
        self.on_stack.store(0, Ordering::Relaxed);
        self.data.store(0, Ordering::Relaxed);
        self.thread.store(0, Ordering::Release);
    }

    /// Returns the ring of the slot's thread.
    pub(super) fn ring(&self) -> Option<&StackRing> {
        self.ring.get()
    }

    /// Returns the count of the ticks that were handled.
    pub(super) fn handled(&self) -> u32 {
        self.handled.load(Ordering::Relaxed)
    }

    /// Returns whether the thread had a tick, and its stack is not known.
    pub(super) fn needs_stack(&self) -> bool {
        self.data.load(Ordering::Acquire) != 0
            && self.failures.load(Ordering::Relaxed) < MAX_FAILURES
            && self.ring().is_some_and(|ring| ring.stack().is_empty())
    }

    /// Finds the thread's stack in a list of the memory that can be written. A thread that runs on another
    /// stack than that with which it began has none: such a stack can be removed while the thread goes on.
    pub(super) fn find_stack(&self, memory: &[Range<u64>]) {
        let (on_stack, data) =
            (self.on_stack.load(Ordering::Acquire), self.data.load(Ordering::Acquire));
        let is_stack = |range: &&Range<u64>| {
            on_stack < data && range.contains(&on_stack) && range.contains(&data)
        };
        match memory.iter().find(is_stack).zip(self.ring()) {
            Some((range, ring)) => ring.set_stack(range.start..data),
            None => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                // The next tick tells another place.
                self.data.store(0, Ordering::Release);
            }
        }
    }
}

/// Runs on a native thread in the signal handler of its timer. Nothing here may lock, allocate or panic.
pub(super) fn on_tick(number: usize, stopped: StoppedThread) {
    let Some(slot) = TickSlot::of(number) else { return };
    slot.handled.fetch_add(1, Ordering::Relaxed);
    // The timer of a worker whose recording has just begun ends with the next look. A tick could be within the
    // handler of a sample.
    if is_read_here() || system::thread_id() != Some(slot.thread.load(Ordering::Acquire)) {
        return;
    }
    let registers = stopped.registers();
    let own_data = thread_number() as u64;
    match slot.data.load(Ordering::Acquire) {
        0 => {
            slot.on_stack.store(registers[usize::from(registers::STACK)], Ordering::Relaxed);
            slot.data.store(own_data, Ordering::Release);
        }
        data if data == own_data => {
            if let Some(ring) = slot.ring.get() {
                // SAFETY: this is the thread whose stack the ring has, and it stands still while its handler
                // runs. The stack ends at what the C library keeps for the thread, and so is there as long as
                // the thread is.
                unsafe { ring.add(system::now_us(), own_cpu_us(), &registers) };
            }
        }
        _ => {}
    }
}
