//! What the kernel of macOS tells in structs: libproc and sysctl.

use std::ffi::{CStr, c_int};
use std::{mem, ptr};

/// Returns what the kernel tells about any user's process; none if the process is gone.
pub(super) fn process_info(pid: u32) -> Option<libc::proc_bsdinfo> {
    proc_info(pid, libc::PROC_PIDTBSDINFO)
}

/// Returns when a process started: milliseconds after 1970.
pub(super) fn start_ms(process: &libc::proc_bsdinfo) -> u64 {
    process.pbi_start_tvsec * 1000 + process.pbi_start_tvusec / 1000
}

/// A struct of numbers, which all zeros are a valid value of, and which the kernel fills.
///
/// # Safety
/// The type is such a struct.
pub(super) unsafe trait Filled: Copy {}
// SAFETY: a struct of numbers and arrays of numbers.
unsafe impl Filled for libc::proc_bsdinfo {}
// SAFETY: a struct of numbers.
unsafe impl Filled for libc::proc_taskinfo {}
// SAFETY: an array of numbers.
unsafe impl<const N: usize> Filled for [u8; N] {}

/// Returns what the kernel tells about a process; none if it is gone, or the kernel does not tell this about
/// another user's.
pub(super) fn proc_info<T: Filled>(pid: u32, flavor: c_int) -> Option<T> {
    let pid = c_int::try_from(pid).ok()?;
    let size = c_int::try_from(mem::size_of::<T>()).ok()?;
    // SAFETY: the type can be all zeros, and the call fills at most `size` bytes of it.
    unsafe {
        let mut info: T = mem::zeroed();
        let filled = libc::proc_pidinfo(pid, flavor, 0, (&raw mut info).cast(), size);
        (filled == size).then_some(info)
    }
}

/// Returns a value of the kernel.
pub(super) fn sysctl<T: Filled>(name: &CStr) -> Option<T> {
    // SAFETY: the type can be all zeros, and the call fills at most `size` bytes of it.
    unsafe {
        let mut value: T = mem::zeroed();
        let mut size = mem::size_of::<T>();
        let to = (&raw mut value).cast();
        (libc::sysctlbyname(name.as_ptr(), to, &mut size, ptr::null_mut(), 0) == 0).then_some(value)
    }
}
