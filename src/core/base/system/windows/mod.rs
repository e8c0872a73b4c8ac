//! What Windows tells and does.
#![allow(unsafe_code)]

mod clock;
pub mod files;
mod owner;
mod pipe;
mod process;
mod processes;
pub mod socket;
mod thread;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::w;

pub use self::clock::{node_clock_lead_us, now_us, v8_clock_step_us};
pub use self::process::{
    boot_id, is_process_alive, parent_id, pid_namespace, process_cpu_us, process_key,
    process_start_ms, resident_bytes,
};
pub(super) use self::process::{children_cpu_us, parent_of};
pub use self::processes::processes;
pub(super) use self::thread::{ThreadClock, core_wait_us, voluntary_switches};
pub use self::thread::{thread_cpu_us, thread_id, thread_ids, thread_name};
use super::turn::NextTurn;

/// None: V8 stops a thread to sample it, and sends no signal.
pub const SAMPLING_SIGNAL: Option<c_int> = None;

/// Returns the address of a function that the program exports, or that its library of Node exports.
pub fn exported(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: may be called on any thread. All names end in a NUL, and the program's modules stay.
    [ptr::null(), w!("libnode.dll")].into_iter().find_map(|module| unsafe {
        let module = GetModuleHandleW(module);
        if module.is_null() {
            return None;
        }
        GetProcAddress(module, name.as_ptr().cast()).map(|address| address as *mut c_void)
    })
}

/// Returns by how much the local time is ahead of UTC now, seconds.
pub fn utc_offset_s() -> i32 {
    chrono::Local::now().offset().local_minus_utc()
}

/// Returns none: a process keeps its user.
pub fn user() -> Option<u32> {
    None
}

/// Returns false: a program has the rights of the user who started it.
pub fn has_borrowed_rights() -> bool {
    false
}

/// Does nothing: inherited files have no numbers that programs know.
pub fn pass_on(_: c_int) {}

/// Runs `f`. No signal of another process runs on a thread.
pub fn with_signals_blocked<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Returns true: Windows does not tell how much a pipe takes without blocking.
pub(crate) fn is_stderr_writable() -> bool {
    true
}

/// Does nothing: the exit status is known to no handler of a library.
pub fn at_exit(_: extern "C" fn(c_int, *mut c_void)) {}

/// Returns none: Node exports no function there that gives the terminal back.
pub fn next_turn(_: *const c_void) -> Option<NextTurn> {
    None
}

/// Does nothing, as `next_turn` tells.
pub fn end_now(_: c_int) {}

/// Does nothing: the heap of Windows gives pages back by itself.
pub fn trim_heap() {}
