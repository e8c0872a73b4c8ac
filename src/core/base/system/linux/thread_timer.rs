//! Timers that signal a thread of this process each time that the thread has used so much CPU time.
//!
//! The clock of such a timer stands still while the thread waits, so the signal ends no waiting call of the
//! thread. The signal is one of those that have no meaning of their own, and its handler stays for the life of
//! the process: a signal that is on its way would end a process without one.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use parking_lot::Mutex;

use super::stopped_thread::StoppedThread;
use super::threads::{blocked_signals, thread_clock, thread_id};
use super::timer::{NO_TIME, Timer, time};
use crate::base::system::posix::{clock_us, with_signals_blocked};

/// The first of the signals that are tried is so many after the first that programs may use: programs take the
/// first ones, if any.
const FIRST_SIGNAL: c_int = 5;

/// Number of the timers of [`check`]: the handler knows no such timer.
const CHECK: usize = usize::MAX;
/// How often [`check`] waits for a tenth of a second.
const CHECK_WAITS: u32 = 20;

/// A function that runs in the signal handler. It gets the number of the timer.
pub type OnTick = fn(number: usize, thread: StoppedThread);

static ON_TICK: OnceLock<OnTick> = OnceLock::new();
/// The signal, 0 before a handler is set.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Lets `on_tick` run on the thread of a timer with each tick. Takes a signal that nobody uses.
pub fn set_handler(on_tick: OnTick) -> io::Result<()> {
    static CHANGING: Mutex<()> = Mutex::new(());
    let _changing = CHANGING.lock();
    if is_handler_set() {
        return Ok(());
    }
    ON_TICK.get_or_init(|| on_tick);
    let (first, last) = (libc::SIGRTMIN() + FIRST_SIGNAL, libc::SIGRTMAX());
    let free = (first..=last).find(|signal| action_of(*signal) == Some(libc::SIG_DFL));
    let signal = free.ok_or_else(|| io::Error::other("the program uses all signals"))?;
    // SAFETY: all zeros are a valid struct. The handler is never unloaded, and nobody else uses the signal.
    let status = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        libc::sigaction(signal, &action, ptr::null_mut())
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    SIGNAL.store(signal, Ordering::Release);
    Ok(())
}

/// Returns whether the handler is set, and nobody has put another in its place.
pub fn is_handler_set() -> bool {
    let signal = SIGNAL.load(Ordering::Acquire);
    signal != 0 && action_of(signal) == Some(on_signal as *const () as usize)
}

fn action_of(signal: c_int) -> Option<usize> {
    // SAFETY: any thread may read an action. The call fills it, or fails.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        let status = libc::sigaction(signal, ptr::null(), &mut action);
        (status == 0).then_some(action.sa_sigaction)
    }
}

/// Returns whether a thread of this process blocks the signal; none once the thread has ended. Such a thread can
/// take its signals itself, by `sigtimedwait` or `signalfd`, and then gets those that are not its own.
pub fn is_blocked(thread: u32) -> Option<bool> {
    let blocked = blocked_signals(thread)?;
    let signal = u32::try_from(SIGNAL.load(Ordering::Acquire)).ok()?;
    // The first bit is of signal 1.
    Some(signal > 0 && blocked.checked_shr(signal - 1).unwrap_or(0) & 1 == 1)
}

/// Handles a tick. All that is called here is allowed in a signal handler.
extern "C" fn on_signal(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives both, and they are there while the handler runs.
    let (code, number) = unsafe { ((*info).si_code, (*info).si_value().sival_ptr as usize) };
    // The same signal of others has no number.
    if code != libc::SI_TIMER {
        return;
    }
    let errno = super::errno_location();
    // SAFETY: the place is the thread's own.
    let saved = unsafe { *errno };
    if let Some(on_tick) = ON_TICK.get() {
        // SAFETY: the argument is that of this handler.
        on_tick(number, unsafe { StoppedThread::new(context) });
    }
    // SAFETY: the same.
    unsafe { *errno = saved };
}

/// A timer. It ends with this value.
#[derive(Debug)]
pub struct ThreadTimer(#[expect(dead_code, reason = "the timer ends with it")] Timer);

impl ThreadTimer {
    /// Starts a timer for a thread, which ticks each time that the thread has used so much CPU time. The kernel
    /// looks at the clock in steps of a millisecond or more. The handler gets `number`.
    pub fn start(thread: u32, interval_us: u32, number: usize) -> io::Result<Self> {
        let clock = thread_clock(thread).ok_or(io::ErrorKind::InvalidInput)?;
        Self::start_by(clock, thread, [time(interval_us); 2], number)
    }

    fn start_by(
        clock: libc::clockid_t,
        thread: u32,
        [first, interval]: [libc::timespec; 2],
        number: usize,
    ) -> io::Result<Self> {
        let signal = SIGNAL.load(Ordering::Acquire);
        if signal == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let timer = Timer::new(clock, thread, signal, number)?;
        timer.set(first, interval)?;
        Ok(Self(timer))
    }
}

/// Checks that the system has such timers, and that the signal of a timer reaches the calling thread. A sandbox
/// can forbid the calls, or not send the signal. The check uses no CPU time: its second timer goes by wall time,
/// which is allowed on a thread of ours. Returns within two seconds.
pub fn check() -> io::Result<()> {
    let own = thread_id().ok_or(io::ErrorKind::Unsupported)?;
    drop(ThreadTimer::start(own, 1_000_000, CHECK)?);
    // A blocked signal waits to be taken, and runs no handler.
    with_signals_blocked(|| {
        let soon = libc::timespec { tv_sec: 0, tv_nsec: 1 };
        let _timer = ThreadTimer::start_by(libc::CLOCK_MONOTONIC, own, [soon, NO_TIME], CHECK)?;
        match (0..CHECK_WAITS).any(|_| takes_tick()) {
            true => Ok(()),
            false => Err(io::Error::other("no signal of a timer came within two seconds")),
        }
    })
}

/// Waits up to a tenth of a second for a tick of [`check`] on the calling thread, which blocks the signal. Returns
/// whether one came.
fn takes_tick() -> bool {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    // SAFETY: all zeros are valid structs, which live on this stack.
    unsafe {
        let mut signals: libc::sigset_t = mem::zeroed();
        let mut info: libc::siginfo_t = mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, SIGNAL.load(Ordering::Acquire));
        let signal = libc::sigtimedwait(&signals, &mut info, &pause);
        signal > 0 && info.si_code == libc::SI_TIMER && info.si_value().sival_ptr.addr() == CHECK
    }
}

/// Returns the CPU time of the calling thread, microseconds. May be called in a signal handler.
pub fn own_cpu_us() -> i64 {
    clock_us(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU32, AtomicUsize};
    use std::time::{Duration, Instant};

    static TICKS: AtomicUsize = AtomicUsize::new(0);
    static THREAD: AtomicU32 = AtomicU32::new(0);

    #[test]
    #[cfg_attr(target_env = "musl", ignore = "with musl there are no such timers")]
    fn a_thread_that_works_gets_ticks_until_the_timer_ends() {
        fn on_tick(number: usize, thread: StoppedThread) {
            black_box(thread.registers());
            THREAD.store(thread_id().unwrap_or(0), Ordering::Relaxed);
            TICKS.fetch_add(usize::from(number == 7), Ordering::Relaxed);
        }
        assert!(!is_handler_set());
        assert!(check().is_err());
        set_handler(on_tick).unwrap();
        set_handler(on_tick).unwrap();
        assert!(is_handler_set());
        check().unwrap();
        assert_eq!(THREAD.load(Ordering::Relaxed), 0, "the check runs no handler");
        let own = thread_id().unwrap();
        let timer = ThreadTimer::start(own, 1000, 7).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while TICKS.load(Ordering::Relaxed) < 3 {
            assert!(Instant::now() < end);
        }
        assert_eq!(THREAD.load(Ordering::Relaxed), own);
        assert_eq!(is_blocked(own), Some(false));
        assert_eq!(with_signals_blocked(|| is_blocked(own)), Some(true));
        assert_eq!(is_blocked(u32::MAX), None);
        drop(timer);
        let ticks = TICKS.load(Ordering::Relaxed);
        let cpu_us = own_cpu_us();
        while own_cpu_us() < cpu_us + 20_000 {
            black_box(0);
        }
        assert_eq!(TICKS.load(Ordering::Relaxed), ticks);
        assert!(ThreadTimer::start(u32::MAX, 1000, 7).is_err());
    }
}
