//! The call frames of all profiles, each with a number.

use indexmap::set::Slice;
use rustc_hash::FxHashMap;

use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::frame::{CallFrame, MAX_NAME};

/// The longest text that is kept: bytes, for names that have not been cut.
const MAX_TEXT: usize = 4 * MAX_NAME;

/// Call frames and their numbers.
#[derive(Debug)]
pub struct FrameTable {
    frames: FxIndexSet<CallFrame>,
    /// Numbers of frames by their JSON text: most texts come many times.
    texts: FxHashMap<Box<str>, u32>,
}

impl FrameTable {
    /// The frame of a node that was never announced: a file can have lost the announcement.
    pub const UNKNOWN: u32 = 0;

    /// The frame of the root. A sample of the root says that nothing was recorded until the next
    /// sample.
    pub const ROOT: u32 = 1;

    /// The frame of a thread that waits for events.
    pub const IDLE: u32 = 2;

    /// Returns a table of the unknown frame, the root and the idle state.
    pub fn new() -> Self {
        let mut frames = Self { frames: FxIndexSet::default(), texts: FxHashMap::default() };
        frames.number(CallFrame::unknown());
        frames.number(CallFrame::root());
        frames.number(CallFrame::state(CallFrame::IDLE));
        frames
    }

    /// Returns the number of a frame. Its names are cut, as files can have names of any length.
    pub fn number(&mut self, frame: CallFrame) -> u32 {
        self.frames.insert_full(frame.with_short_names()).0 as u32
    }

    /// Returns the number of a frame with this JSON text.
    pub(crate) fn intern_json(&mut self, text: &str, parse: impl FnOnce(&str) -> CallFrame) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.number(parse(text));
        if text.len() <= MAX_TEXT {
            self.texts.insert(text.into(), number);
        }
        number
    }

    /// Returns the frames by their numbers.
    pub fn list(&self) -> &Slice<CallFrame> {
        self.frames.as_slice()
    }

    /// Returns the frames in the order of their numbers.
    pub fn into_list(self) -> impl Iterator<Item = CallFrame> {
        self.frames.into_iter()
    }
}

impl Default for FrameTable {
    fn default() -> Self {
        Self::new()
    }
}
