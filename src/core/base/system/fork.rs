//! Tells a process that was forked without an exec from the process that records.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Id of the process that records, 0 before the first recording.
static RECORDING_PID: AtomicU32 = AtomicU32::new(0);

/// Notes that this process records, and so has the threads of a recording.
pub fn note_recording_process() {
    RECORDING_PID.store(process::id(), Ordering::Relaxed);
}

/// Returns whether this process was forked from the recording process without an exec. It then has
/// that process's memory, but only one of its threads, and must not wait for the others. May be
/// called in a signal handler.
pub fn is_forked() -> bool {
    let pid = RECORDING_PID.load(Ordering::Relaxed);
    pid != 0 && pid != process::id()
}
