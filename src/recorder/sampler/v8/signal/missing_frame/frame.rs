//! A frame that code has not made, or has removed already.

use std::ptr;

use cpu_prof_core::base::system::registers::CallRegisters;

/// What the frame of code would be, if the code had made one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingFrame {
    /// Address by which the code is found: a program counter behind which V8 expects a frame.
    pub program: u64,
    /// Frame pointer of the caller.
    pub caller: u64,
    /// Address to return to.
    pub return_to: u64,
    /// Whether a function is about to make its frame.
    pub is_entering: bool,
}

impl MissingFrame {
    /// Words of a frame: where its type would be, the caller's frame pointer, and the return address.
    const WORDS: usize = 3;

    /// Calls `f` with the registers that the code would have with its frame, while the frame is in memory. `stack` is
    /// the thread's stack pointer. May be called in a signal handler.
    ///
    /// # Safety
    /// This is the handler of the signal that has stopped the thread.
    pub(crate) unsafe fn while_made(self, stack: u64, f: impl FnOnce(CallRegisters)) {
        let words = [0, self.caller, self.return_to];
        let mut own = [0; Self::WORDS];
        // V8 refuses a frame above the caller's. On a stack of its own, the handler may be there; then what is below
        // the thread's stack pointer is free.
        let own_place = &raw mut own;
        let place = if (own_place as u64) < stack {
            own_place
        } else {
            ptr::with_exposed_provenance_mut(stack as usize - size_of_val(&words))
        };
        // SAFETY: the place is the handler's own, or below the part of the thread's stack that is in use, of which
        // the thread uses nothing before its next push.
        let before = unsafe {
            let before = place.read_volatile();
            place.write_volatile(words);
            before
        };
        let at = place as u64;
        f(CallRegisters { program: self.program, stack: at, frame: at + 8, link: 0 });
        // SAFETY: the same.
        unsafe { place.write_volatile(before) };
    }
}
