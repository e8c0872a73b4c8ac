//! Copies of stacks on their way from the signal handler to the thread that reads them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::javascript_code::JavaScriptCode;
use cpu_prof_core::base::system::registers::{self, Registers};
use cpu_prof_core::base::system::stopped_thread::{Bell, own_registers};

/// Words of a copy before the stack: two times, the count of the stack's words, and the registers.
const HEAD: usize = 3 + registers::COUNT;

/// The most bytes of a stack that are copied at first.
const FIRST_LIMIT: usize = 16 << 10;

/// The copies of one thread's stacks. One thread adds, in a signal handler, and one thread at a time takes.
pub(crate) struct StackRing {
    /// Addresses of the thread's stack: the first, and the one after the last.
    start: AtomicU64,
    end: AtomicU64,
    /// Code whose frames end a native stack.
    pub code: JavaScriptCode,
    words: Box<[AtomicU64]>,
    /// Count of the words that were added, and of those that were taken. Both only grow.
    added: AtomicUsize,
    taken: AtomicUsize,
    /// The most bytes of a stack that are copied.
    limit: AtomicUsize,
    /// Whether the stacks are of no use, so that no more are copied.
    is_wrong: AtomicBool,
    /// Rings when the ring is half full.
    bell: Bell,
}

/// A copy of a stack.
#[derive(Debug)]
pub(crate) struct CopiedStack<'a> {
    /// Time before the sample was taken: CLOCK_MONOTONIC, microseconds.
    pub from_us: i64,
    /// Time after the sample was taken.
    pub to_us: i64,
    /// Registers.
    pub registers: Registers,
    /// The stack, from the lowest word that the innermost function can use.
    pub words: &'a [u64],
}

impl StackRing {
    /// Bytes that a ring of a thread of JavaScript has room for. The system gives the memory page by page.
    pub(crate) const BYTES: usize = 1 << 20;

    /// Returns a ring without copies, with room for so many bytes.
    pub(crate) fn new(stack: Range<u64>, code: JavaScriptCode, bell: Bell, bytes: usize) -> Self {
        Self {
            start: AtomicU64::new(stack.start),
            end: AtomicU64::new(stack.end),
            code,
            words: zeros((bytes / 8).next_power_of_two()),
            added: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            limit: AtomicUsize::new(FIRST_LIMIT),
            is_wrong: AtomicBool::new(false),
            bell,
        }
    }

    /// Returns the addresses of the thread's stack.
    pub(crate) fn stack(&self) -> Range<u64> {
        self.start.load(Ordering::Acquire)..self.end.load(Ordering::Acquire)
    }

    /// Changes the thread, whose stack has these addresses. No thread may add meanwhile.
    pub(crate) fn set_stack(&self, stack: Range<u64>) {
        self.end.store(0, Ordering::Release);
        self.start.store(stack.start, Ordering::Release);
        self.end.store(stack.end, Ordering::Release);
    }

    /// Adds the stack of a thread, unless it runs JavaScript or there is no room. May be called in a signal
    /// handler.
    ///
    /// # Safety
    /// Must be called on the ring's thread, with the registers that it has or had in a function that has not
    /// returned.
    pub(crate) unsafe fn add(&self, from_us: i64, to_us: i64, values: &[u64; registers::COUNT]) {
        let [program, stack] =
            [registers::PROGRAM, registers::STACK].map(|number| values[usize::from(number)]);
        let start = stack.wrapping_sub(registers::BELOW_STACK);
        let bounds = self.stack();
        let is_readable = [start, stack].iter().all(|address| bounds.contains(address));
        if !is_readable
            || !stack.is_multiple_of(8)
            || self.code.contains(program)
            || self.is_wrong()
        {
            return;
        }
        let length = (bounds.end - start).min(self.limit.load(Ordering::Relaxed) as u64);
        let count = length as usize / 8;
        let added = self.added.load(Ordering::Relaxed);
        let used = added.wrapping_sub(self.taken.load(Ordering::Acquire));
        let used_then = used + HEAD + count;
        if used_then > self.words.len() {
            return;
        }
        let capacity = self.words.len();
        let mask = capacity - 1;
        let mut at = added;
        let mut put = |word: u64| {
            if let Some(place) = self.words.get(at & mask) {
                place.store(word, Ordering::Relaxed);
            }
            at = at.wrapping_add(1);
        };
        [from_us as u64, to_us as u64, count as u64].into_iter().for_each(&mut put);
        values.iter().copied().for_each(&mut put);
        let first = start as *const u64;
        for index in 0..count {
            // SAFETY: the word is within the thread's stack, in the part that its function uses or above, and so
            // there. Nobody changes the word: the thread is here.
            put(unsafe { first.add(index).read_volatile() });
        }
        self.added.store(at, Ordering::Release);
        if used < capacity / 2 && used_then >= capacity / 2 {
            self.bell.ring();
        }
    }

    /// Adds the stack of the calling thread, which must be the ring's, with the times 0, as far as there is room.
    #[inline(never)]
    pub(crate) fn add_own(&self) {
        let limit = self.limit();
        self.set_limit(8 * self.words.len() / 2);
        let values = own_registers();
        // SAFETY: the caller promises the thread, and this function has not returned.
        unsafe { self.add(0, 0, &values) };
        self.set_limit(limit);
    }

    /// Takes all copies, in their order. `buffer` is memory to use again.
    pub(crate) fn take(&self, buffer: &mut Vec<u64>, mut each: impl FnMut(CopiedStack<'_>)) {
        let added = self.added.load(Ordering::Acquire);
        let mut taken = self.taken.load(Ordering::Relaxed);
        let capacity = self.words.len();
        let mask = capacity - 1;
        while taken != added {
            let word = |index: usize| {
                let place = self.words.get(taken.wrapping_add(index) & mask);
                place.map_or(0, |place| place.load(Ordering::Relaxed))
            };
            let count = (word(2) as usize).min(capacity - HEAD);
            buffer.clear();
            buffer.extend((0..count).map(|index| word(HEAD + index)));
            each(CopiedStack {
                from_us: word(0) as i64,
                to_us: word(1) as i64,
                registers: Registers::new(std::array::from_fn(|number| word(3 + number))),
                words: buffer,
            });
            taken = taken.wrapping_add(HEAD + count);
            // At once, so that the room can be used again.
            self.taken.store(taken, Ordering::Release);
        }
    }

    /// Returns whether the ring is more than a quarter full.
    pub(crate) fn is_filling(&self) -> bool {
        let added = self.added.load(Ordering::Relaxed);
        added.wrapping_sub(self.taken.load(Ordering::Relaxed)) > self.words.len() / 4
    }

    /// Returns the most bytes of a stack that are copied.
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Changes the most bytes of a stack that are copied.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Copies no more stacks.
    pub(crate) fn give_up(&self) {
        self.is_wrong.store(true, Ordering::Relaxed);
    }

    /// Returns whether no more stacks are copied.
    pub(crate) fn is_wrong(&self) -> bool {
        self.is_wrong.load(Ordering::Relaxed)
    }
}

/// Returns numbers that take memory only once they are written.
fn zeros(count: usize) -> Box<[AtomicU64]> {
    let zeros = Box::leak(vec![0_u64; count].into_boxed_slice());
    let first = zeros.as_mut_ptr().cast::<AtomicU64>();
    // SAFETY: the memory is that of a box which was just leaked, and both types have the same layout.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, count)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::base::system::stopped_thread::own_stack;

    fn ring() -> StackRing {
        let (stack, code) = (own_stack().unwrap(), JavaScriptCode::made(1..2));
        StackRing::new(stack, code, Bell::new().unwrap(), StackRing::BYTES)
    }

    fn taken(ring: &StackRing) -> Vec<(u64, Vec<u64>)> {
        let mut list = Vec::new();
        ring.take(&mut Vec::new(), |copy| {
            list.push((copy.registers.get(registers::STACK).unwrap(), copy.words.to_vec()));
        });
        list
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only on Linux are stacks copied")]
    fn the_stack_above_the_stack_pointer_is_copied() {
        let ring = ring();
        let local = std::hint::black_box([0x1234_5678_9abc_def0_u64; 4]);
        ring.add_own();
        let copies = taken(&ring);
        assert_eq!(copies.len(), 1);
        let (stack, words) = &copies[0];
        assert!(ring.stack().contains(stack));
        assert!(words.contains(&local[0]));
        assert!(taken(&ring).is_empty());
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only on Linux are stacks copied")]
    fn a_full_ring_takes_no_more_until_it_is_emptied() {
        let ring = ring();
        (0..1000).for_each(|_| ring.add_own());
        let first = taken(&ring).len();
        assert!((1..1000).contains(&first) && !ring.is_filling(), "{first}");
        ring.add_own();
        assert_eq!(taken(&ring).len(), 1);
        ring.give_up();
        ring.add_own();
        assert!(taken(&ring).is_empty());
    }
}
