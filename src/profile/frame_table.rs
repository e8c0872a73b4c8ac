//! Each call frame once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::profile::frame::CallFrame;

/// Call frames and their numbers.
#[derive(Debug)]
pub(crate) struct FrameTable {
    numbers: FxHashMap<Rc<CallFrame>, u32>,
    list: Vec<Rc<CallFrame>>,
    /// Frames as they are written, and their numbers: most are written many times.
    texts: FxHashMap<Box<str>, u32>,
}

impl FrameTable {
    /// The frame of a node that was never announced: a file can have lost it.
    pub(crate) const UNKNOWN: u32 = 0;

    /// The frame of the root. A sample of it says that nothing was recorded until the next.
    pub(crate) const ROOT: u32 = 1;

    /// Only those two.
    pub(crate) fn new() -> Self {
        let mut frames =
            Self { numbers: FxHashMap::default(), list: Vec::new(), texts: FxHashMap::default() };
        frames.number(CallFrame { function_name: "(unknown)".into(), ..CallFrame::root() });
        frames.number(CallFrame::root());
        frames
    }

    /// The frame's number.
    pub(crate) fn number(&mut self, frame: CallFrame) -> u32 {
        if let Some(number) = self.numbers.get(&frame) {
            return *number;
        }
        let number = self.list.len() as u32;
        let frame = Rc::new(frame);
        self.numbers.insert(Rc::clone(&frame), number);
        self.list.push(frame);
        number
    }

    /// The number of a frame that is written so.
    pub(crate) fn intern_json(&mut self, text: &str, parse: impl FnOnce(&str) -> CallFrame) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.number(parse(text));
        self.texts.insert(text.into(), number);
        number
    }

    /// By their numbers.
    pub(crate) fn list(&self) -> &[Rc<CallFrame>] {
        &self.list
    }
}

impl Default for FrameTable {
    fn default() -> Self {
        Self::new()
    }
}
