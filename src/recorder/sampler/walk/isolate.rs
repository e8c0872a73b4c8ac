//! Where an isolate keeps the innermost frame by which JavaScript has called C++, and where the frames by which V8
//! enters JavaScript keep the one before. Both are found on the stack of a thread on which JavaScript has called C++
//! twice, the one within the other: one word of the isolate changes from the one frame to the other.

use super::layout::FrameTypes;
use crate::sampler::v8::V8Code;
use crate::sampler::v8::symbols::Isolate;
use cpu_prof_core::base::system::checked_memory::{read_word, read_words};
use cpu_prof_core::base::system::registers::CallRegisters;
use cpu_prof_core::base::system::stopped_thread::own_registers;

/// Words of an isolate that are looked through.
const ISOLATE_WORDS: usize = 8 << 10;
/// Bytes of the stack that are looked through: between the frame and this function are functions of V8, Node and this
/// addon.
const MAX_STACK: u64 = 128 << 10;
/// Bytes below the frame pointer of a frame of entry that are looked through.
const MAX_ENTRY: i64 = 400;
/// The most frames between two frames of entry.
const MAX_FRAMES: usize = 64;

/// The places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IsolateSlots {
    /// Offset in the isolate, bytes.
    exit_frame: usize,
    /// Offset from the frame pointer, bytes.
    pub entry_link: i64,
}

/// What C++ that JavaScript has called finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExitLook {
    /// The frame by which JavaScript has called it.
    exit: u64,
    /// Words of the isolate that are the address of the frame, by their index.
    words: Vec<usize>,
    /// Words below the next frame by which V8 has entered JavaScript, by their offsets from its frame pointer.
    entry: Vec<(i64, u64)>,
}

impl ExitLook {
    /// Looks from the calling function; none if there is no such frame.
    pub(super) fn from_here(
        isolate: *mut Isolate,
        types: &FrameTypes,
        code: &V8Code,
        end: u64,
    ) -> Option<Self> {
        let mut words = vec![0; ISOLATE_WORDS];
        // The isolate is larger, and its memory may end before.
        while !read_words(isolate as u64, &mut words) {
            words.truncate(words.len() / 2);
            if words.is_empty() {
                return None;
            }
        }
        let here = CallRegisters::of(&own_registers()).stack / 8 * 8;
        let mut stack = vec![0; (end.checked_sub(here)?.min(MAX_STACK) / 8) as usize];
        read_words(here, &mut stack).then_some(())?;
        let is_exit = |at: u64| {
            let word = |offset: i64| {
                let index = at.wrapping_add_signed(offset).checked_sub(here)? / 8;
                stack.get(index as usize).copied()
            };
            let caller = word(0).filter(|caller| *caller > at && *caller < end)?;
            let kind = word(-8).filter(|kind| kind & 1 == 0)? >> 1;
            code.kind(word(8)?)?;
            types.exits.contains(&kind).then_some(caller)
        };
        let places = (here..here + 8 * stack.len() as u64).step_by(8);
        let (exit, caller, words) = places.into_iter().find_map(|at| {
            let caller = is_exit(at)?;
            let found: Vec<usize> =
                (0..words.len()).filter(|index| words.get(*index) == Some(&at)).collect();
            // Words that are left over from other calls look the same.
            (!found.is_empty()).then_some((at, caller, found))
        })?;
        let entry = entry_words(caller, types, end).unwrap_or_default();
        Some(Self { exit, words, entry })
    }

    /// Returns the places, by what `inner` found within a call of the calling function; none if they are not certain.
    pub(super) fn slots(&self, inner: &Self) -> Option<IsolateSlots> {
        let [word] =
            self.words.iter().filter(|word| inner.words.contains(word)).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let link = inner.entry.iter().find(|(_, word)| *word == self.exit);
        let is_sound = inner.exit < self.exit;
        link.filter(|_| is_sound)
            .map(|(offset, _)| IsolateSlots { exit_frame: 8 * word, entry_link: *offset })
    }
}

/// Returns the words below the first frame of entry at a frame or above it.
fn entry_words(frame: u64, types: &FrameTypes, end: u64) -> Option<Vec<(i64, u64)>> {
    let mut frame = frame;
    for _ in 0..MAX_FRAMES {
        let kind = read_word(frame - 8)?;
        if kind & 1 == 0 && types.entries.contains(&(kind >> 1)) {
            let offsets = (-MAX_ENTRY..=-24).rev().filter(|offset| offset % 8 == 0);
            return Some(
                offsets
                    .filter_map(|offset| {
                        Some((offset, read_word(frame.wrapping_add_signed(offset))?))
                    })
                    .collect(),
            );
        }
        frame = read_word(frame).filter(|caller| *caller > frame && *caller < end)?;
    }
    None
}

impl IsolateSlots {
    /// Returns the innermost frame by which JavaScript has called C++; 0 for none.
    ///
    /// # Safety
    /// The isolate is alive, and of the calling thread.
    pub(super) unsafe fn exit_frame(&self, isolate: *mut Isolate) -> u64 {
        // SAFETY: the offset was found in an isolate of this process, and all are alike.
        unsafe { isolate.cast::<u8>().add(self.exit_frame).cast::<u64>().read_volatile() }
    }
}
