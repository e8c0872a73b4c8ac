//! The CPU time of a thread.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, FALSE, FILETIME};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetCurrentThreadId, GetThreadTimes,
};

use super::process::microseconds;

/// The clock of a thread's CPU time: a handle, which no other thread gets when the thread ends.
#[derive(Debug)]
pub(crate) struct ThreadClock(OwnedHandle);

impl ThreadClock {
    /// Returns the clock of the calling thread.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: may be called on any thread. The call fills a handle, which is closed on drop.
        unsafe {
            let process = GetCurrentProcess();
            let thread = GetCurrentThread();
            let is_open = DuplicateHandle(
                process,
                thread,
                process,
                &mut handle,
                0,
                FALSE,
                DUPLICATE_SAME_ACCESS,
            );
            (is_open != FALSE).then(|| Self(OwnedHandle::from_raw_handle(handle)))
        }
    }

    /// Returns the CPU time, microseconds; that of its end if the thread has ended.
    pub(crate) fn cpu_us(&self) -> Option<i64> {
        let mut times = [FILETIME::default(); 4];
        let [created, ended, kernel, user] = &mut times;
        // SAFETY: the handle is open, and the call fills four structs.
        let is_filled = unsafe {
            GetThreadTimes(self.0.as_raw_handle(), created, ended, kernel, user) != FALSE
        };
        is_filled.then(|| microseconds(times[2]) + microseconds(times[3]))
    }
}

/// Returns the system's id of the calling thread.
pub fn thread_id() -> Option<u32> {
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    Some(unsafe { GetCurrentThreadId() })
}

/// Returns none: Windows does not count this time.
pub(crate) fn core_wait_us(_: u32) -> Option<i64> {
    None
}

/// Returns none: Windows does not tell a wait from the end of a time slice.
pub(crate) fn voluntary_switches(_: u32) -> Option<i64> {
    None
}

/// Returns none: Windows is not asked for the threads of a process.
pub fn thread_ids() -> Option<Vec<u32>> {
    None
}

/// Returns none, as there are no ids.
pub fn thread_cpu_us(_: u32) -> Option<i64> {
    None
}

/// Returns none, as there are no ids.
pub fn thread_name(_: u32) -> Option<String> {
    None
}
