//! Compares samples with what V8's own code finds at the same moment.
//!
//! V8 leaves out the caller of code without a frame, and drops the stack of code that is making its frame: the walk has
//! these, and functions that C++ implements. Otherwise both must be the same.

use super::frames::RawFrame;
use super::ring::MAX_FRAMES;
use cpu_prof_core::profile::window::ComparedStacks;

/// Count of samples before a judgement.
const ENOUGH: u32 = 50;
/// The walk is wrong if one in so many samples differs.
const LIMIT: u32 = 20;

/// The comparison so far.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub compared: ComparedStacks,
}

impl Oracle {
    /// Compares a stack, the outermost frame first, with the program counters that V8 has found, the innermost first.
    /// `is_call` returns whether V8 can have an address for a call of C++: it counts some of these calls.
    pub(super) fn compare(
        &mut self,
        stack: &[RawFrame],
        found: &[RawFrame],
        is_call: impl Fn(u64) -> bool,
    ) {
        let ours: Vec<RawFrame> =
            stack.iter().rev().filter(|frame| frame.program != 0).copied().collect();
        let found: Vec<Found> = found
            .iter()
            .map(|frame| Found { address: frame.program, is_call: is_call(frame.program) })
            .collect();
        // V8 leaves out the innermost function, unless the interpreter runs it: it has the registers.
        let is_left_out =
            |count: usize| ours.get(count..).is_some_and(|rest| is_seen(rest, &found));
        // Where code calls C++ without a frame, V8 has the registers of C++, too.
        let has_more = || found.get(1..).is_some_and(|rest| is_alike(&ours, rest));
        let is_same = is_left_out(0) || is_left_out(1) || has_more();
        let compared = &mut self.compared;
        let count = match (is_same, found.is_empty() || is_left_out(2)) {
            (true, _) => &mut compared.same,
            (false, true) => &mut compared.left_out,
            (false, false) => &mut compared.different,
        };
        *count += 1;
    }

    /// Notes a frame whose code is of another function than the frame.
    pub(super) fn differs(&mut self) {
        self.compared.different += 1;
    }

    /// Returns whether the walk finds other stacks than V8.
    pub(super) fn is_wrong(&self) -> bool {
        let ComparedStacks { same, left_out, different } = self.compared;
        let all = same + left_out + different;
        all >= ENOUGH && different * LIMIT > all
    }
}

/// A frame that V8 has found.
#[derive(Debug, Clone, Copy)]
struct Found {
    address: u64,
    /// Whether it can be a call of C++.
    is_call: bool,
}

/// Returns whether V8 has found the frames of a stack, of which the innermost can have the registers of code without a
/// frame.
fn is_seen(ours: &[RawFrame], found: &[Found]) -> bool {
    let others = ours.split_first().zip(found.split_first());
    is_alike(ours, found) || others.is_some_and(|((_, ours), (_, found))| is_alike(ours, found))
}

/// Returns whether V8 has found the frames of a stack. It counts calls of C++, and the code between JavaScript and
/// WebAssembly, too.
fn is_alike(ours: &[RawFrame], found: &[Found]) -> bool {
    let mut found = found.iter().copied();
    let mut is_in_wasm = false;
    for (index, frame) in ours.iter().enumerate() {
        let is_wasm = frame.function == 0;
        let mut is_border = is_in_wasm && !is_wasm;
        loop {
            match found.next() {
                Some(Found { address, .. }) if is_at(frame, address) => break,
                Some(Found { is_call: true, .. }) => {}
                Some(_) if is_border => is_border = false,
                // V8 keeps no more frames of a deep stack.
                None => return is_full(index),
                Some(_) => return false,
            }
        }
        is_in_wasm = is_wasm;
    }
    is_full(ours.len()) || found.all(|found| found.is_call)
}

/// Returns whether a deep stack can have more frames than so many, which were compared.
fn is_full(count: usize) -> bool {
    count + MAX_EXTRA >= MAX_FRAMES
}

/// The most frames of a deep stack that only V8 or the walk keeps.
const MAX_EXTRA: usize = 32;

/// Returns whether an address is the one that V8 gives a frame: the place in the bytecode, where the interpreter runs.
fn is_at(frame: &RawFrame, address: u64) -> bool {
    address == frame.program || frame.bytecode != 0 && address == frame.bytecode + frame.offset
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares stacks, the innermost frame first, and returns what was counted.
    fn compared(ours: &[RawFrame], found: &[u64]) -> [u32; 3] {
        let mut oracle = Oracle::default();
        let stack: Vec<RawFrame> = ours.iter().rev().copied().collect();
        let found: Vec<RawFrame> = found
            .iter()
            .map(|program| RawFrame { program: *program, ..RawFrame::default() })
            .collect();
        oracle.compare(&stack, &found, |address| address >= 1000);
        let ComparedStacks { same, left_out, different } = oracle.compared;
        [same, left_out, different]
    }

    fn compiled(program: u64) -> RawFrame {
        RawFrame { function: 1, program, ..RawFrame::default() }
    }

    #[test]
    fn what_v8_leaves_out_or_adds_is_known() {
        let ours = [5, 6, 7].map(compiled);
        let interpreted = RawFrame { bytecode: 100, offset: 5, ..compiled(9) };
        let native = RawFrame { function: 1, ..RawFrame::default() };
        let wasm = RawFrame { program: 4, ..RawFrame::default() };
        assert_eq!(compared(&ours, &[5, 6, 7]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[6, 7]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[1, 5, 6, 7]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[1, 6, 7]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[1, 7]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[7]), [0, 1, 0]);
        assert_eq!(compared(&ours, &[]), [0, 1, 0]);
        assert_eq!(compared(&[native, interpreted, ours[2]], &[105, 7]), [1, 0, 0]);
        assert_eq!(compared(&[wasm, wasm, ours[0]], &[4, 4, 3, 5]), [1, 0, 0]);
        assert_eq!(compared(&ours, &[5, 6, 1000, 7, 1001]), [1, 0, 0]);
        for found in [&[6, 5, 7][..], &[5, 6], &[5, 6, 7, 8], &[1, 2, 5, 6, 7]] {
            assert_eq!(compared(&ours, found), [0, 0, 1], "{found:?}");
        }
    }

    #[test]
    fn one_difference_in_twenty_is_too_many() {
        let compared = ComparedStacks { same: 96, left_out: 0, different: 4 };
        let mut oracle = Oracle { compared };
        assert!(!oracle.is_wrong());
        (0..3).for_each(|_| oracle.differs());
        assert!(oracle.is_wrong());
        oracle.compared = ComparedStacks { different: 40, ..ComparedStacks::default() };
        assert!(!oracle.is_wrong());
    }
}
