//! What Linux tells: /proc, clocks of threads, and the C library.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;

use super::listed_process::ListedProcess;

/// Returns the clock of the calling thread's CPU time.
pub(super) fn thread_cpu_clock() -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: may be called on any thread, which is alive as the caller. The call fills the id.
    let status = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    (status == 0).then_some(clock)
}

/// Returns the system's id of the calling thread.
pub fn thread_id() -> Option<i32> {
    // SAFETY: may be called on any thread.
    Some(unsafe { libc::gettid() })
}

/// Returns whether this is the first thread of the process, which runs Node's main thread in the
/// `node` program.
pub fn is_first_thread() -> bool {
    // SAFETY: may be called on any thread. Both calls take no arguments and cannot fail.
    unsafe { libc::gettid() == libc::getpid() }
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
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, the second field, is in brackets and may hold spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(number - 3).map(str::to_owned)
}

/// Returns the time that a thread of this process was ready to run and waited for a core,
/// microseconds; none if the kernel does not count this time.
pub(super) fn core_wait_us(thread: i32) -> Option<i64> {
    let counters = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    // Nanoseconds on a core, nanoseconds of waiting, count of time slices.
    let wait_ns: i64 = counters.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(wait_ns / 1000)
}

/// Returns how often a thread of this process has given up its core by itself.
pub(super) fn voluntary_switches(thread: i32) -> Option<i64> {
    let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

/// Returns none: the command line reads /proc itself.
pub fn processes() -> Option<Vec<ListedProcess>> {
    None
}

/// Returns the resident memory of this process, bytes.
pub fn resident_bytes() -> Option<u64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
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
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
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
