//! The few system calls that Rust's standard library does not offer.
#![allow(unsafe_code)]

pub mod ancestors;
pub mod cpu_times;
pub mod regular_file;

use std::ffi::{c_int, c_void};
#[cfg(target_os = "linux")]
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{mem, process, ptr};

/// Returns the time on the clock of V8 and Node: CLOCK_MONOTONIC, microseconds.
pub fn now_us() -> i64 {
    // The call cannot fail for this clock.
    clock_us(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// The clock of a thread's CPU time, which every thread of the process can read.
#[derive(Debug, Clone, Copy)]
pub struct ThreadCpuClock(libc::clockid_t);

impl ThreadCpuClock {
    /// Returns the clock of the calling thread; none if the system has no such clocks.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_this_thread() -> Option<Self> {
        let mut clock = 0;
        // SAFETY: may be called on any thread, which is alive as the caller. The call fills the id.
        let status = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        (status == 0).then_some(Self(clock))
    }

    /// Returns the clock of the calling thread; none if the system has no such clocks.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_this_thread() -> Option<Self> {
        None
    }

    /// Returns the thread's CPU time, microseconds; none once the thread has ended.
    pub fn now_us(self) -> Option<i64> {
        clock_us(self.0)
    }
}

/// Returns the CPU time of all threads of this process, microseconds.
pub fn process_cpu_us() -> Option<i64> {
    clock_us(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock_us(clock: libc::clockid_t) -> Option<i64> {
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
pub fn children_cpu_us() -> Option<i64> {
    // SAFETY: may be called on any thread. The call fills the struct.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) == 0).then_some(usage)
    }?;
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    Some(us(usage.ru_utime) + us(usage.ru_stime))
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

/// Returns the system's id of the calling thread; none if the system is not Linux.
pub fn thread_id() -> Option<i32> {
    #[cfg(target_os = "linux")]
    // SAFETY: may be called on any thread.
    let id = Some(unsafe { libc::gettid() });
    #[cfg(not(target_os = "linux"))]
    let id = None;
    id
}

/// Returns the id of the user for whom this process opens files.
pub fn user() -> u32 {
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns when this process started: milliseconds after the system's start, in steps of ten.
pub fn process_start_ms() -> Option<u64> {
    /// Number of the field in proc(5), which counts from 1.
    const START_TIME: usize = 22;
    const TICK_MS: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, the second field, is in brackets and may hold spaces and brackets.
    let fields = &stat[stat.rfind(')')? + 1..];
    let ticks: u64 = fields.split_ascii_whitespace().nth(START_TIME - 3)?.parse().ok()?;
    Some(ticks * TICK_MS)
}

/// Returns the resident memory of this process, bytes; none if the system is not Linux.
pub fn resident_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    // Pages in all, pages that are resident.
    let pages: u64 = pages.split_ascii_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: may be called on any thread. The call takes a constant, and returns -1 on an error.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

/// Calls `f` with the exit status when the process exits. Only glibc tells the status.
pub fn at_exit(f: extern "C" fn(c_int, *mut c_void)) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn on_exit(f: extern "C" fn(c_int, *mut c_void), data: *mut c_void) -> c_int;
        }
        // SAFETY: may be called on any thread. The addon is never unloaded, so the function stays.
        unsafe { on_exit(f, ptr::null_mut()) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = f;
}

/// Returns a text that no other process has, and that all copies of this addon in the process agree
/// on: a hash of the random bytes that the system gives each program at its start.
#[cfg(target_os = "linux")]
pub fn process_key() -> Option<String> {
    // SAFETY: may be called on any thread. The system's bytes are there as long as the process is.
    let random = unsafe { (libc::getauxval(libc::AT_RANDOM) as *const [u8; 16]).as_ref() }?;
    // Not the bytes themselves, which the C library takes as its guards against overflows.
    let mut hasher = DefaultHasher::new();
    random.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns a text that no other process has; none if the system is not Linux.
#[cfg(not(target_os = "linux"))]
pub fn process_key() -> Option<String> {
    None
}

/// Returns the number of the namespace that this process's pid is from; none if the system is not
/// Linux.
pub fn pid_namespace() -> Option<u64> {
    std::fs::metadata("/proc/self/ns/pid").ok().map(|namespace| namespace.ino())
}

/// Returns the id of the system's current boot.
pub fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim_end().to_owned())
}

/// Returns whether this is the first thread of the process, which runs Node's main thread in the
/// `node` program.
pub fn is_first_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: may be called on any thread. Both calls take no arguments and cannot fail.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    #[cfg(target_os = "macos")]
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    let is_first = unsafe { libc::pthread_main_np() == 1 };
    is_first
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

/// Returns the allocator's free pages to the system. This takes milliseconds, and briefly locks the
/// arenas of other threads.
pub fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: may be called on any thread.
    unsafe {
        libc::malloc_trim(0);
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
