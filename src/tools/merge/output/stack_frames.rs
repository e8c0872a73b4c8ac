//! The stack frames of other tools' traces, side by side in one dictionary: events name them by ids.

use std::path::{Path, PathBuf};

use super::linked_ids::ForeignIds;
use super::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::files::spool::Spool;
use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::lines::SEPARATOR;

/// The member of a trace's object that holds its stack frames.
pub(crate) const STACK_FRAMES: &str = "stackFrames";

/// The stack frames of all traces.
#[derive(Debug)]
pub struct StackFrames {
    /// Path of the output, beside which the frames wait for its end.
    target: PathBuf,
    /// Encoded frames, without the braces around them.
    spool: Option<Spool>,
}

impl StackFrames {
    /// Returns no frames, of traces that go into the output at `target`.
    pub(super) fn new(target: &Path) -> Self {
        Self { target: target.to_owned(), spool: None }
    }

    /// Adds the dictionary of a trace with these ids.
    pub fn add(&mut self, frames: &[u8], ids: ForeignIds) -> Result<(), MergeError> {
        let Ok(frames) = serde_json::from_slice(frames) else { return Ok(()) };
        let mut text = Vec::new();
        encode(&mut text, &ids.stack_frames(frames));
        let [b'{', frames @ .., b'}'] = text.as_slice() else { return Ok(()) };
        if frames.is_empty() {
            return Ok(());
        }
        match &mut self.spool {
            Some(spool) => {
                spool.write(SEPARATOR)?;
                spool.write(frames)?;
            }
            None => self.spool.insert(Spool::create(&self.target)?).write(frames)?,
        }
        Ok(())
    }

    /// Writes the frames as a member of the trace's object.
    pub(super) fn write(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        let Some(spool) = &mut self.spool else { return Ok(()) };
        trace.write(format!(",\n\"{STACK_FRAMES}\":{{").as_bytes())?;
        trace.copy(spool)?;
        trace.write(b"}")
    }
}
