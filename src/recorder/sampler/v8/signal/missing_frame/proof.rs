//! Checks that frames look as expected: those of the functions of JavaScript that run now.

use std::sync::atomic::{AtomicU8, Ordering};

use super::machine;
use super::stopped_stack::{is_object, is_small_number, slots};
use super::v8_code::{CodeKind, V8Code};

/// The most words of the stack that are looked through for a frame of JavaScript. Between this function and the
/// innermost one are functions of V8, Node and this addon.
const MAX_WORDS: u64 = 1 << 14;

/// What was found in this process: all its threads run the same V8.
static FOUND: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const SOUND: u8 = 1;
const OTHERWISE: u8 = 2;

/// Returns whether frames of JavaScript look as expected: by the innermost one on the calling thread's stack, or by
/// that of an earlier call.
pub(super) fn holds(code: &V8Code, stack_end: u64) -> bool {
    if FOUND.load(Ordering::Relaxed) == NOTHING {
        let here = 0_u64;
        let first = &raw const here as u64 / 8 * 8;
        let mut records =
            (0..MAX_WORDS).map(|index| first + 8 * index).take_while(|record| *record < stack_end);
        if let Some(is_sound) = records.find_map(|record| is_sound(code, stack_end, record)) {
            FOUND.store(if is_sound { SOUND } else { OTHERWISE }, Ordering::Relaxed);
        }
    }
    FOUND.load(Ordering::Relaxed) == SOUND
}

/// Returns whether the frame of a caller looks as expected, by the address of the callee's frame record: the caller's
/// frame pointer and the return address. None if there is no such record, or the caller is not of JavaScript.
fn is_sound(code: &V8Code, stack_end: u64, record: u64) -> Option<bool> {
    let stack = record..stack_end.checked_sub(16)?;
    let word = |address: u64| {
        let is_there = address.is_multiple_of(8) && stack.contains(&address);
        // SAFETY: the word is above this function's on the thread's own stack.
        is_there.then(|| unsafe { (address as *const u64).read_volatile() })
    };
    let (caller, return_to) = (word(record)?, word(record + 8)?);
    let kind = code.kind(return_to)?;
    let slot = |offset: i64| word(caller.checked_add_signed(8 * offset)?);
    let is_javascript = is_object(slot(slots::CONTEXT)?) && is_object(slot(slots::FUNCTION)?);
    if !is_javascript || slot(0)? <= caller {
        return None;
    }
    match kind {
        CodeKind::Compiled => Some(true),
        CodeKind::BuiltIn => {
            let is_interpreter = machine::is_interpreter(return_to, code);
            let has_bytecode =
                is_object(slot(slots::BYTECODE)?) && is_small_number(slot(slots::BYTECODE_OFFSET)?);
            // Others are frames of built-in functions, whose callers come next.
            is_interpreter.then_some(has_bytecode)
        }
    }
}
