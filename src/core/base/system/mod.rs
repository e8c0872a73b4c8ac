//! What the system tells and does. `posix` is common to several systems; a system has a file with
//! the functions that `platform` names here, which answer none where the system cannot tell.

pub mod ancestors;
pub mod cpu_times;
mod fork;
mod posix;
pub mod regular_file;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use self::linux as platform;

pub use self::fork::{is_forked, note_recording_process};
pub use self::platform::{
    at_exit, boot_id, is_first_thread, pid_namespace, process_key, process_start_ms,
    resident_bytes, thread_id, trim_heap,
};
use self::platform::{core_wait_us, parent_of, thread_cpu_clock, voluntary_switches};
pub(crate) use self::posix::is_stderr_writable;
use self::posix::{ThreadCpuClock, children_cpu_us, process_cpu_us};
pub use self::posix::{is_process_alive, now_us, pass_on, user, with_signals_blocked};
