//! What Linux tells: /proc, clocks of threads, and the C library.
#![allow(unsafe_code)]

pub mod checked_memory;
mod mapped_file;
pub mod sampling_signal;
pub mod stopped_thread;
pub mod thread_timer;
mod threads;
mod timer;

use std::ffi::{c_int, c_long, c_void};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::{io, mem};

pub use self::threads::{thread_cpu_us, thread_id, thread_ids, thread_name};
use super::listed_process::ListedProcess;
pub(super) use super::posix::children_cpu_us;
pub use super::posix::end::{end_now, next_turn};
pub(crate) use super::posix::is_stderr_writable;
pub use super::posix::{
    SAMPLING_SIGNAL, exported, files, is_process_alive, parent_id, pass_on, process_cpu_us, socket,
    user, utc_offset_s, with_signals_blocked,
};
use super::posix::{clock_us, has_two_users};

/// Returns the time on the clock of V8 and Node, microseconds.
pub fn now_us() -> i64 {
    // The call cannot fail for this clock.
    clock_us(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Returns the step in which V8's clock moves, microseconds.
pub fn v8_clock_step_us() -> i64 {
    1
}

/// Returns by how much Node's clock is ahead of V8's, microseconds: both are the same.
pub fn node_clock_lead_us() -> i64 {
    0
}

/// The clock of a thread's CPU time.
#[derive(Debug)]
pub(super) struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// Returns the clock of the calling thread.
    pub(super) fn of_this_thread() -> Option<Self> {
        let mut clock = 0;
        // SAFETY: may be called on any thread, which is alive as the caller. The call fills the id.
        let status = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        (status == 0).then_some(Self(clock))
    }

    /// Returns the CPU time, microseconds; none once the thread has ended.
    pub(super) fn cpu_us(&self) -> Option<i64> {
        clock_us(self.0)
    }
}

/// Returns whether this process runs with rights that its user does not have, as a program with the setuid
/// bit does.
pub fn has_borrowed_rights() -> bool {
    // SAFETY: may be called on any thread. An unknown value is 0.
    has_two_users() || unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns whether this is the first thread of the process. May be called in a signal handler.
pub fn is_first_thread() -> bool {
    thread_id() == Some(std::process::id())
}

/// Sends a signal to the first thread of the process, whose id is that of the process. May be called in
/// a signal handler.
pub fn send_to_first_thread(signal: c_int) {
    // SAFETY: may be called on any thread, and in a signal handler.
    unsafe {
        let pid = libc::getpid();
        libc::syscall(libc::SYS_tgkill, c_long::from(pid), c_long::from(pid), c_long::from(signal));
    }
}

/// Notes the calling thread as the first. Linux knows the first thread by its id.
pub fn note_first_thread() {}

/// Returns an action with the flags that the system keeps to itself: there are none.
pub fn with_hidden_flags(action: libc::sigaction) -> libc::sigaction {
    action
}

/// Returns where the error of the last call on this thread is. May be called in a signal handler.
pub fn errno_location() -> *mut c_int {
    // SAFETY: may be called on any thread.
    unsafe { libc::__errno_location() }
}

/// A semaphore that a signal handler can post. The memory of a semaphore is never freed.
#[derive(Debug, Clone, Copy)]
pub struct SignalSemaphore(*mut libc::sem_t);

// SAFETY: any thread may post and wait.
unsafe impl Send for SignalSemaphore {}
// SAFETY: the same.
unsafe impl Sync for SignalSemaphore {}

impl SignalSemaphore {
    /// Creates a semaphore that nobody has posted.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the memory is never freed, and `sem_init` accepts memory of all zeros.
        unsafe {
            let semaphore = Box::into_raw(Box::new(mem::zeroed::<libc::sem_t>()));
            match libc::sem_init(semaphore, 0, 0) {
                0 => Ok(Self(semaphore)),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// Posts the semaphore. May be called in a signal handler.
    pub fn post(self) {
        // SAFETY: the semaphore was initialised, and is never destroyed.
        unsafe { libc::sem_post(self.0) };
    }

    /// Waits until the semaphore is posted.
    pub fn wait(self) {
        // SAFETY: the semaphore was initialised, and is never destroyed.
        while unsafe { libc::sem_wait(self.0) } != 0 {}
    }
}

/// Returns when this process started: milliseconds after the system's start, in steps of ten.
pub fn process_start_ms() -> Option<u64> {
    const TICK_MS: u64 = 10;
    let ticks: u64 = stat_field("self", 22)?.parse().ok()?;
    Some(ticks * TICK_MS)
}

/// Returns the id of a process's parent.
pub(super) fn parent_of(pid: u32) -> Option<u32> {
    stat_field(&pid.to_string(), 4)?.parse().ok()
}

/// Returns a field of a process, from the fourth on, by its number in proc(5), which counts from 1.
fn stat_field(process: &str, number: usize) -> Option<String> {
    let stat = read_proc(&format!("/proc/{process}/stat"))?;
    // The program's name, the second field, is in brackets and may hold spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(number - 3).map(str::to_owned)
}

/// Returns the text of one of the kernel's short files, which one read gives whole. The size of such a file is
/// unknown before, so the standard library reads it in a dozen pieces.
fn read_proc(path: &str) -> Option<String> {
    let mut bytes = [0; 4096];
    let length = File::open(path).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Returns the time that a thread of this process was ready to run and waited for a core,
/// microseconds; none if the kernel does not count this time.
pub(super) fn core_wait_us(thread: u32) -> Option<i64> {
    let counters = read_proc(&format!("/proc/self/task/{thread}/schedstat"))?;
    // Nanoseconds on a core, nanoseconds of waiting, count of time slices.
    let wait_ns: i64 = counters.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(wait_ns / 1000)
}

/// Returns how often a thread of this process has given up its core by itself.
pub(super) fn voluntary_switches(thread: u32) -> Option<i64> {
    let status = read_proc(&format!("/proc/self/task/{thread}/status"))?;
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

/// Returns none: the command line reads /proc itself.
pub fn processes() -> Option<Vec<ListedProcess>> {
    None
}

/// Returns the resident memory of this process, bytes.
pub fn resident_bytes() -> Option<u64> {
    let pages = read_proc("/proc/self/statm")?;
    // Pages in all, pages that are resident.
    let pages: u64 = pages.split_ascii_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: may be called on any thread. The call takes a constant, and returns -1 on an error.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

/// Returns a text that no other process has, and that all copies of this addon in the process agree
/// on: a hash of the random bytes that the system gives each program at its start.
pub fn process_key() -> Option<String> {
    // SAFETY: may be called on any thread. The system's bytes are there as long as the process is.
    let random = unsafe { (libc::getauxval(libc::AT_RANDOM) as *const [u8; 16]).as_ref() }?;
    // Not the bytes themselves, which the C library takes as its guards against overflows.
    let mut hasher = DefaultHasher::new();
    random.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns the number of the namespace that this process's pid is from.
pub fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|namespace| namespace.ino())
}

/// Returns the id of the system's current boot.
pub fn boot_id() -> Option<String> {
    let id = read_proc("/proc/sys/kernel/random/boot_id")?;
    Some(id.trim_end().to_owned())
}

/// Calls `f` with the exit status when the process exits. Only glibc tells the status.
pub fn at_exit(f: extern "C" fn(c_int, *mut c_void)) {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            fn on_exit(f: extern "C" fn(c_int, *mut c_void), data: *mut c_void) -> c_int;
        }
        // SAFETY: may be called on any thread. The addon is never unloaded, so the function stays.
        unsafe { on_exit(f, std::ptr::null_mut()) };
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = f;
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
