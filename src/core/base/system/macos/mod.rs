//! What macOS tells: Mach's threads, libproc and sysctl.
#![allow(unsafe_code)]

mod clocks;
mod kernel;
mod processes;

use std::ffi::{CStr, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::time::Duration;
use std::{io, mem, ptr, thread};

use mach2::kern_return::{KERN_ABORTED, KERN_SUCCESS};
use mach2::mach_init::mach_thread_self;
use mach2::mach_port::mach_port_deallocate;
use mach2::mach_types::semaphore_t;
use mach2::message::audit_token_t;
use mach2::port::mach_port_t;
use mach2::semaphore::{semaphore_create, semaphore_signal, semaphore_wait};
use mach2::sync_policy::SYNC_POLICY_FIFO;
use mach2::task::task_info;
use mach2::task_info::{TASK_AUDIT_TOKEN, TASK_AUDIT_TOKEN_COUNT};
use mach2::traps::mach_task_self;

pub use self::clocks::{node_clock_lead_us, now_us, v8_clock_step_us};
use self::kernel::{proc_info, process_info, start_ms, sysctl};
pub use self::processes::processes;
pub(super) use super::posix::children_cpu_us;
pub use super::posix::end::{end_now, next_turn};
use super::posix::exit_action::exit_handler;
use super::posix::has_two_users;
pub(crate) use super::posix::is_stderr_writable;
pub use super::posix::{
    SAMPLING_SIGNAL, exported, files, is_process_alive, parent_id, pass_on, process_cpu_us, socket,
    user, utc_offset_s, with_signals_blocked,
};

/// Returns whether this process runs with rights that its user does not have, as a program with the setuid
/// bit does.
pub fn has_borrowed_rights() -> bool {
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    has_two_users() || unsafe { libc::issetugid() != 0 }
}

/// The clock of a thread's CPU time: a right to the thread's port, which the thread's end leaves dead
/// and no other thread gets.
#[derive(Debug)]
pub(super) struct ThreadClock(mach_port_t);

impl ThreadClock {
    /// Returns the clock of the calling thread.
    pub(super) fn of_this_thread() -> Option<Self> {
        // SAFETY: may be called on any thread. The right that the call adds is given up on drop.
        let port = unsafe { mach_thread_self() };
        (port != 0).then_some(Self(port))
    }

    /// Returns the CPU time, microseconds; none once the thread has ended.
    pub(super) fn cpu_us(&self) -> Option<i64> {
        // SAFETY: all zeros are a valid struct of numbers. The call fills at most `count` words of it,
        // and fails for a dead port.
        let info = unsafe {
            let mut info: libc::thread_basic_info = mem::zeroed();
            let mut count = libc::THREAD_BASIC_INFO_COUNT;
            let status = libc::thread_info(
                self.0,
                libc::THREAD_BASIC_INFO as libc::thread_flavor_t,
                (&raw mut info).cast(),
                &mut count,
            );
            (status == KERN_SUCCESS).then_some(info)
        }?;
        let us = |time: libc::time_value_t| {
            i64::from(time.seconds) * 1_000_000 + i64::from(time.microseconds)
        };
        Some(us(info.user_time) + us(info.system_time))
    }
}

impl Drop for ThreadClock {
    fn drop(&mut self) {
        // SAFETY: the right was added by `of_this_thread`, and is given up once.
        unsafe { mach_port_deallocate(mach_task_self(), self.0) };
    }
}

/// Returns the system's id of the calling thread.
pub fn thread_id() -> Option<u32> {
    let mut id = 0;
    // SAFETY: may be called on any thread. 0 stands for the calling thread, and the call fills the id.
    let status = unsafe { libc::pthread_threadid_np(0, &mut id) };
    (status == 0).then_some(id).and_then(|id| u32::try_from(id).ok())
}

/// Returns none: macOS counts the time of waiting for a core for whole processes only.
pub(super) fn core_wait_us(_: u32) -> Option<i64> {
    None
}

/// Returns none: macOS counts switches for whole processes only.
pub(super) fn voluntary_switches(_: u32) -> Option<i64> {
    None
}

/// Returns none: macOS is not asked for the threads of a process.
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

/// Returns whether this is the first thread of the process. May be called in a signal handler.
pub fn is_first_thread() -> bool {
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    unsafe { libc::pthread_main_np() == 1 }
}

/// The first thread, by the address of its `pthread_t`.
static FIRST_THREAD: OnceLock<libc::pthread_t> = OnceLock::new();

/// Notes the calling thread, if the thread is the first of the process.
pub fn note_first_thread() {
    if is_first_thread() {
        // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
        FIRST_THREAD.get_or_init(|| unsafe { libc::pthread_self() });
    }
}

/// Sends a signal to the first thread of the process, or to the process as long as that thread is not
/// noted. May be called in a signal handler.
pub fn send_to_first_thread(signal: c_int) {
    // SAFETY: both calls may be made on any thread and in a signal handler. The first thread lives as
    // long as the process, or is gone by `pthread_exit`, which Node does not call.
    unsafe {
        match FIRST_THREAD.get() {
            Some(thread) => libc::pthread_kill(*thread, signal),
            None => libc::kill(libc::getpid(), signal),
        };
    }
}

/// Returns an action with SA_RESETHAND, if the action is the one by which Node ends the process on SIGINT
/// and SIGTERM. macOS keeps this flag of an action, and tells it nobody. Node's handler, which raises its
/// signal again, would be called for ever without the flag.
pub fn with_hidden_flags(mut action: libc::sigaction) -> libc::sigaction {
    if node_exit_handler().is_some_and(|handler| handler == action.sa_sigaction) {
        action.sa_flags |= libc::SA_RESETHAND;
    }
    action
}

/// Returns the handler by which Node ends the process; none until it was seen.
fn node_exit_handler() -> Option<usize> {
    static HANDLER: OnceLock<usize> = OnceLock::new();
    if let Some(handler) = HANDLER.get() {
        return Some(*handler);
    }
    let of_node = exported(c"uv_default_loop")?;
    let handler = exit_handler([&action_of(libc::SIGTERM)?, &action_of(libc::SIGINT)?], of_node)?;
    Some(*HANDLER.get_or_init(|| handler))
}

/// Returns the current action of a signal.
fn action_of(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: may be called on any thread. All zeros are a valid struct, which the call fills.
    unsafe {
        let mut current: libc::sigaction = mem::zeroed();
        (libc::sigaction(signal, ptr::null(), &mut current) == 0).then_some(current)
    }
}

/// Returns where the error of the last call on this thread is. May be called in a signal handler.
pub fn errno_location() -> *mut c_int {
    // SAFETY: may be called on any thread.
    unsafe { libc::__error() }
}

/// A semaphore that a signal handler can post: one of Mach's, since macOS has no unnamed ones of POSIX,
/// and the program could close the descriptors of a pipe. A semaphore is never destroyed.
#[derive(Debug, Clone, Copy)]
pub struct SignalSemaphore(semaphore_t);

impl SignalSemaphore {
    /// Creates a semaphore that nobody has posted.
    pub fn new() -> io::Result<Self> {
        let mut semaphore = 0;
        // SAFETY: may be called on any thread. The call fills the port.
        let status =
            unsafe { semaphore_create(mach_task_self(), &mut semaphore, SYNC_POLICY_FIFO, 0) };
        if status == KERN_SUCCESS {
            return Ok(Self(semaphore));
        }
        Err(io::Error::other(format!("semaphore_create returned {status}")))
    }

    /// Posts the semaphore. May be called in a signal handler: the call is a trap into the kernel.
    pub fn post(self) {
        // SAFETY: the semaphore was created, and is never destroyed.
        unsafe { semaphore_signal(self.0) };
    }

    /// Waits until the semaphore is posted.
    pub fn wait(self) {
        /// A wait that fails at once must not keep a core busy.
        const PAUSE: Duration = Duration::from_secs(1);
        loop {
            // SAFETY: the semaphore was created, and is never destroyed.
            match unsafe { semaphore_wait(self.0) } {
                KERN_SUCCESS => return,
                KERN_ABORTED => {}
                _ => thread::sleep(PAUSE),
            }
        }
    }
}

/// Returns when this process started: milliseconds after 1970, as the clock was then. The kernel never
/// changes this time. The time after the system's start would change when somebody sets the clock.
pub fn process_start_ms() -> Option<u64> {
    Some(start_ms(&process_info(std::process::id())?))
}

/// Returns the id of a process's parent.
pub(super) fn parent_of(pid: u32) -> Option<u32> {
    Some(process_info(pid)?.pbi_ppid)
}

/// Returns the resident memory of this process, bytes.
pub fn resident_bytes() -> Option<u64> {
    let task: libc::proc_taskinfo = proc_info(std::process::id(), libc::PROC_PIDTASKINFO)?;
    Some(task.pti_resident_size)
}

/// Returns a text that no other process has, and that all copies of this addon in the process agree
/// on: a hash of the process's id, its start, the version of the id, and of the system's start. The kernel
/// gives the id another version when the process runs another program.
pub fn process_key() -> Option<String> {
    let mut hasher = DefaultHasher::new();
    let process = process_info(std::process::id())?;
    let start_us = (process.pbi_start_tvsec, process.pbi_start_tvusec);
    (process.pbi_pid, start_us, pid_version(), boot_id()?).hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns the version of this process's id.
fn pid_version() -> Option<u32> {
    let mut token = audit_token_t { val: [0; 8] };
    let mut count = TASK_AUDIT_TOKEN_COUNT;
    // SAFETY: may be called on any thread. The call fills at most `count` words of the struct.
    let status = unsafe {
        task_info(mach_task_self(), TASK_AUDIT_TOKEN, (&raw mut token).cast(), &mut count)
    };
    // The last word is the version (`audit_token_to_pidversion` of libbsm).
    (status == KERN_SUCCESS).then_some(token.val[7])
}

/// Returns none: macOS has one namespace of pids.
pub fn pid_namespace() -> Option<u64> {
    None
}

/// Returns the id of the system's current boot.
pub fn boot_id() -> Option<String> {
    let text: [u8; 37] = sysctl(c"kern.bootsessionuuid")?;
    let id = CStr::from_bytes_until_nul(&text).ok()?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// Does nothing: the C library tells no handler the exit status.
pub fn at_exit(_: extern "C" fn(c_int, *mut c_void)) {}

/// Returns the allocator's free pages to the system.
pub fn trim_heap() {
    unsafe extern "C" {
        fn malloc_zone_pressure_relief(zone: *mut c_void, goal: usize) -> usize;
    }
    // SAFETY: may be called on any thread. Null stands for all zones, and 0 for as much as possible.
    unsafe { malloc_zone_pressure_relief(ptr::null_mut(), 0) };
}
