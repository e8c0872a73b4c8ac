//! What depends on the machine: the instructions that make and remove frames. All of it is compiled, and tested, on
//! each machine.

use super::frame::MissingFrame;
use super::stopped_stack::StoppedStack;
use super::v8_code::{CodeKind, V8Code};
use super::{aarch64, x86_64};
use cpu_prof_core::base::system::registers::{MACHINE, Machine};

/// Returns the frame that code of a kind lacks at the program counter.
pub(super) fn missing(
    kind: CodeKind,
    code: &V8Code,
    thread: &StoppedStack<'_>,
) -> Option<MissingFrame> {
    match MACHINE {
        Machine::X86_64 => x86_64::missing(kind, code, thread),
        Machine::Aarch64 => aarch64::missing(kind, code, thread),
        Machine::Other => None,
    }
}

/// Returns whether an address is in the interpreter's code, after the place where it makes a frame.
pub(super) fn is_interpreter(address: u64, code: &V8Code) -> bool {
    match MACHINE {
        Machine::X86_64 => x86_64::is_interpreter(address, code),
        Machine::Aarch64 => aarch64::is_interpreter(address, code),
        Machine::Other => false,
    }
}
