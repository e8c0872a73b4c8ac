//! The few system calls of POSIX that Rust's standard library does not offer.
#![allow(unsafe_code)]

pub(super) mod end;
// Here for its tests, which run on every system.
#[cfg(any(target_os = "macos", test))]
pub(super) mod exit_action;
pub mod files;
pub mod socket;

use std::ffi::{CStr, c_int, c_void};
use std::{mem, ptr};

/// The signal by which V8 samples a thread.
pub const SAMPLING_SIGNAL: Option<c_int> = Some(libc::SIGPROF);

/// Returns the CPU time of all threads of this process, microseconds.
pub fn process_cpu_us() -> Option<i64> {
    clock_us(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time on a clock, microseconds; none if it is that of a thread that has ended. Every thread
/// of the process can read the clock of a thread's CPU time.
pub(super) fn clock_us(clock: libc::clockid_t) -> Option<i64> {
    // SAFETY: may be called on any thread. The call fills the struct, or fails if the clock's thread
    // has ended.
    unsafe {
        let mut time: libc::timespec = mem::zeroed();
        (libc::clock_gettime(clock, &mut time) == 0)
            .then(|| time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
    }
}

/// Returns the CPU time of this process's children that have ended and were waited for,
/// microseconds.
pub(super) fn children_cpu_us() -> Option<i64> {
    // SAFETY: may be called on any thread. The call fills the struct.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) == 0).then_some(usage)
    }?;
    // The type of the microseconds differs between systems.
    #[allow(clippy::useless_conversion)]
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + i64::from(time.tv_usec);
    Some(us(usage.ru_utime) + us(usage.ru_stime))
}

/// Returns by how much the local time is ahead of UTC now, seconds. From the C library: on macOS, chrono
/// asks a framework, CoreFoundation, which nothing else here needs.
pub fn utc_offset_s() -> i32 {
    // SAFETY: may be called on any thread. All zeros are a valid struct, which the call fills, or fails.
    unsafe {
        let now = libc::time(ptr::null_mut());
        let mut local: libc::tm = mem::zeroed();
        let is_known = !libc::localtime_r(&now, &mut local).is_null();
        if is_known { i32::try_from(local.tm_gmtoff).unwrap_or(0) } else { 0 }
    }
}

/// Lets the programs that this process starts inherit an open file, under the same number.
pub fn pass_on(file: c_int) {
    // SAFETY: may be called on any thread. The calls only read and set a flag, or fail.
    unsafe {
        let flags = libc::fcntl(file, libc::F_GETFD);
        if flags >= 0 {
            libc::fcntl(file, libc::F_SETFD, flags & !libc::FD_CLOEXEC);
        }
    }
}

/// Returns the id of the user for whom this process opens files.
pub fn user() -> Option<u32> {
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    Some(unsafe { libc::geteuid() })
}

/// Returns whether this process acts for another user or group than the one that started it.
pub(super) fn has_two_users() -> bool {
    // SAFETY: may be called on any thread. The calls take no arguments and cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}

/// Returns the id of the parent process.
pub fn parent_id() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Returns whether a process has this id, of any user.
pub fn is_process_alive(pid: u32) -> bool {
    // 0 and negative numbers stand for groups of processes.
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0) else { return false };
    // SAFETY: any thread; signal 0 is never sent, only checked.
    let is_found = unsafe { libc::kill(pid, 0) == 0 };
    is_found || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Runs `f` with every signal blocked on this thread. A thread started by `f` inherits the mask, so
/// the program's signals reach the program's own threads only.
pub fn with_signals_blocked<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: may be called on any thread. Both sets live on this stack, and the old mask is
    // restored.
    unsafe {
        let mut all: libc::sigset_t = mem::zeroed();
        let mut old: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, ptr::null_mut());
        result
    }
}

/// Returns whether stderr can be written without blocking, now or within a quarter of a second:
/// stderr may be a full pipe that nobody reads.
pub(crate) fn is_stderr_writable() -> bool {
    const TIMEOUT_MS: c_int = 250;
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: may be called on any thread. The pointer is to the one struct on this stack that the
    // count names.
    unsafe { libc::poll(&mut stderr, 1, TIMEOUT_MS) != 0 }
}

/// Returns the address of a function that the program exports.
pub fn exported(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: may be called on any thread. The name ends in a NUL, and the address is only compared
    // here.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}
