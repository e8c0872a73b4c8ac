//! Where V8's code is in memory: built-in functions, and what V8 has compiled.

use std::ops::Range;

use super::super::super::stacks::JavaScriptCode;
use cpu_prof_core::base::system::sampling_signal::read_memory;

/// A kind of V8's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    /// A built-in function.
    BuiltIn,
    /// A function that V8 has compiled.
    Compiled,
}

/// The byte with which V8 fills the space between functions.
const FILLER: u8 = 0xcc;

/// The addresses of an isolate's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct V8Code {
    /// The built-in functions, in the file of the program.
    pub built_in: Range<u64>,
    /// Their copy among the compiled functions, from which calls are short. Empty if there is none.
    pub copy: Range<u64>,
    /// All that V8 may compile, and the copy.
    pub compiled: Range<u64>,
}

impl V8Code {
    /// Returns the code of the calling thread's isolate; none if V8 does not say where it is, or if memory cannot be
    /// read without a fault.
    pub(super) fn of_this_thread() -> Option<Self> {
        let [built_in, compiled] = JavaScriptCode::of_this_thread()?.into_ranges();
        // Where memory cannot be read in this way, a copy would not be found.
        read_memory(built_in.start as usize, &mut [0]).then_some(())?;
        let copy = find_copy(&built_in, &compiled).unwrap_or_default();
        Some(Self { built_in, copy, compiled })
    }

    /// Returns the kind of the code at an address; none if it is not V8's.
    pub(crate) fn kind(&self, address: u64) -> Option<CodeKind> {
        if self.built_in.contains(&address) || self.copy.contains(&address) {
            return Some(CodeKind::BuiltIn);
        }
        self.compiled.contains(&address).then_some(CodeKind::Compiled)
    }

    /// Returns the first address of the memory for compiled functions.
    pub(crate) fn first_compiled(&self) -> u64 {
        self.compiled.start
    }

    /// Returns the first address of all built-in functions, by an address of one of them.
    pub(super) fn first_built_in(&self, address: u64) -> u64 {
        if self.copy.contains(&address) { self.copy.start } else { self.built_in.start }
    }

    /// Returns where the built-in function around an address begins: at a multiple of `alignment`, behind what V8
    /// fills the space between functions with.
    pub(super) fn start_of_built_in(&self, address: u64, alignment: u64) -> u64 {
        let first = self.first_built_in(address);
        // SAFETY: what is from the first built-in function to an address in one can be read.
        let byte = |at: u64| unsafe { (at as *const u8).read_volatile() };
        let mut start = address / alignment * alignment;
        while start > first && byte(start - 1) != FILLER {
            start -= alignment;
        }
        start.max(first)
    }

    /// Returns how many bytes of filler are before the start of a built-in function.
    pub(super) fn filler_before(&self, start: u64) -> u64 {
        let first = self.first_built_in(start);
        // SAFETY: as above.
        let is_filler = |at: &u64| unsafe { (*at as *const u8).read_volatile() } == FILLER;
        (first..start).rev().take_while(is_filler).count() as u64
    }

    /// Returns whether a call in V8's code can return to an address. `is_behind_call` looks at the code before an
    /// address in a built-in function; not all of the memory for compiled functions can be read.
    pub(super) fn is_return_address(
        &self,
        address: u64,
        is_behind_call: impl Fn(u64) -> bool,
    ) -> bool {
        match self.kind(address) {
            None => false,
            Some(CodeKind::Compiled) => true,
            Some(CodeKind::BuiltIn) => is_behind_call(address),
        }
    }
}

/// Returns the copy of the built-in functions, which V8 makes at the end of the memory for compiled functions.
fn find_copy(built_in: &Range<u64>, compiled: &Range<u64>) -> Option<Range<u64>> {
    /// Bytes of V8's pages, at one of which the copy begins.
    const V8_PAGE: u64 = 256 << 10;
    /// Count of pages that are looked at.
    const PAGES: u64 = 4;
    let bytes = built_in.end.checked_sub(built_in.start)?;
    let last = compiled.end.checked_sub(bytes)? / V8_PAGE;
    let is_copy = |start: &u64| {
        [0, bytes / 2].into_iter().all(|offset| {
            let (mut original, mut copy) = ([0; 64], [0; 64]);
            read_memory((start + offset) as usize, &mut copy)
                && read_memory((built_in.start + offset) as usize, &mut original)
                && original == copy
        })
    };
    let starts = (0..PAGES).map(|page| last.saturating_sub(page) * V8_PAGE);
    let start = starts.take_while(|start| compiled.contains(start)).find(is_copy)?;
    Some(start..start + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "other memory is read on Linux only")]
    fn the_copy_is_found_at_the_end_of_the_memory_for_code() {
        let built_in: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 3) as u8).collect();
        let range = |bytes: &[u8]| {
            let start = bytes.as_ptr() as u64;
            start..start + bytes.len() as u64
        };
        let mut memory = vec![0_u8; 1 << 20];
        let place = (memory.as_ptr() as u64).next_multiple_of(256 << 10) + (256 << 10);
        let compiled = memory.as_ptr() as u64..place + 150_000;
        assert_eq!(find_copy(&range(&built_in), &compiled), None);
        let offset = (place - compiled.start) as usize;
        memory[offset..offset + built_in.len()].copy_from_slice(&built_in);
        let copy = find_copy(&range(&built_in), &compiled).unwrap();
        assert_eq!(copy, place..place + 100_000);
        memory[offset + 50_001] ^= 1;
        assert_eq!(find_copy(&range(&built_in), &compiled), None);
    }
}
