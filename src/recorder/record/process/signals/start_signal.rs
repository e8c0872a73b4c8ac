//! Listens for the signals by which an operator has a process recorded.
//!
//! The handler notes the signal and posts a semaphore, on which a thread of its own sleeps. A program
//! that listens for the signal replaces this handler with libuv's, and gets the signal as without a
//! profiler. When the program stops listening, the signal has the system's default again.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::posix::{action_of, exchange};
use cpu_prof_core::base::settings::start::StartSignal;
use cpu_prof_core::base::system::{
    SignalSemaphore, errno_location, is_first_thread, is_forked, with_signals_blocked,
};

const SIGNALS: [(StartSignal, c_int); 3] = [
    (StartSignal::Usr2, libc::SIGUSR2),
    (StartSignal::Quit, libc::SIGQUIT),
    (StartSignal::Urg, libc::SIGURG),
];

/// The signals that have arrived: one bit per index into `SIGNALS`.
static PENDING: AtomicU32 = AtomicU32::new(0);
/// Set before a handler is installed.
static SEMAPHORE: OnceLock<SignalSemaphore> = OnceLock::new();

/// Calls `on_signal`, on a thread of its own, whenever one of the signals arrives. Returns the signals
/// for which something else listens. Must be called once, on the main thread, where libuv changes
/// actions too.
pub(in crate::record) fn listen(
    signals: &[StartSignal],
    on_signal: impl Fn(StartSignal) + Send + 'static,
) -> io::Result<Vec<StartSignal>> {
    if !is_first_thread() || SEMAPHORE.get().is_some() {
        return Err(io::Error::other("the main thread alone can listen, and once"));
    }
    let semaphore = SignalSemaphore::new()?;
    let semaphore = *SEMAPHORE.get_or_init(|| semaphore);
    with_signals_blocked(|| {
        thread::Builder::new().name("cpu-prof-start".into()).spawn(move || {
            loop {
                semaphore.wait();
                let pending = PENDING.swap(0, Ordering::Relaxed);
                for (index, (signal, _)) in SIGNALS.into_iter().enumerate() {
                    if pending & (1 << index) != 0 {
                        on_signal(signal);
                    }
                }
            }
        })
    })?;
    let mut taken = Vec::new();
    for (signal, number) in SIGNALS {
        if signals.contains(&signal) && !install(number) {
            taken.push(signal);
        }
    }
    Ok(taken)
}

/// Installs the handler, unless something else handles the signal. Returns whether it is installed.
fn install(signal: c_int) -> bool {
    let is_free = exchange(signal, None).is_some_and(|current| {
        current.sa_sigaction == libc::SIG_DFL || current.sa_sigaction == libc::SIG_IGN
    });
    is_free && exchange(signal, Some(&action_of(on_signal_of_operator))).is_some()
}

/// Handles a signal. All that is called here is allowed in a signal handler.
extern "C" fn on_signal_of_operator(signal: c_int) {
    // SAFETY: the location of `errno` is valid on every thread.
    let errno = unsafe { *errno_location() };
    match SIGNALS.iter().position(|(_, number)| *number == signal) {
        Some(index) if !is_forked() => {
            PENDING.fetch_or(1 << index, Ordering::Relaxed);
            if let Some(semaphore) = SEMAPHORE.get() {
                semaphore.post();
            }
        }
        // A child that was forked without an exec inherits the handler, but not the thread that waits.
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
