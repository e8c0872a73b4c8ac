//! The sampling signal: a function around V8's handler, and timers of our own that send the signal.
//!
//! V8 sets its handler when the first profile of the process starts, and puts the handler from before back when the
//! last one stops. So a function around V8's handler is set after a start, and V8 removes it with its own handler.
//!
//! Timers of our own need a handler for as long as the process lives: a signal that is on its way would end a process
//! without one. So it is set before V8's, which then puts ours back; where V8's handler is there already, V8 would
//! put back none, and there are no timers.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use parking_lot::Mutex;

pub use super::mapped_file::read_memory;
use super::stopped_thread::StoppedThread;
use super::thread_id;
use super::timer::{NO_TIME, Timer, time};

/// Whether this system lets a function run around V8's handler. With musl this was never tried.
pub const IS_AVAILABLE: bool = !cfg!(target_env = "musl") && mem::size_of::<usize>() == 8;

/// Whether this system can have timers of our own that send the signal. On other processors this was never tried.
pub const HAS_TIMERS: bool = IS_AVAILABLE && cfg!(target_arch = "x86_64");

/// A function that runs in the signal handler. It gets V8's handler, which it calls; none if the signal is of a timer
/// of our own.
pub type Around = fn(v8: Option<&dyn Fn()>, thread: StoppedThread);

type SignalHandler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

static AROUND: OnceLock<Around> = OnceLock::new();
/// Address of V8's handler, which is one function for the life of the process; or of the handler that was there before
/// ours.
static OTHER_HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
/// The number of our timers: no other has the address.
static TIMER: u8 = 0;
static CHANGING: Mutex<()> = Mutex::new(());

/// Lets `around` run for each sampling signal, if V8's own handler is set now. `of_v8` is the address of any
/// function of V8. Returns whether `around` runs.
///
/// A handler of others is left alone: it may call ours, which would then call itself.
pub fn wrap(of_v8: usize, around: Around) -> bool {
    if !IS_AVAILABLE {
        return false;
    }
    let _changing = CHANGING.lock();
    let Some(action) = action() else { return false };
    let handler = action.sa_sigaction;
    if is_ours(handler) {
        return true;
    }
    let takes_info = action.sa_flags & libc::SA_SIGINFO != 0;
    let is_v8 = || handler == OTHER_HANDLER.load(Ordering::Relaxed) || is_in_image(handler, of_v8);
    takes_info && handler > libc::SIG_IGN && is_v8() && set(action, around)
}

/// Lets `around` run for the signals of our timers, for as long as the process lives. Returns false if somebody else
/// uses the signal. `of_v8` is the address of any function of V8, whose handler comes and goes.
fn take(of_v8: usize, around: Around) -> bool {
    if !HAS_TIMERS {
        return false;
    }
    let _changing = CHANGING.lock();
    let Some(mut action) = action() else { return false };
    let handler = action.sa_sigaction;
    if is_ours(handler) {
        // It was set around V8's handler if that is known: V8 will take both away.
        return IS_KEPT.load(Ordering::Relaxed) != 0;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        let is_set = set(action, around);
        IS_KEPT.store(usize::from(is_set), Ordering::Relaxed);
        return is_set;
    }
    // V8's handler, above ours.
    IS_KEPT.load(Ordering::Relaxed) != 0 && is_in_image(handler, of_v8) && set(action, around)
}

/// Whether our handler is there when V8's has gone: 1, or 0.
static IS_KEPT: AtomicUsize = AtomicUsize::new(0);

fn is_ours(handler: usize) -> bool {
    handler == on_signal as *const () as usize
}

/// Returns what is done with the signal.
fn action() -> Option<libc::sigaction> {
    // SAFETY: any thread may read an action. The call fills it, or fails.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        (libc::sigaction(libc::SIGPROF, ptr::null(), &mut action) == 0).then_some(action)
    }
}

/// Puts our handler in the place of an action's.
fn set(mut action: libc::sigaction, around: Around) -> bool {
    AROUND.get_or_init(|| around);
    OTHER_HANDLER.store(action.sa_sigaction, Ordering::Release);
    action.sa_sigaction = on_signal as *const () as usize;
    // SAFETY: any thread may change an action. The handler is never unloaded, and calls the one from before.
    unsafe { libc::sigaction(libc::SIGPROF, &action, ptr::null_mut()) == 0 }
}

/// Returns whether two addresses are in one file in memory.
fn is_in_image(address: usize, other: usize) -> bool {
    let image = |address: usize| {
        // SAFETY: all zeros are a valid struct, which the call fills, or fails. The address is not read.
        unsafe {
            let mut info: libc::Dl_info = mem::zeroed();
            let is_found = libc::dladdr(address as *const c_void, &mut info) != 0;
            is_found.then_some(info.dli_fbase)
        }
    };
    let found = image(address);
    found.is_some() && found == image(other)
}

/// Handles a sampling signal. All that is called here is allowed in a signal handler.
extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives the struct, which is there while the handler runs.
    let (code, number) = unsafe { ((*info).si_code, (*info).si_value().sival_ptr.addr()) };
    let is_own = code == libc::SI_TIMER && number == &raw const TIMER as usize;
    let other = || pass_on(signal, info, context);
    let Some(around) = AROUND.get() else {
        if !is_own {
            other();
        }
        return;
    };
    let errno = super::errno_location();
    // SAFETY: the place is the thread's own.
    let saved = unsafe { *errno };
    // SAFETY: the argument is that of this handler.
    let thread = unsafe { StoppedThread::new(context) };
    around(if is_own { None } else { Some(&other) }, thread);
    // SAFETY: the same.
    unsafe { *errno = saved };
}

/// Does with a signal what would be done without our handler.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    match OTHER_HANDLER.load(Ordering::Acquire) {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // SAFETY: the signal is blocked in its handler, and ends the process after it, as without us.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        handler => {
            // SAFETY: the address was that of a handler. One that takes the signal alone ignores the rest.
            let handler = unsafe { mem::transmute::<usize, SignalHandler>(handler) };
            handler(signal, info, context);
        }
    }
}

/// A timer that sends the sampling signal to the thread that created it, by wall time. It ends with this value.
#[derive(Debug)]
pub struct SamplingTimer {
    timer: Timer,
    interval_us: u32,
    /// The interval now.
    slowed_us: AtomicU32,
}

/// The shortest interval: the handler takes a tenth of it.
const MIN_US: u32 = 50;
/// The longest interval that a timer is slowed down to.
const MAX_US: u32 = 1_000_000;

impl SamplingTimer {
    /// Creates a timer of the calling thread, which does not run yet. `around` runs with each signal. `of_v8` is the
    /// address of any function of V8.
    pub fn of_this_thread(of_v8: usize, interval_us: u32, around: Around) -> io::Result<Self> {
        if !take(of_v8, around) {
            return Err(io::Error::other("another profiler uses the sampling signal"));
        }
        let thread = thread_id().ok_or(io::ErrorKind::Unsupported)?;
        let number = &raw const TIMER as usize;
        let timer = Timer::new(libc::CLOCK_MONOTONIC, thread, libc::SIGPROF, number)?;
        let interval_us = interval_us.max(MIN_US);
        Ok(Self { timer, interval_us, slowed_us: AtomicU32::new(interval_us) })
    }

    /// Lets the timer run.
    pub fn start(&self) -> io::Result<()> {
        self.slowed_us.store(self.interval_us, Ordering::Relaxed);
        self.timer.set(time(self.interval_us), time(self.interval_us))
    }

    /// Doubles the interval until the next start. May be called in the signal handler.
    pub fn slow_down(&self) {
        let slowed_us = self.slowed_us.load(Ordering::Relaxed).saturating_mul(2).min(MAX_US);
        self.slowed_us.store(slowed_us, Ordering::Relaxed);
        // A timer that is there can be set.
        let _ = self.timer.set(time(slowed_us), time(slowed_us));
    }

    /// Lets the timer stand still.
    pub fn pause(&self) {
        // A timer that is there can be stopped.
        let _ = self.timer.set(NO_TIME, NO_TIME);
    }
}

/// Returns a number that only the calling thread has. May be called in a signal handler, where memory of
/// the thread's own may not be there yet.
pub fn thread_number() -> usize {
    // SAFETY: may be called on any thread, and in a signal handler.
    unsafe { libc::pthread_self() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_that_is_not_of_v8_is_left_alone() {
        extern "C" fn other(_: c_int) {}
        let address = other as extern "C" fn(c_int) as *const () as usize;
        // SAFETY: the handler does nothing, and no other test uses the signal.
        let action = || unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            libc::sigaction(libc::SIGPROF, ptr::null(), &mut action);
            action.sa_sigaction
        };
        fn around(other: Option<&dyn Fn()>, _: StoppedThread) {
            other.into_iter().for_each(|other| other());
        }
        let of_v8 = libc::getpid as *const () as usize;
        assert!(!wrap(of_v8, around));
        assert_eq!(action(), libc::SIG_DFL);
        // SAFETY: the same.
        unsafe { libc::signal(libc::SIGPROF, address) };
        assert!(!wrap(of_v8, around));
        assert!(SamplingTimer::of_this_thread(of_v8, 1000, around).is_err());
        assert_eq!(action(), address);
    }
}
