//! The last windows before SIGINT, SIGTERM or SIGHUP takes the process.
//!
//! The handler only notes which signal came and posts a semaphore: both may be done in a handler.
//! A thread waits for that, has the last windows taken, puts back the handler that was there
//! before, and sends the signal again: it then takes its normal course, one that Node prepared
//! (reset the terminal, raise again) or the system's.
//!
//! A program that listens for a signal replaces our handler by libuv's, and so is not delayed, and
//! is called once, as without us. When it no longer listens, libuv leaves the system's default, and
//! the next rotation arms the signal again. All of this happens on the main thread, where libuv
//! changes handlers too, so that neither can overwrite what the other has just set.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::{io, mem, process, ptr, thread};

use parking_lot::Mutex;

use crate::base::error::Error;
use crate::base::system::with_signals_blocked;

const SIGNALS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// What was there before, while our handler is in its place.
static OLD: Mutex<[Option<libc::sigaction>; SIGNALS.len()]> = Mutex::new([None; SIGNALS.len()]);

/// The signals that came and were not passed on yet: a bit for each index into `SIGNALS`.
static CAME: AtomicU32 = AtomicU32::new(0);
static SEMAPHORE: AtomicPtr<libc::sem_t> = AtomicPtr::new(ptr::null_mut());
/// Whose signals these are: a child that was forked without an exec has our handler, and none of
/// our threads.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Starts the thread that waits for signals, once in a process. `last_windows` is called on it
/// before a signal is passed on, and has to return in time.
pub(crate) fn watch(last_windows: fn()) -> Result<(), Error> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let semaphore = new_semaphore().map_err(|error| error.to_string())?;
        OWNER.store(process::id(), Ordering::Relaxed);
        SEMAPHORE.store(semaphore, Ordering::Release);
        with_signals_blocked(|| {
            thread::Builder::new().name("cpu-prof-signal".into()).spawn(move || {
                loop {
                    wait();
                    if CAME.load(Ordering::Relaxed) != 0 {
                        last_windows();
                        pass_on();
                    }
                }
            })
        })
        .map(drop)
        .map_err(|error| error.to_string())
    });
    started.clone().map_err(|error| {
        Error::Unavailable(format!("no thread could be started to watch for signals: {error}"))
    })
}

/// Puts our handler where a signal would end the process. Main thread.
pub(crate) fn arm() {
    let mut old = OLD.lock();
    for (signal, old) in SIGNALS.into_iter().zip(old.iter_mut()) {
        let Some(current) = exchange(signal, None) else { continue };
        // Node's own handler for SIGINT and SIGTERM resets itself, and raises the signal again.
        let ends = current.sa_sigaction == libc::SIG_DFL
            || (current.sa_sigaction != libc::SIG_IGN
                && current.sa_flags & libc::SA_RESETHAND != 0);
        if ends && !is_ours(&current) {
            *old = Some(current);
            exchange(signal, Some(&ours()));
        }
    }
}

/// Puts the old handlers back, and sends what came once more.
fn pass_on() {
    let mut old = OLD.lock();
    let came = CAME.load(Ordering::Relaxed);
    for (index, signal) in SIGNALS.into_iter().enumerate() {
        if came & (1 << index) == 0 {
            continue;
        }
        // The program may have begun to listen meanwhile.
        let armed = exchange(signal, None).is_some_and(|current| is_ours(&current));
        if let (true, Some(old)) = (armed, old[index].take()) {
            exchange(signal, Some(&old));
        }
        // SAFETY: any thread; this process. The kernel prefers its main thread for it.
        unsafe { libc::kill(libc::getpid(), signal) };
    }
    CAME.fetch_and(!came, Ordering::Relaxed);
}

/// Whether a signal has come that most likely ends the process.
pub(crate) fn is_leaving() -> bool {
    CAME.load(Ordering::Relaxed) != 0
}

extern "C" fn on_signal(signal: c_int) {
    // SAFETY: what is called here may be called in a handler, `errno` is put back, and the
    // semaphore is never destroyed.
    unsafe {
        let errno = *libc::__errno_location();
        let index = SIGNALS.iter().position(|each| *each == signal);
        let semaphore = SEMAPHORE.load(Ordering::Acquire);
        match index {
            Some(index) if libc::getpid() as u32 == OWNER.load(Ordering::Relaxed) => {
                CAME.fetch_or(1 << index, Ordering::Relaxed);
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

fn ours() -> libc::sigaction {
    // SAFETY: all zeros is a valid `sigaction`; the call only fills its mask.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        // The program's system calls go on as if nothing had come.
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        action
    }
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == on_signal as *const () as usize
}

/// Gives what a signal does, and sets it if `new` is given.
fn exchange(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    // SAFETY: both structs live here; the new one is ours, or one that the system gave us.
    unsafe {
        let mut current: libc::sigaction = mem::zeroed();
        let new = new.map_or(ptr::null(), ptr::from_ref);
        (libc::sigaction(signal, new, &mut current) == 0).then_some(current)
    }
}

fn new_semaphore() -> io::Result<*mut libc::sem_t> {
    // SAFETY: the memory is never freed, and all zeros is what `sem_init` may be given.
    unsafe {
        let semaphore = Box::into_raw(Box::new(mem::zeroed::<libc::sem_t>()));
        match libc::sem_init(semaphore, 0, 0) {
            0 => Ok(semaphore),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Waits for the handler.
fn wait() {
    let semaphore = SEMAPHORE.load(Ordering::Acquire);
    // SAFETY: it was initialised before the thread that waits was started.
    while unsafe { libc::sem_wait(semaphore) } != 0 {}
}
