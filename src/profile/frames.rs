//! Each call frame once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::model::CallFrame;

/// Call frames and their numbers.
#[derive(Debug)]
pub struct Frames {
    numbers: FxHashMap<Rc<CallFrame>, u32>,
    list: Vec<Rc<CallFrame>>,
}

impl Frames {
    /// The frame of a node that was never announced: a file can have lost it.
    pub const UNKNOWN: u32 = 0;

    /// Only the unknown frame.
    pub fn new() -> Self {
        let mut frames = Self { numbers: FxHashMap::default(), list: Vec::new() };
        frames.number(CallFrame { function_name: "(unknown)".into(), ..CallFrame::root() });
        frames
    }

    /// The frame's number.
    pub fn number(&mut self, frame: CallFrame) -> u32 {
        if let Some(number) = self.numbers.get(&frame) {
            return *number;
        }
        let number = self.list.len() as u32;
        let frame = Rc::new(frame);
        self.numbers.insert(Rc::clone(&frame), number);
        self.list.push(frame);
        number
    }

    /// By their numbers.
    pub fn list(&self) -> &[Rc<CallFrame>] {
        &self.list
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}
