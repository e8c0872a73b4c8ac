//! Missing frames on AArch64, by the instructions with which V8's compilers make and remove frames.

use super::code_bytes::CodeBytes;
use super::frame::MissingFrame;
use super::stopped_stack::StoppedStack;
use super::v8_code::{CodeKind, V8Code};

/// Bytes of an instruction.
const INSTRUCTION: i64 = 4;
/// `stp x29, x30, [sp, #-16]!`
const PUSH: u32 = 0xa9bf_7bfd;
/// `mov x29, sp`
const MAKE: u32 = 0x9100_03fd;
/// `ldp x29, x30, [sp], #16`
const REMOVE: u32 = 0xa8c1_7bfd;
/// `ret`
const RETURN: u32 = 0xd65f_03c0;
/// What follows `MAKE` in a built-in function of JavaScript: `stp xzr, x0, [sp, #-32]!` (the count of arguments).
const OF_JAVASCRIPT: u32 = 0xa9be_03ff;
/// What follows in the interpreter: `stp x1, x27, [sp, #-16]!` (function and context).
const OF_INTERPRETER: u32 = 0xa9bf_6fe1;
/// Where built-in functions begin.
const ALIGNMENT: u64 = 32;

/// Most instructions between the start of a function and the place where the function makes its frame, and between
/// the place where it removes the frame and the return.
const MAX_ENTRY: i64 = 12;
const MAX_EXIT: i64 = 8;
/// Bytes of a built-in function in which it makes its frame.
const MAX_MAKE: u64 = 256;

/// Returns the frame that code of a kind lacks at the program counter.
pub(super) fn missing(
    kind: CodeKind,
    code: &V8Code,
    thread: &StoppedStack<'_>,
) -> Option<MissingFrame> {
    let own = thread.registers;
    // SAFETY: the thread executes the byte.
    let bytes = unsafe { CodeBytes::around(own.program) };
    let frame = |caller: u64, return_to: Option<u64>| {
        let return_to = return_to.filter(|address| is_return_address(*address, code))?;
        Some(MissingFrame { program: own.program, caller, return_to, is_entering: false })
    };
    let entering = |frame: Option<MissingFrame>| {
        frame.map(|frame| MissingFrame { is_entering: true, ..frame })
    };
    let has_pushed = instruction(&bytes, -1) == Some(PUSH) && instruction(&bytes, 0) == Some(MAKE);
    if has_pushed || own.stack == own.frame {
        return entering(frame(thread.top(0)?, thread.top(1)));
    }
    let in_link = || frame(own.frame, Some(own.link));
    if has_removed(&bytes) {
        return in_link();
    }
    match kind {
        CodeKind::Compiled if (0..=MAX_ENTRY).any(|at| instruction(&bytes, at) == Some(PUSH)) => {
            entering(in_link())
        }
        CodeKind::Compiled => None,
        CodeKind::BuiltIn if !thread.is_javascript_frame() => None,
        CodeKind::BuiltIn => match make_of(own.program, code) {
            None => in_link(),
            // As if the interpreter had called a handler of a bytecode without a frame.
            Some(OF_INTERPRETER) if thread.is_interpreter_frame() => Some(MissingFrame {
                program: own.program,
                caller: own.frame,
                return_to: own.program,
                is_entering: false,
            }),
            Some(_) => None,
        },
    }
}

/// Returns whether an address is in the interpreter's code, after the place where it makes a frame.
pub(super) fn is_interpreter(address: u64, code: &V8Code) -> bool {
    make_of(address, code) == Some(OF_INTERPRETER)
}

/// Returns the instruction that is so many instructions behind an address.
fn instruction(bytes: &CodeBytes, index: i64) -> Option<u32> {
    let byte = |offset: i64| bytes.byte(INSTRUCTION * index + offset);
    Some(u32::from_le_bytes([byte(0)?, byte(1)?, byte(2)?, byte(3)?]))
}

/// Returns whether code has removed its frame and not returned yet.
fn has_removed(bytes: &CodeBytes) -> bool {
    (1..=MAX_EXIT).any(|back| instruction(bytes, -back) == Some(REMOVE))
        && (0..=MAX_EXIT).any(|at| instruction(bytes, at) == Some(RETURN))
}

/// Returns the instruction by which the built-in function around an address has made a frame of JavaScript, if it has
/// made one before the address.
fn make_of(address: u64, code: &V8Code) -> Option<u32> {
    let start = code.start_of_built_in(address, ALIGNMENT);
    (start..address.min(start + MAX_MAKE)).step_by(INSTRUCTION as usize).find_map(|at| {
        // SAFETY: what is from the first built-in function to an address in one can be read.
        let bytes = unsafe { CodeBytes::around(at) };
        let next = instruction(&bytes, 2)?;
        let is_made = instruction(&bytes, 0)? == PUSH
            && instruction(&bytes, 1)? == MAKE
            && [OF_JAVASCRIPT, OF_INTERPRETER].contains(&next)
            && at + 2 * INSTRUCTION as u64 <= address;
        is_made.then_some(next)
    })
}

/// Returns whether a call in V8's code returns to an address.
fn is_return_address(address: u64, code: &V8Code) -> bool {
    code.is_return_address(address, |address| {
        // No call is before the first built-in function.
        if address == code.first_built_in(address) {
            return false;
        }
        // SAFETY: all built-in functions can be read.
        let bytes = unsafe { CodeBytes::around(address - INSTRUCTION as u64) };
        instruction(&bytes, 0).is_some_and(|call| {
            let (is_direct, is_indirect) =
                (call >> 26 == 0b10_0101, call & 0xffff_fc1f == 0xd63f_0000);
            is_direct || is_indirect
        })
    })
}
