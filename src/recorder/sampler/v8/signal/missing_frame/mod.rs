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

mod aarch64;
mod code_bytes;
mod frame;
mod machine;
mod proof;
mod stopped_stack;
#[cfg(test)]
mod tests;
mod v8_code;
mod x86_64;

use self::frame::MissingFrame;
use self::stopped_stack::StoppedStack;
pub(crate) use self::v8_code::{CodeKind, V8Code};
use cpu_prof_core::base::system::registers::{self, CallRegisters};
use cpu_prof_core::base::system::{sampling_signal, stopped_thread};

/// Finds the missing frames of a thread.
#[derive(Debug, Clone)]
pub(crate) struct FrameFinder {
    code: V8Code,
    /// Address after the thread's stack.
    stack_end: u64,
}

impl FrameFinder {
    /// Looks at the frames of the functions of JavaScript that run now, for recordings that begin where none runs.
    pub(crate) fn prove() {
        let _ = Self::of_this_thread();
    }

    /// Returns what finds the missing frames of the calling thread; none if V8 does not say where its code is, or if
    /// no frames of this process have looked as expected so far.
    pub(crate) fn of_this_thread() -> Option<Self> {
        if !(sampling_signal::IS_AVAILABLE && stopped_thread::IS_AVAILABLE) {
            return None;
        }
        let finder =
            Self { code: V8Code::of_this_thread()?, stack_end: stopped_thread::own_stack_end()? };
        proof::holds(&finder.code, finder.stack_end).then_some(finder)
    }

    /// Returns where V8's code is.
    pub(crate) fn code(&self) -> &V8Code {
        &self.code
    }

    /// Returns the address after the thread's stack.
    pub(crate) fn stack_end(&self) -> u64 {
        self.stack_end
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
