//! What the system tells and does. `posix` is common to several systems; a system has a file with
//! the functions that `platform` names here, which answer none where the system cannot tell. What
//! follows from them for all systems is here.

pub mod cpu_times;
mod listed_process;
mod posix;
// Here for its tests, which run on every system.
#[cfg(any(target_os = "macos", test))]
mod process_arguments;
pub mod regular_file;

#[cfg(target_os = "linux")]
mod linux;

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(target_os = "linux")]
use self::linux as platform;

pub use self::platform::{
    at_exit, boot_id, is_first_thread, pid_namespace, process_key, process_start_ms, processes,
    resident_bytes, thread_id, trim_heap,
};
use self::platform::{core_wait_us, parent_of, thread_cpu_clock, voluntary_switches};
pub(crate) use self::posix::is_stderr_writable;
use self::posix::{children_cpu_us, clock_us, process_cpu_us};
pub use self::posix::{is_process_alive, now_us, pass_on, user, with_signals_blocked};

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

/// The most processes that are looked at: a look takes some microseconds.
const MAX_ANCESTORS: usize = 12;

/// Returns the pids of this process's parent, of the parent's parent and so on. A shell between two
/// Node processes is one of them.
pub fn ancestors() -> Vec<u32> {
    let parent = std::os::unix::process::parent_id();
    std::iter::successors(Some(parent), |pid| parent_of(*pid))
        .take_while(|pid| *pid > 1)
        .take(MAX_ANCESTORS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_the_first() {
        let ancestors = ancestors();
        let parent = std::os::unix::process::parent_id();
        assert!(parent <= 1 || ancestors[0] == parent);
        assert!(ancestors.len() <= MAX_ANCESTORS);
        assert_eq!(parent_of(std::process::id()), Some(parent));
        assert_eq!(parent_of(u32::MAX), None);
    }
}
