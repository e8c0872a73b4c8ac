//! Finishes the recordings before SIGINT, SIGTERM or SIGHUP ends the process.
//!
//! The handler notes the signal and posts a semaphore; both are allowed in a handler. A thread waits
//! for the semaphore, has the recordings finished, restores the previous handler and sends the
//! signal again. The signal then takes its normal course, which is Node's handler (it resets the
//! terminal and raises the signal again) or the system's default.
//!
//! A program that listens for a signal replaces this handler with libuv's, so its listener is called
//! once and without delay. When the program stops listening, libuv restores the system's default,
//! and the next rotation arms the signal again. That happens on the main thread, where libuv changes
//! handlers too, so neither can overwrite what the other has just set.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::{io, mem, process, ptr, thread};

use parking_lot::Mutex;

use crate::base::error::Error;
use crate::base::system::with_signals_blocked;

const SIGNALS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The previous actions of armed signals, by index into `SIGNALS`.
static PREVIOUS: Mutex<[Option<libc::sigaction>; SIGNALS.len()]> =
    Mutex::new([None; SIGNALS.len()]);

/// The signals that have arrived and were not sent again yet: one bit per index into `SIGNALS`.
static PENDING: AtomicU32 = AtomicU32::new(0);
static SEMAPHORE: AtomicPtr<libc::sem_t> = AtomicPtr::new(ptr::null_mut());
/// Id of the process that installed the handler. A child that was forked without an exec inherits
/// the handler, but not the thread that waits.
static OWNER_PID: AtomicU32 = AtomicU32::new(0);

/// Starts the thread that waits for signals, once per process. The thread calls `finish_all` before
/// it sends a signal again.
pub(super) fn watch(finish_all: fn()) -> Result<(), Error> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let semaphore = new_semaphore().map_err(|error| error.to_string())?;
        OWNER_PID.store(process::id(), Ordering::Relaxed);
        SEMAPHORE.store(semaphore, Ordering::Release);
        // SAFETY: may be called on any thread. The addon is never unloaded, so the function stays.
        unsafe { libc::atexit(on_process_exit) };
        with_signals_blocked(|| {
            thread::Builder::new().name("cpu-prof-signal".into()).spawn(move || {
                loop {
                    wait();
                    if is_pending() {
                        finish_all();
                        resend();
                    }
                }
            })
        })
        .map(drop)
        .map_err(|error| error.to_string())
    });
    started.clone().map_err(|error| {
        Error::Unavailable(format!("the signal thread could not be started: {error}"))
    })
}

/// Installs the handler for each signal that would end the process. Must be called on the main
/// thread.
pub(super) fn arm() {
    let mut previous = PREVIOUS.lock();
    for (signal, previous) in SIGNALS.into_iter().zip(previous.iter_mut()) {
        let Some(current) = exchange(signal, None) else { continue };
        // Node's own handler for SIGINT and SIGTERM resets itself and raises the signal again.
        let is_fatal = current.sa_sigaction == libc::SIG_DFL
            || (current.sa_sigaction != libc::SIG_IGN
                && current.sa_flags & libc::SA_RESETHAND != 0);
        if is_fatal && !is_own(&current) {
            *previous = Some(current);
            exchange(signal, Some(&own_action()));
        }
    }
}

/// Restores the previous actions of the pending signals, and sends these signals again.
fn resend() {
    let mut previous = PREVIOUS.lock();
    let pending = PENDING.load(Ordering::Relaxed);
    for (index, signal) in SIGNALS.into_iter().enumerate() {
        if pending & (1 << index) == 0 {
            continue;
        }
        // The program may have begun to listen meanwhile.
        let is_armed = exchange(signal, None).is_some_and(|current| is_own(&current));
        if let (true, Some(action)) = (is_armed, previous[index].take()) {
            exchange(signal, Some(&action));
        }
        // SAFETY: may be called on any thread. The signal goes to this process, and the kernel
        // prefers the main thread.
        unsafe { libc::kill(libc::getpid(), signal) };
    }
    PENDING.fetch_and(!pending, Ordering::Relaxed);
}

/// Sends the pending signals again before the process exits. A program that sends itself a signal
/// can reach its end before the signal thread runs, and must still die of the signal.
extern "C" fn on_process_exit() {
    if is_pending() {
        resend();
    }
}

/// Returns whether a signal has arrived that most likely ends the process.
pub(super) fn is_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

extern "C" fn on_signal(signal: c_int) {
    // SAFETY: all functions called here are allowed in a signal handler. `errno` is restored, and
    // the semaphore is never destroyed.
    unsafe {
        let errno = *libc::__errno_location();
        let index = SIGNALS.iter().position(|each| *each == signal);
        let semaphore = SEMAPHORE.load(Ordering::Acquire);
        match index {
            Some(index) if libc::getpid() as u32 == OWNER_PID.load(Ordering::Relaxed) => {
                PENDING.fetch_or(1 << index, Ordering::Relaxed);
                libc::sem_post(semaphore);
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        *libc::__errno_location() = errno;
    }
}

fn own_action() -> libc::sigaction {
    // SAFETY: all zeros are a valid `sigaction`. The call only fills the mask in it.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        // The program's system calls are resumed.
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        action
    }
}

fn is_own(action: &libc::sigaction) -> bool {
    action.sa_sigaction == on_signal as *const () as usize
}

/// Returns the current action of a signal, and sets the new one if given.
fn exchange(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    // SAFETY: both structs are valid during the call. The new one was made by `own_action` or
    // returned by the system.
    unsafe {
        let mut current: libc::sigaction = mem::zeroed();
        let new = new.map_or(ptr::null(), ptr::from_ref);
        (libc::sigaction(signal, new, &mut current) == 0).then_some(current)
    }
}

fn new_semaphore() -> io::Result<*mut libc::sem_t> {
    // SAFETY: the memory is never freed, and `sem_init` accepts memory of all zeros.
    unsafe {
        let semaphore = Box::into_raw(Box::new(mem::zeroed::<libc::sem_t>()));
        match libc::sem_init(semaphore, 0, 0) {
            0 => Ok(semaphore),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Waits until the handler posts the semaphore.
fn wait() {
    let semaphore = SEMAPHORE.load(Ordering::Acquire);
    // SAFETY: the semaphore was initialised before the waiting thread was started.
    while unsafe { libc::sem_wait(semaphore) } != 0 {}
}
