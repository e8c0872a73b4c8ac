//! For systems where no timer signals a thread by its CPU time.

use std::io;

use super::stopped_thread::StoppedThread;

/// A function that would run with each tick.
pub type OnTick = fn(number: usize, thread: StoppedThread);

/// Returns that there are no ticks.
pub fn set_handler(_: OnTick) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns that there are no timers.
pub fn check() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns that no handler is set.
pub fn is_handler_set() -> bool {
    false
}

/// Returns that the thread is not known.
pub fn is_blocked(_thread: u32) -> Option<bool> {
    None
}

/// A timer: there is none.
#[derive(Debug)]
pub struct ThreadTimer(std::convert::Infallible);

impl ThreadTimer {
    /// Returns that there is none.
    pub fn start(_thread: u32, _interval_us: u32, _number: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns the CPU time of the calling thread: it is not asked for.
pub fn own_cpu_us() -> i64 {
    0
}
