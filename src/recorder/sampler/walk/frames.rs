//! Follows the frames of a stopped thread, and copies of each frame of JavaScript what names it later.
//!
//! Every frame has its caller's frame pointer and the address to return to. Below them, a frame of JavaScript has its
//! context and its function; a frame of another kind has its type, a small number. Where C++ runs, the frame by which
//! JavaScript called it is known to V8. Nothing but the thread's own stack is read.

use super::layout::FrameTypes;
use crate::sampler::v8::{CodeKind, V8Code};

/// What is copied of a frame of JavaScript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RawFrame {
    /// The function, as it stands in the frame; 0 for WebAssembly. It can be anything.
    pub function: u64,
    /// The next instruction; 0 in a function that C++ implements.
    pub program: u64,
    /// Bytecode, and the offset in it, where the interpreter may have made the frame; otherwise 0.
    pub bytecode: u64,
    pub offset: u64,
}

/// Where a frame by which JavaScript has called C++ has the function that C++ implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NativeFrame {
    /// Type of the frame.
    pub kind: u64,
    /// Offset of the function from the frame pointer, bytes.
    pub function: i64,
}

/// Where a walk begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WalkStart {
    pub program: u64,
    /// Address of the innermost frame.
    pub frame: u64,
    /// Lowest address of the stack that is in use.
    pub stack: u64,
}

/// The most frames in a row that are neither of JavaScript nor of V8's own code.
const MAX_OTHERS: u32 = 24;

/// Offset of the context, or of the type of the frame, from the frame pointer, bytes. The others are, too.
pub(super) const CONTEXT: i64 = -8;
const FUNCTION: i64 = -16;
const BYTECODE: i64 = -32;
const OFFSET: i64 = -40;
const RETURN: i64 = 8;

/// A walk over one thread's frames.
pub(super) struct FrameWalk<'a> {
    pub types: &'a FrameTypes,
    pub code: &'a V8Code,
    /// Where a frame by which V8 enters JavaScript has the frame by which JavaScript had called C++ before: bytes from
    /// the frame pointer.
    pub entry_link: i64,
    /// Address after the thread's stack.
    pub end: u64,
}

impl FrameWalk<'_> {
    /// Calls `found` with each frame of JavaScript, the innermost first, as long as it returns that there is room. Ends
    /// where a frame is not where it must be.
    ///
    /// # Safety
    /// The thread is the calling one, which stands still, and what is from `at.stack` to the end of its stack is in
    /// use.
    pub(super) unsafe fn each(&self, at: WalkStart, mut found: impl FnMut(RawFrame) -> bool) {
        let WalkStart { mut program, mut frame, mut stack } = at;
        let mut others = 0;
        loop {
            let is_frame = are_words(frame, 2, stack, self.end);
            if !is_frame {
                return;
            }
            // SAFETY: the frame is on the thread's own stack, and so are the words below, which are read only where
            // they are in use.
            let word = |offset: i64| unsafe { self.word(frame, offset, stack) };
            let (caller, return_to) = (word(0), word(RETURN));
            let first = word(CONTEXT);
            if first & 1 == 0 {
                let kind = first >> 1;
                if self.types.entries.contains(&kind) {
                    let before = word(self.entry_link);
                    // There is none before the outermost.
                    if before <= frame || !are_words(before, 2, frame, self.end) {
                        return;
                    }
                    // SAFETY: the frame is on the thread's own stack.
                    (program, stack, frame) = unsafe {
                        let (frame, return_to) = (before as *const u64, (before + 8) as *const u64);
                        (return_to.read_volatile(), before, frame.read_volatile())
                    };
                    others = 0;
                    continue;
                }
                let is_wasm = kind == self.types.wasm;
                if is_wasm || self.types.continuations.contains(&kind) {
                    let function = if is_wasm { 0 } else { word(FUNCTION) };
                    if !found(RawFrame { function, program, ..RawFrame::default() }) {
                        return;
                    }
                    others = 0;
                } else {
                    others += 1;
                }
            } else if let Some(kind) = self.code.kind(program) {
                others = 0;
                let (bytecode, offset) = match kind {
                    CodeKind::BuiltIn => (word(BYTECODE), word(OFFSET)),
                    CodeKind::Compiled => (0, 0),
                };
                let is_interpreted = is_object(bytecode) && is_small_number(offset);
                let (bytecode, offset) =
                    if is_interpreted { (bytecode, offset >> 32) } else { (0, 0) };
                if !found(RawFrame { function: word(FUNCTION), program, bytecode, offset }) {
                    return;
                }
            } else {
                others += 1;
            }
            if others > MAX_OTHERS || caller <= frame {
                return;
            }
            (stack, frame, program) = (frame, caller, return_to);
        }
    }

    /// Returns the word at an offset from a frame; 0 if it is not in use.
    ///
    /// # Safety
    /// As for `each`.
    unsafe fn word(&self, frame: u64, offset: i64, stack: u64) -> u64 {
        let address = frame.wrapping_add_signed(offset);
        let is_used = are_words(address, 1, stack, self.end);
        // SAFETY: the word is on the thread's own stack, in the part that is in use.
        if is_used { unsafe { (address as *const u64).read_volatile() } } else { 0 }
    }

    /// Returns the position at the innermost frame of V8 or of WebAssembly, by following the frame pointers that C++
    /// may keep. None if there is none near. `at` is outside of V8's own code.
    ///
    /// # Safety
    /// As for `each`.
    pub(super) unsafe fn above_native(&self, at: WalkStart) -> Option<WalkStart> {
        let WalkStart { mut program, mut frame, mut stack } = at;
        for _ in 0..MAX_OTHERS {
            let is_frame = are_words(frame, 2, stack, self.end);
            if !is_frame {
                return None;
            }
            // SAFETY: the frame is on the thread's own stack, in the part that is in use.
            let word = |offset: i64| unsafe { self.word(frame, offset, stack) };
            let is_wasm = word(CONTEXT) == self.types.wasm << 1 && is_object(word(FUNCTION));
            if is_wasm {
                return Some(WalkStart { program, frame, stack });
            }
            let (caller, return_to) = (word(0), word(RETURN));
            if self.code.kind(return_to).is_some() {
                return Some(WalkStart { program: return_to, frame: caller, stack: frame });
            }
            (stack, frame, program) = (frame + 16, caller, return_to);
        }
        None
    }
}

/// Returns whether so many words at an address are in a part of the stack.
pub(super) fn are_words(address: u64, count: u64, stack: u64, end: u64) -> bool {
    let last = end.checked_sub(8 * count);
    address >= stack && address.is_multiple_of(8) && last.is_some_and(|last| address <= last)
}

/// Returns whether a word is a pointer to an object of V8.
pub(super) fn is_object(word: u64) -> bool {
    word & 3 == 1
}

/// Returns whether a word is a small number of V8.
pub(super) fn is_small_number(word: u64) -> bool {
    word as u32 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_stack_or_nowhere() {
        assert!(are_words(16, 2, 16, 32) && are_words(16, 2, 8, 40));
        for (address, count) in [(8, 2), (24, 2), (17, 1), (32, 1), (u64::MAX - 7, 2), (0, 1)] {
            assert!(!are_words(address, count, 16, 32), "{address}");
        }
        assert!(!are_words(0, 1, 0, 7));
    }
}
