//! Gives memory back to the system after threads have ended.
//!
//! V8's code log of an ended worker is scattered over the allocator's arenas, which would keep the
//! memory until the process ends.

use std::time::{Duration, Instant};

use cpu_prof_core::base::system;

/// Decides when the heap is trimmed.
#[derive(Default)]
pub(super) struct HeapTrim {
    /// Most recordings at the same time since the last trim.
    max_recordings: usize,
    /// End of the quiet time after the last change, when [`HeapTrim::tick`] should be called next.
    pub due: Option<Instant>,
}

impl HeapTrim {
    /// Notes that a recording started or ended. `recordings` is their number now.
    pub(super) fn changed(&mut self, recordings: usize) {
        const QUIET_TIME: Duration = Duration::from_millis(500);
        self.max_recordings = self.max_recordings.max(recordings);
        self.due = Some(Instant::now() + QUIET_TIME);
    }

    /// Trims the heap if the quiet time is over and half of the recordings have ended. While threads
    /// come and go a trim takes far longer, and the memory would be needed again at once.
    pub(super) fn tick(&mut self, recordings: usize, now: Instant) {
        let is_quiet = self.due.take_if(|due| *due <= now).is_some();
        if is_quiet && recordings <= self.max_recordings / 2 {
            self.max_recordings = recordings;
            system::trim_heap();
        }
    }
}
