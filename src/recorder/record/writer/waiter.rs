//! A thread that waits for the writer thread.

use std::sync::mpsc::SyncSender;
use std::time::Instant;

/// A thread that waits for windows of other threads.
pub(super) struct Waiter {
    /// Recording whose workers the thread waits for; none if it waits for all recordings, because a
    /// signal is about to end the process.
    pub parent: Option<u32>,
    /// Threads that have not answered by then are blocked in native code.
    pub deadline: Instant,
    /// Answer to the waiting thread.
    pub reply: SyncSender<()>,
}
