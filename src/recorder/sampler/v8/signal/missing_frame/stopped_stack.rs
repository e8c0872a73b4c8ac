//! The stack of a thread that a signal has stopped, and the words of frames on it.

use cpu_prof_core::base::system::registers::{self, CallRegisters};

/// The stack of a stopped thread.
pub(super) struct StoppedStack<'a> {
    /// Registers of calls.
    pub registers: CallRegisters,
    /// Values of all registers.
    pub values: &'a [u64; registers::COUNT],
    /// Address after the stack.
    pub end: u64,
}

impl StoppedStack<'_> {
    /// Returns a word; none if the address is not one of a word that is in use.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let is_used = address >= self.registers.stack
            && address.checked_add(8).is_some_and(|end| end <= self.end)
            && address.is_multiple_of(8);
        // SAFETY: the word is on the thread's own stack, in the part that is in use.
        is_used.then(|| unsafe { (address as *const u64).read_volatile() })
    }

    /// Returns the word that is so many words above the end of the stack.
    pub(super) fn top(&self, index: u64) -> Option<u64> {
        self.word(self.registers.stack.checked_add(8 * index)?)
    }

    /// Returns a word of the innermost frame, by its offset from the frame pointer in words.
    pub(super) fn in_frame(&self, offset: i64) -> Option<u64> {
        self.word(self.registers.frame.checked_add_signed(8 * offset)?)
    }

    /// Returns whether the innermost frame is complete and one of a function of JavaScript.
    pub(super) fn is_javascript_frame(&self) -> bool {
        self.in_frame(1).is_some() && self.in_frame(slots::CONTEXT).is_some_and(is_object)
    }

    /// Returns whether the innermost frame is complete and one that the interpreter has made.
    pub(super) fn is_interpreter_frame(&self) -> bool {
        self.is_javascript_frame()
            && self.in_frame(slots::BYTECODE).is_some_and(is_object)
            && self.in_frame(slots::BYTECODE_OFFSET).is_some_and(is_small_number)
    }
}

/// Words of a frame of JavaScript, by their offsets from the frame pointer. All V8 have them.
pub(super) mod slots {
    /// The context. Frames of other kinds have a number there, their type.
    pub(crate) const CONTEXT: i64 = -1;
    /// The function.
    pub(crate) const FUNCTION: i64 = -2;
    /// The bytecode of a function that is not optimized.
    pub(crate) const BYTECODE: i64 = -4;
    /// The position in the bytecode, in frames of the interpreter.
    pub(crate) const BYTECODE_OFFSET: i64 = -5;
}

/// Returns whether a word is a pointer to an object of V8.
pub(super) fn is_object(word: u64) -> bool {
    word & 3 == 1
}

/// Returns whether a word is a small number of V8.
pub(super) fn is_small_number(word: u64) -> bool {
    word as u32 == 0
}
