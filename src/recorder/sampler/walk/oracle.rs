//! Compares samples with what V8's own code finds at the same moment.
//!
//! V8 leaves out the caller of code without a frame, and drops the stack of code that is making its frame: the walk has
//! these, and otherwise both must be the same.

use super::frames::RawFrame;
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
    pub(super) fn compare(&mut self, stack: &[RawFrame], found: &[RawFrame]) {
        // V8 leaves out the functions that C++ implements.
        let ours: Vec<u64> = stack.iter().rev().filter(|frame| frame.program != 0).map(program).collect();
        let found: Vec<u64> = found.iter().map(|frame| frame.program).collect();
        // V8 leaves out the innermost function, unless the interpreter runs it: it has the registers.
        let is_left_out = |count: usize| ours.get(count..).is_some_and(|rest| rest == found);
        let is_same = is_left_out(0) || is_left_out(1);
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

/// Returns the address that V8 gives a frame: the place in the bytecode, where there is one.
fn program(frame: &RawFrame) -> u64 {
    if frame.bytecode == 0 { frame.program } else { frame.bytecode + frame.offset }
}
