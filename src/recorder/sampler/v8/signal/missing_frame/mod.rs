//! Shows V8's signal handler a frame for code that has none.
//!
//! V8 follows the stack by frame pointers. It takes the innermost frame for the frame of the code that runs, names
//! that code by the program counter, and goes on with the caller of the frame. Where the code that runs has no frame,
//! the innermost frame is the caller's, and V8 leaves the caller out. This is so in most of V8's small built-in
//! functions (LoadIC, Add, StringAdd), whose caller is the function of JavaScript that did the work, and while any
//! function makes or removes its frame, for which V8 also drops whole stacks.
//!
//! So V8 gets registers as if the code had made its frame: the caller's frame pointer and the return address are in
//! memory of the handler's own. V8 then finds the caller, with its line and its inlined functions, by its own tables.
//! Nothing is read but the thread's own stack, and code around the program counter and around return addresses.

mod code_bytes;
mod proof;
mod v8_code;

// Both are tested on each machine.
#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod no_machine;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", test))]
mod x86_64;

use std::ptr;

#[cfg(target_arch = "aarch64")]
use self::aarch64 as machine;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::no_machine as machine;
use self::v8_code::V8Code;
#[cfg(target_arch = "x86_64")]
use self::x86_64 as machine;
use cpu_prof_core::base::system::registers::{self, CallRegisters};
use cpu_prof_core::base::system::{sampling_signal, stopped_thread};

/// Finds the missing frames of a thread.
#[derive(Debug, Clone)]
pub(crate) struct FrameFinder {
    code: V8Code,
    /// Address after the thread's stack.
    stack_end: u64,
}

/// What the frame of code would be, if the code had made one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingFrame {
    /// Address by which the code is found: a program counter behind which V8 expects a frame.
    program: u64,
    /// Frame pointer of the caller.
    caller: u64,
    /// Address to return to.
    return_to: u64,
}

impl FrameFinder {
    /// Returns what finds the missing frames of the calling thread; none if V8 does not say where its code is, or if
    /// the frames of the functions that run now do not look as expected.
    pub(crate) fn of_this_thread() -> Option<Self> {
        if !(sampling_signal::IS_AVAILABLE && stopped_thread::IS_AVAILABLE) {
            return None;
        }
        let finder =
            Self { code: V8Code::of_this_thread()?, stack_end: stopped_thread::own_stack_end()? };
        proof::holds(&finder).then_some(finder)
    }

    /// Returns the frame that the code at the program counter lacks; none if it has one, or if that is not certain.
    /// May be called in a signal handler.
    ///
    /// # Safety
    /// The registers are those of the calling thread, which a signal has stopped.
    pub(crate) unsafe fn missing(&self, values: &[u64; registers::COUNT]) -> Option<MissingFrame> {
        let registers = CallRegisters::of(values);
        let kind = self.code.kind(registers.program)?;
        let thread = StoppedStack { registers, values, end: self.stack_end };
        machine::missing(kind, &self.code, &thread)
    }
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

/// The stack of a stopped thread.
struct StoppedStack<'a> {
    registers: CallRegisters,
    /// Values of all registers.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "others have the return address in one")
    )]
    values: &'a [u64; registers::COUNT],
    /// Address after the stack.
    end: u64,
}

impl StoppedStack<'_> {
    /// Returns a word; none if the address is not one of a word that is in use.
    fn word(&self, address: u64) -> Option<u64> {
        let is_used = address >= self.registers.stack
            && address.checked_add(8).is_some_and(|end| end <= self.end)
            && address.is_multiple_of(8);
        // SAFETY: the word is on the thread's own stack, in the part that is in use.
        is_used.then(|| unsafe { (address as *const u64).read_volatile() })
    }

    /// Returns the word that is so many words above the end of the stack.
    fn top(&self, index: u64) -> Option<u64> {
        self.word(self.registers.stack.checked_add(8 * index)?)
    }

    /// Returns a word of the innermost frame, by its offset from the frame pointer in words.
    fn in_frame(&self, offset: i64) -> Option<u64> {
        self.word(self.registers.frame.checked_add_signed(8 * offset)?)
    }

    /// Returns whether the innermost frame is complete and one of a function of JavaScript.
    fn is_javascript_frame(&self) -> bool {
        self.in_frame(1).is_some() && self.in_frame(frame::CONTEXT).is_some_and(is_object)
    }

    /// Returns whether the innermost frame is complete and one that the interpreter has made.
    fn is_interpreter_frame(&self) -> bool {
        self.is_javascript_frame()
            && self.in_frame(frame::BYTECODE).is_some_and(is_object)
            && self.in_frame(frame::BYTECODE_OFFSET).is_some_and(is_small_number)
    }
}

/// Words of a frame of JavaScript, by their offsets from the frame pointer. All V8 have them.
mod frame {
    /// The context. Frames of other kinds have a number there, their type.
    pub(super) const CONTEXT: i64 = -1;
    /// The function.
    pub(super) const FUNCTION: i64 = -2;
    /// The bytecode of a function that is not optimized.
    pub(super) const BYTECODE: i64 = -4;
    /// The position in the bytecode, in frames of the interpreter.
    pub(super) const BYTECODE_OFFSET: i64 = -5;
}

/// Returns whether a word is a pointer to an object of V8.
fn is_object(word: u64) -> bool {
    word & 3 == 1
}

/// Returns whether a word is a small number of V8.
fn is_small_number(word: u64) -> bool {
    word as u32 == 0
}
