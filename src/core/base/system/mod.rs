//! What the system tells and does. A system has a file or folder with the functions that `platform`
//! names here, which answer none where the system cannot tell. `posix` is common to several systems.
//! What follows from them for all systems is here.

pub mod code_mapping;
mod common_socket;
pub mod cpu_times;
mod listed_process;
pub mod loaded_library;
// Here for its tests, which run on every system.
#[cfg(not(target_os = "linux"))]
#[path = "no_checked_memory.rs"]
pub mod checked_memory;
#[cfg(any(target_os = "macos", test))]
mod process_arguments;
pub mod registers;
pub mod regular_file;
#[cfg(not(target_os = "linux"))]
#[path = "no_sampling_signal.rs"]
pub mod sampling_signal;
#[cfg(not(target_os = "linux"))]
#[path = "no_stopped_thread.rs"]
pub mod stopped_thread;
#[cfg(not(target_os = "linux"))]
#[path = "no_thread_timer.rs"]
pub mod thread_timer;
#[cfg(any(windows, test))]
mod timer_rounds;
mod turn;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod posix;
#[cfg(windows)]
mod windows;

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(target_os = "linux")]
use self::linux as platform;
#[cfg(target_os = "macos")]
use self::macos as platform;
#[cfg(windows)]
use self::windows as platform;

pub(crate) use self::platform::is_stderr_writable;
pub use self::platform::{
    SAMPLING_SIGNAL, at_exit, boot_id, end_now, exported, files, has_borrowed_rights,
    is_process_alive, next_turn, node_clock_lead_us, now_us, parent_id, pass_on, pid_namespace,
    process_cpu_us, process_key, process_start_ms, processes, resident_bytes, socket,
    thread_cpu_us, thread_id, thread_ids, thread_name, trim_heap, user, utc_offset_s,
    v8_clock_step_us, with_signals_blocked,
};
#[cfg(unix)]
pub use self::platform::{
    SignalSemaphore, errno_location, is_first_thread, note_first_thread, send_to_first_thread,
    with_hidden_flags,
};
use self::platform::{ThreadClock, children_cpu_us, core_wait_us, parent_of, voluntary_switches};
#[cfg(target_os = "linux")]
pub use self::platform::{checked_memory, sampling_signal, stopped_thread, thread_timer};
pub use self::turn::NextTurn;

/// Whether the system is Windows.
pub const IS_WINDOWS: bool = cfg!(windows);

/// Returns the exit code that the system shows for the number that a program exits with.
pub fn shown_exit_code(number: f64) -> i64 {
    number as i64 & if IS_WINDOWS { 0xffff_ffff } else { 0xff }
}

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
    let known = |pid: &u32| *pid > 1;
    std::iter::successors(parent_id().filter(known), |pid| parent_of(*pid).filter(known))
        .take(MAX_ANCESTORS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_as_the_system_shows_them() {
        let shown = [0.0, 5.0, 256.0, -1.0, 3_221_225_477.0, -1_073_741_819.0].map(shown_exit_code);
        let expected = if IS_WINDOWS {
            [0, 5, 256, 0xffff_ffff, 3_221_225_477, 3_221_225_477]
        } else {
            [0, 5, 0, 255, 5, 5]
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_parent_is_the_first() {
        let ancestors = ancestors();
        let parent = parent_id().unwrap();
        assert!(parent <= 1 || ancestors[0] == parent);
        assert!(ancestors.len() <= MAX_ANCESTORS);
        assert_eq!(parent_of(std::process::id()), Some(parent));
        assert_eq!(parent_of(u32::MAX), None);
    }
}
