//! Finishes the recordings before SIGINT, SIGTERM or SIGHUP ends the process.
//!
//! 1. The handler notes the signal and posts a semaphore.
//! 2. A thread waits for the semaphore, has the recordings finished, and sends the signal to the main
//!    thread.
//! 3. The handler runs again, now on the main thread. It restores the previous action and raises the
//!    signal. The signal then takes its normal course, which is Node's handler (it resets the
//!    terminal and raises the signal again) or the system's default.
//!
//! A program that listens for a signal replaces this handler with libuv's, so its listener is called
//! once and without delay. When the program stops listening, libuv restores the system's default,
//! and the next rotation arms the signal again.
//!
//! Actions are changed on the main thread only, where libuv changes them too. libuv blocks all
//! signals meanwhile, so neither can overwrite what the other has just set. The only exception is a
//! main thread that blocks the signal for a second.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{mem, ptr, thread};

use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::system::{
    SignalSemaphore, errno_location, is_first_thread, is_forked, note_first_thread,
    send_to_first_thread, with_hidden_flags, with_signals_blocked,
};

const SIGNALS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The previous actions of armed signals, by index into `SIGNALS`.
static PREVIOUS: [PreviousAction; SIGNALS.len()] = [const { PreviousAction::new() }; SIGNALS.len()];

/// The signals that have arrived while the recordings are not finished: one bit per index into
/// `SIGNALS`.
static PENDING: AtomicU32 = AtomicU32::new(0);
/// The signals that may take their normal course, because the recordings are finished: one bit per
/// index into `SIGNALS`.
static FINISHED: AtomicU32 = AtomicU32::new(0);
/// Set before a handler is installed.
static SEMAPHORE: OnceLock<SignalSemaphore> = OnceLock::new();

struct PreviousAction(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: the main thread writes an action before it installs the handler of the signal. The action
// is read only while the handler is installed, and then the main thread does not write it.
unsafe impl Sync for PreviousAction {}

impl PreviousAction {
    const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// Starts the thread that waits for signals, once per process. The thread calls `finish_all` before
/// the signals take their normal course.
pub(in crate::record) fn watch(finish_all: fn()) -> Result<(), Error> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let semaphore = SignalSemaphore::new().map_err(|error| error.to_string())?;
        let semaphore = *SEMAPHORE.get_or_init(|| semaphore);
        // SAFETY: may be called on any thread. The addon is never unloaded, so the function stays.
        unsafe { libc::atexit(on_process_exit) };
        with_signals_blocked(|| {
            thread::Builder::new().name("cpu-prof-signal".into()).spawn(move || {
                loop {
                    semaphore.wait();
                    if is_pending() {
                        finish_all();
                        let signals = forward_pending();
                        take_from_blocked_thread(signals);
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
pub(crate) fn arm() {
    note_first_thread();
    for (index, signal) in SIGNALS.into_iter().enumerate() {
        let Some(current) = exchange(signal, None).map(with_hidden_flags) else { continue };
        // Node's own handler for SIGINT and SIGTERM resets itself and raises the signal again.
        let is_fatal = current.sa_sigaction == libc::SIG_DFL
            || (current.sa_sigaction != libc::SIG_IGN
                && current.sa_flags & libc::SA_RESETHAND != 0);
        if is_fatal && !is_ours(&current) {
            // SAFETY: the handler is not installed, so nothing reads the action.
            unsafe { (*PREVIOUS[index].0.get()).write(current) };
            // The program may have listened when the signal was sent to the main thread.
            FINISHED.fetch_and(!(1 << index), Ordering::Relaxed);
            exchange(signal, Some(&action_of(on_signal)));
        }
    }
}

/// Returns whether a signal has arrived that most likely ends the process.
pub(crate) fn is_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// Returns the name of a signal that has arrived and most likely ends the process.
pub(in crate::record) fn pending_name() -> Option<&'static str> {
    const NAMES: [&str; SIGNALS.len()] = ["SIGINT", "SIGTERM", "SIGHUP"];
    let pending = PENDING.load(Ordering::Relaxed);
    (0..NAMES.len()).find(|index| pending & (1 << index) != 0).map(|index| NAMES[index])
}

/// Lets the pending signals take their normal course, on the main thread. Returns these signals.
fn forward_pending() -> u32 {
    let signals = PENDING.load(Ordering::Relaxed);
    FINISHED.fetch_or(signals, Ordering::Relaxed);
    for_each(signals, |_, signal| send_to_first_thread(signal));
    // Only now: a process that exits meanwhile must still find the signals.
    PENDING.fetch_and(!signals, Ordering::Relaxed);
    signals
}

/// Lets signals take their normal course where the main thread blocks them. Other threads may not,
/// and then the signal would end the process without a profiler.
fn take_from_blocked_thread(signals: u32) {
    const TIMEOUT: Duration = Duration::from_secs(1);
    const STEP: Duration = Duration::from_millis(10);
    let deadline = Instant::now() + TIMEOUT;
    let is_waiting = |signal| exchange(signal, None).is_some_and(|current| is_ours(&current));
    for_each(signals, |index, signal| {
        while FINISHED.load(Ordering::Relaxed) & (1 << index) != 0 && is_waiting(signal) {
            if Instant::now() >= deadline {
                // libuv blocks signals for microseconds, so the main thread is not changing actions.
                restore(index, signal);
                // SAFETY: may be called on any thread. The signal goes to any thread of the process.
                unsafe { libc::kill(libc::getpid(), signal) };
                return;
            }
            thread::sleep(STEP);
        }
    });
}

/// Sends the pending signals again before the process exits. A program that sends itself a signal
/// can reach its end before the signal thread runs, and must still die of the signal.
extern "C" fn on_process_exit() {
    const TIMEOUT: Duration = Duration::from_millis(250);
    if is_pending() && !is_forked() {
        forward_pending();
        // The main thread has taken the signal by now. Another thread gives it the time to do so.
        if !is_first_thread() {
            thread::sleep(TIMEOUT);
        }
    }
}

/// Handles a signal. All that is called here is allowed in a signal handler.
extern "C" fn on_signal(signal: c_int) {
    // SAFETY: the location of `errno` is valid on every thread.
    let errno = unsafe { *errno_location() };
    let index = SIGNALS.iter().position(|each| *each == signal);
    match index {
        Some(index) if !is_forked() => on_own_signal(index, signal),
        // A child that was forked without an exec inherits the handler, but not the thread that
        // waits.
        _ => {
            // SAFETY: both calls may be made on any thread.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
    // SAFETY: the location of `errno` is valid on every thread.
    unsafe { *errno_location() = errno };
}

fn on_own_signal(index: usize, signal: c_int) {
    let bit = 1 << index;
    if FINISHED.load(Ordering::Relaxed) & bit == 0 {
        PENDING.fetch_or(bit, Ordering::Relaxed);
        if let Some(semaphore) = SEMAPHORE.get() {
            semaphore.post();
        }
    } else if is_first_thread() {
        restore(index, signal);
        // SAFETY: may be called on any thread. The signal comes when the handler returns.
        unsafe { libc::raise(signal) };
    } else {
        send_to_first_thread(signal);
    }
}

/// Restores the previous action of a signal, unless the program has begun to listen meanwhile.
fn restore(index: usize, signal: c_int) {
    FINISHED.fetch_and(!(1 << index), Ordering::Relaxed);
    if exchange(signal, None).is_some_and(|current| is_ours(&current)) {
        // SAFETY: the handler is installed, so the action was written before.
        let previous = unsafe { (*PREVIOUS[index].0.get()).assume_init_ref() };
        exchange(signal, Some(previous));
    }
}

/// Calls `f` with the index and the number of each signal in a set of bits.
fn for_each(signals: u32, mut f: impl FnMut(usize, c_int)) {
    for (index, signal) in SIGNALS.into_iter().enumerate() {
        if signals & (1 << index) != 0 {
            f(index, signal);
        }
    }
}

/// Returns an action that calls a handler of ours.
pub(super) fn action_of(handler: extern "C" fn(c_int)) -> libc::sigaction {
    // SAFETY: all zeros are a valid `sigaction`. The call only fills the mask in it.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        // The program's system calls are resumed.
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        action
    }
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == on_signal as *const () as usize
}

/// Returns the current action of a signal, and sets the new one if given.
pub(super) fn exchange(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    // SAFETY: both structs are valid during the call. The new one was made by `action_of` or
    // returned by the system.
    unsafe {
        let mut current: libc::sigaction = mem::zeroed();
        let new = new.map_or(ptr::null(), ptr::from_ref);
        (libc::sigaction(signal, new, &mut current) == 0).then_some(current)
    }
}
