//! The native functions that stacks of this process have, each with a number.

use rustc_hash::FxHashMap;

use cpu_prof_core::profile::frame::CallFrame;

/// The most functions. Past that, new ones are not told.
const MAX_FUNCTIONS: usize = 500_000;

/// Native functions and their numbers.
#[derive(Debug, Default)]
pub(super) struct NativeFunctions {
    numbers: FxHashMap<(u32, u64), u32>,
    frames: Vec<CallFrame>,
}

impl NativeFunctions {
    /// Returns the number of the function that begins at an address of a module, whose frame `frame` makes;
    /// none if there are too many functions.
    pub(super) fn number(
        &mut self,
        module: u32,
        address: u64,
        frame: impl FnOnce() -> CallFrame,
    ) -> Option<u32> {
        if let Some(known) = self.numbers.get(&(module, address)) {
            return Some(*known);
        }
        let number = u32::try_from(self.frames.len()).ok()?;
        if self.frames.len() >= MAX_FUNCTIONS {
            return None;
        }
        self.frames.push(frame());
        self.numbers.insert((module, address), number);
        Some(number)
    }

    /// Returns the frame of a function by its number.
    pub(super) fn frame(&self, number: u32) -> Option<&CallFrame> {
        self.frames.get(number as usize)
    }
}
