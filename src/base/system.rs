//! The few calls to the operating system that Rust's library has no words for.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::{mem, ptr};

/// V8's and Node's clock: CLOCK_MONOTONIC, microseconds.
pub(crate) fn now_us() -> i64 {
    // SAFETY: any thread; the call fills the struct, and cannot fail for this clock.
    let time = unsafe {
        let mut time: libc::timespec = mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time
    };
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// When this process started: milliseconds after the system did, in steps of ten.
pub(crate) fn process_start_ms() -> Option<u64> {
    const STARTED: usize = 22;
    const TICK_MS: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, the second field, is in brackets and may hold anything.
    let fields = &stat[stat.rfind(')')? + 1..];
    let ticks: u64 = fields.split_ascii_whitespace().nth(STARTED - 3)?.parse().ok()?;
    Some(ticks * TICK_MS)
}

/// What the system calls its own start.
pub(crate) fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim_end().to_owned())
}

/// Whether this is the process's first thread: where Node's main thread is, in `node` itself.
pub(crate) fn is_first_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: any thread; neither call takes arguments or fails.
    let first = unsafe { libc::gettid() == libc::getpid() };
    #[cfg(target_os = "macos")]
    // SAFETY: any thread; the call takes no arguments and does not fail.
    let first = unsafe { libc::pthread_main_np() == 1 };
    first
}

/// Returns whether a process has this id, of any user.
pub(crate) fn is_process_alive(pid: u32) -> bool {
    // 0 and negative numbers stand for groups of processes.
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0) else { return false };
    // SAFETY: any thread; signal 0 is never sent, only checked.
    let is_found = unsafe { libc::kill(pid, 0) == 0 };
    is_found || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Runs `f` with every signal blocked on this thread: a thread started inside inherits that, and
/// the program's signals go on reaching the program's own threads.
pub(crate) fn with_signals_blocked<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: any thread; both sets live on this stack, and the old mask is put back.
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

/// Gives the allocator's free pages back to the system. It takes milliseconds, and for moments the
/// locks of other threads' arenas.
pub(crate) fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Whether stderr takes a line now, or soon: nobody may be reading the pipe that it is.
pub(crate) fn stderr_takes_a_line() -> bool {
    const PATIENCE_MS: c_int = 250;
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: any thread; the struct is ours, and the only one.
    unsafe { libc::poll(&mut stderr, 1, PATIENCE_MS) != 0 }
}
