//! For systems where no function runs around V8's handler of the sampling signal: V8 has no such signal, or
//! this was never tried.

use std::io;

use super::stopped_thread::StoppedThread;

/// Whether this system lets a function run around V8's handler.
pub const IS_AVAILABLE: bool = false;

/// Whether this system can have timers of our own that send the signal.
pub const HAS_TIMERS: bool = false;

/// A function that runs in the signal handler, and calls V8's handler.
pub type Around = fn(v8: Option<&dyn Fn()>, thread: StoppedThread);

/// Returns whether `around` runs for each sampling signal: it does not.
pub fn wrap(_of_v8: usize, _around: Around) -> bool {
    false
}

/// A timer that sends the sampling signal: there is none.
#[derive(Debug)]
pub struct SamplingTimer(std::convert::Infallible);

impl SamplingTimer {
    /// Returns that there is none.
    pub fn of_this_thread(_of_v8: usize, _interval_us: u32, _around: Around) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Lets the timer run.
    pub fn start(&self) -> io::Result<()> {
        match self.0 {}
    }

    /// Doubles the interval until the next start.
    pub fn slow_down(&self) {
        match self.0 {}
    }

    /// Lets the timer stand still.
    pub fn pause(&self) {
        match self.0 {}
    }
}

/// Returns a number that only the calling thread has: nothing asks for the number here.
pub fn thread_number() -> usize {
    0
}

/// Returns whether memory could be read: nothing asks for the memory here.
pub fn read_memory(_address: usize, _bytes: &mut [u8]) -> bool {
    false
}
