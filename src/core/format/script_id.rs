//! Script ids in traces, which differ from V8's ids by an offset for each thread.
//!
//! Small ids would take names from the page that DevTools is attached to, and two isolates number
//! their scripts alike.

use serde::Serializer;

use crate::profile::frame::CallFrame;

/// The lowest written id with an offset.
const FIRST: u64 = 1_000_000_000;
/// The count of ids of one thread.
const IDS_PER_THREAD: u64 = 100_000;
/// The count of threads of one process that have different offsets.
const THREADS_PER_PROCESS: u64 = 1000;

/// The offset of a thread's script ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptIdOffset(u64);

impl ScriptIdOffset {
    /// No offset, as in `.cpuprofile` files.
    pub const NONE: Self = Self(0);

    /// Returns the offset of a thread.
    pub fn of_thread(pid: u32, tid: u32) -> Self {
        let thread = u64::from(tid) % THREADS_PER_PROCESS;
        Self(FIRST + (u64::from(pid) * THREADS_PER_PROCESS + thread) * IDS_PER_THREAD)
    }

    /// Returns the script id of a frame with the offset. 0, which is no script, stays 0.
    pub fn apply(self, frame: &CallFrame) -> u64 {
        self.of_script(frame.script_id)
    }

    /// Returns a script id with the offset. 0, which is no script, stays 0.
    pub(crate) fn of_script(self, script_id: u32) -> u64 {
        match script_id {
            0 => 0,
            id => self.0 + u64::from(id),
        }
    }
}

/// Writes a script id as a string, as the DevTools protocol has them.
pub(crate) fn as_string<S: Serializer>(id: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

/// Returns V8's id of a script from a written id, which may have an offset.
pub fn without_offset(written: i64) -> u32 {
    let id = match u64::try_from(written) {
        Ok(id) if id >= FIRST => (id - FIRST) % IDS_PER_THREAD,
        Ok(id) => id,
        Err(_) => 0,
    };
    u32::try_from(id).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_without_an_offset_stay() {
        for (written, id) in [(17, 17), (0, 0), (-1, 0), (i64::MIN, 0), (999_999_999, 999_999_999)]
        {
            assert_eq!(without_offset(written), id);
        }
    }

    proptest! {
        #[test]
        fn the_offset_is_taken_off_again(pid: u32, tid: u32, script_id in 0_u32..100_000) {
            let frame = CallFrame { script_id, ..CallFrame::root() };
            for offset in [ScriptIdOffset::of_thread(pid, tid), ScriptIdOffset::NONE] {
                let written = i64::try_from(offset.apply(&frame)).unwrap();
                prop_assert_eq!(without_offset(written), script_id);
            }
        }
    }
}
