//! Missing frames on x86-64, by the instructions with which V8's compilers make and remove frames.

use super::code_bytes::CodeBytes;
use super::frame::MissingFrame;
use super::stopped_stack::StoppedStack;
use super::v8_code::{CodeKind, V8Code};

/// `push rbp; mov rbp, rsp`
const MAKE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
/// The same of a built-in function of JavaScript: `push rsi; push rdi; push rax` (context, function, count of
/// arguments) follow.
const MAKE_JAVASCRIPT: [u8; 7] = [0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0x50];
/// The same of other built-in functions: `push imm8`, the type of the frame, follows.
const MAKE_OTHER: [u8; 5] = [0x55, 0x48, 0x89, 0xe5, 0x6a];
/// `mov rsp, rbp; pop rbp`
const REMOVE: [u8; 4] = [0x48, 0x8b, 0xe5, 0x5d];
/// `mov r12, imm64` before `call BaselineOutOfLinePrologue`, which makes the frame of baseline code: their first
/// bytes, and the offset of the second from the first.
const MOVE_BYTECODE: [u8; 2] = [0x49, 0xbc];
const CALL: u8 = 0xe8;
const MOVE_BYTECODE_BYTES: i64 = 10;
const CALL_BYTES: i64 = 5;
/// `pop rbp`
const POP: u8 = 0x5d;
/// `ret` with and without a count of bytes.
const RETURNS: [u8; 2] = [0xc2, 0xc3];
/// Where built-in functions begin.
const ALIGNMENT: u64 = 64;

/// Most bytes between the start of a function and the place where the function makes its frame.
const MAX_ENTRY: i64 = 24;
/// Most bytes between the place where a frame is removed, and the return.
const MAX_EXIT: i64 = 16;
/// Bytes of a built-in function in which it makes its frame. Only the interpreter comes later than `LATE`.
const MAX_MAKE: u64 = 256;
const LATE: u64 = 64;
/// Most words that a built-in function without a frame has on the stack: what handlers of bytecodes have before they
/// jump to the next.
const MAX_WORDS: u64 = 32;

/// Returns the frame that code of a kind lacks at the program counter.
pub(super) fn missing(
    kind: CodeKind,
    code: &V8Code,
    thread: &StoppedStack<'_>,
) -> Option<MissingFrame> {
    let own = thread.registers;
    // SAFETY: the thread executes the byte.
    let bytes = unsafe { CodeBytes::around(own.program) };
    let frame = |program: u64, caller: u64, return_to: Option<u64>| {
        let return_to = return_to.filter(|address| is_return_address(*address, code))?;
        Some(MissingFrame { program, caller, return_to, is_entering: false })
    };
    let entering = |frame: Option<MissingFrame>| {
        frame.map(|frame| MissingFrame { is_entering: true, ..frame })
    };
    let returns = |offset| bytes.byte(offset).is_some_and(|byte| RETURNS.contains(&byte));
    // V8 drops the stack if the program counter is at these instructions.
    if bytes.has(0, &MAKE) {
        return entering(frame(own.program + 4, own.frame, thread.top(0)));
    }
    if bytes.has(-1, &MAKE) {
        return entering(frame(own.program + 3, thread.top(0)?, thread.top(1)));
    }
    if bytes.byte(-1) == Some(POP) && returns(0) {
        return frame(own.program - 2, own.frame, thread.top(0));
    }
    // And if nothing is in the frame.
    if own.stack == own.frame {
        let is_leaving = bytes.byte(0) == Some(POP);
        let program = if is_leaving { own.program - 1 } else { own.program };
        let frame = frame(program, thread.top(0)?, thread.top(1));
        return if is_leaving { frame } else { entering(frame) };
    }
    if let Some(return_to) = taken_return_address(&bytes, thread) {
        return frame(own.program, own.frame, Some(return_to));
    }
    if has_removed(&bytes) {
        return frame(own.program, own.frame, thread.top(0));
    }
    match kind {
        CodeKind::Compiled if will_make(&bytes) => {
            entering(frame(own.program, own.frame, thread.top(0)))
        }
        CodeKind::Compiled => None,
        CodeKind::BuiltIn if !thread.is_javascript_frame() => None,
        CodeKind::BuiltIn => match offset_of_make(own.program, code) {
            None if may_have_made(own.program, code) => None,
            None => in_built_in(code, thread),
            // V8 takes the frame for the one of a handler of a bytecode, which the interpreter would have called.
            Some(offset) if offset > LATE && thread.is_interpreter_frame() => Some(MissingFrame {
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
    offset_of_make(address, code).is_some_and(|offset| offset > LATE)
}

/// Returns the frame of a built-in function without one, on top of a function's of JavaScript.
fn in_built_in(code: &V8Code, thread: &StoppedStack<'_>) -> Option<MissingFrame> {
    let own = thread.registers;
    // Its words are below the fixed part of the frame.
    let count = own.frame.saturating_sub(16).saturating_sub(own.stack) / 8;
    let find = |is: &dyn Fn(u64) -> bool| {
        (0..count.min(MAX_WORDS)).find(|index| thread.top(*index).is_some_and(is))
    };
    // What the interpreter calls returns to the interpreter. Below that are words that handlers of bytecodes leave.
    let of_interpreter = thread
        .is_interpreter_frame()
        .then(|| {
            find(&|word| code.kind(word) == Some(CodeKind::BuiltIn) && is_interpreter(word, code))
        })
        .flatten();
    // Baseline code lets a built-in function make its frame.
    let register = || register_of_prologue(own.program, code);
    let Some(index) = of_interpreter.or_else(|| find(&|word| is_return_address(word, code))) else {
        let return_to = *thread.values.get(register()?)?;
        let is_caller = code.kind(return_to) == Some(CodeKind::Compiled);
        return is_caller.then_some(MissingFrame {
            program: own.program,
            caller: own.frame,
            return_to,
            is_entering: false,
        });
    };
    let return_to = thread.top(index)?;
    if let Some(caller) = thread.top(index + 1).filter(|word| is_return_address(*word, code))
        && register().is_some()
    {
        // Its caller has no frame either.
        return Some(MissingFrame {
            program: return_to,
            caller: own.frame,
            return_to: caller,
            is_entering: false,
        });
    }
    Some(MissingFrame { program: own.program, caller: own.frame, return_to, is_entering: false })
}

/// Returns the register in which BaselineOutOfLinePrologue keeps its return address while it makes its caller's frame;
/// none if the address is in another built-in function. It is the only one that takes the address from the stack just
/// before it makes a frame.
fn register_of_prologue(address: u64, code: &V8Code) -> Option<usize> {
    /// Bytes in which the function does so.
    const MAX: u64 = 64;
    let start = code.start_of_built_in(address, ALIGNMENT);
    let mut places =
        (start..start + MAX).take_while(|at| code.kind(*at) == Some(CodeKind::BuiltIn));
    places.find_map(|at| {
        // SAFETY: all built-in functions can be read.
        let bytes = unsafe { CodeBytes::around(at) };
        let register = bytes.byte(1)?.checked_sub(0x58).filter(|register| *register < 8)?;
        // `pop` of a register from r8 on.
        let is_taken = bytes.byte(0) == Some(0x41) && bytes.has(2, &MAKE);
        is_taken.then_some(usize::from(register) + 8)
    })
}

/// Returns whether compiled code is before the place where it makes its frame.
fn will_make(bytes: &CodeBytes) -> bool {
    let calls_prologue = |move_at: i64| {
        bytes.has(move_at, &MOVE_BYTECODE)
            && bytes.byte(move_at + MOVE_BYTECODE_BYTES) == Some(CALL)
    };
    // `mov ebx, imm32` or `xor ebx, ebx` comes before the move.
    (1..=MAX_ENTRY).any(|offset| bytes.has(offset, &MAKE))
        || calls_prologue(0)
        || calls_prologue(-MOVE_BYTECODE_BYTES)
        || (bytes.byte(0) == Some(0xbb) && calls_prologue(5))
        || (bytes.has(0, &[0x33, 0xdb]) && calls_prologue(2))
}

/// Returns whether code has removed its frame and not returned yet.
fn has_removed(bytes: &CodeBytes) -> bool {
    let length = REMOVE.len() as i64;
    (length..=MAX_EXIT).any(|back| bytes.has(-back, &REMOVE))
        && (0..=MAX_EXIT)
            .any(|offset| bytes.byte(offset).is_some_and(|byte| RETURNS.contains(&byte)))
}

/// Returns the return address while the code has taken it from the stack to drop arguments: `pop register; lea rsp,
/// [rsp + count * 8]; push register; ret`.
fn taken_return_address(bytes: &CodeBytes, thread: &StoppedStack<'_>) -> Option<u64> {
    /// Registers of `push`, without a prefix, in the order of their numbers there.
    const ORDER: [usize; 8] = [0, 2, 1, 3, 7, 6, 4, 5];
    let push = |offset: i64| {
        let (byte, has_prefix) = match bytes.byte(offset)? {
            0x41 => (bytes.byte(offset + 1)?, true),
            byte => (byte, false),
        };
        let number = usize::from(byte.checked_sub(0x50).filter(|number| *number < 8)?);
        let after = offset + 1 + i64::from(has_prefix);
        let is_last = bytes.byte(after).is_some_and(|byte| RETURNS.contains(&byte));
        is_last.then_some(if has_prefix { number + 8 } else { ORDER[number] })
    };
    let is_lea = matches!(bytes.byte(0)?, 0x48..=0x4f)
        && bytes.has(1, &[0x8d])
        && bytes.byte(2).is_some_and(|byte| byte & 0x3f == 0x24);
    let register = if is_lea { (4..=8).find_map(push) } else { push(0) };
    thread.values.get(register?).copied()
}

/// Returns how far behind its start the built-in function around an address makes a frame of JavaScript, if it has
/// made one before the address.
fn offset_of_make(address: u64, code: &V8Code) -> Option<u64> {
    let start = code.start_of_built_in(address, ALIGNMENT);
    let end = address.min(start + MAX_MAKE).saturating_sub(MAKE_JAVASCRIPT.len() as u64 - 1);
    (start..end).find(|at| has_bytes(*at, &MAKE_JAVASCRIPT)).map(|at| at - start)
}

/// Returns whether these bytes are at a place in the built-in functions.
fn has_bytes(place: u64, bytes: &[u8]) -> bool {
    // SAFETY: what is from the first built-in function to an address in one can be read.
    let byte = |at: u64| unsafe { (at as *const u8).read_volatile() };
    (place..).zip(bytes).all(|(at, expected)| byte(at) == *expected)
}

/// Returns whether the built-in function around an address may have made a frame of JavaScript before what looks like
/// its start: V8 also fills space within functions, behind jumps and calls that do not return. (In Node 18 to 26, no
/// function with a frame is missed, and one in a hundred without a frame is taken for one that may have a frame.)
fn may_have_made(address: u64, code: &V8Code) -> bool {
    /// Bytes of a filler that is never within a function.
    const BETWEEN: u64 = 24;
    let first = code.first_built_in(address);
    let mut start = code.start_of_built_in(address, ALIGNMENT);
    while start > first && code.filler_before(start) < BETWEEN {
        start = code.start_of_built_in(start - 1, ALIGNMENT);
        let makes = |make: &[u8]| (start..start + LATE).any(|at| has_bytes(at, make));
        if makes(&MAKE_JAVASCRIPT) {
            return true;
        }
        if makes(&MAKE_OTHER) {
            return false;
        }
    }
    false
}

/// Returns whether a call in V8's code returns to an address.
fn is_return_address(address: u64, code: &V8Code) -> bool {
    code.is_return_address(address, |address| {
        // SAFETY: all built-in functions can be read.
        let bytes = unsafe { CodeBytes::around(address) };
        let is_indirect = |back: i64| {
            bytes.byte(-back) == Some(0xff)
                && bytes.byte(1 - back).is_some_and(|byte| byte & 0x38 == 0x10)
        };
        bytes.byte(-CALL_BYTES) == Some(CALL) || (2..=7).any(is_indirect)
    })
}
