//! Timers of the kernel that send a signal to one thread of this process.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::ptr;

/// A timer. It ends with this value.
#[derive(Debug)]
pub(super) struct Timer(c_int);

impl Timer {
    /// Creates a timer that does not run yet. The signal's handler gets `number`. The calls of the C library would
    /// keep memory for each timer.
    pub(super) fn new(
        clock: libc::clockid_t,
        thread: u32,
        signal: c_int,
        number: usize,
    ) -> io::Result<Self> {
        let thread = c_int::try_from(thread).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: all zeros are a valid struct. The kernel reads it, and fills the number of the timer.
        unsafe {
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_value.sival_ptr = ptr::without_provenance_mut(number);
            event.sigev_signo = signal;
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_notify_thread_id = thread;
            let mut timer: c_int = 0;
            match libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut timer) {
                0 => Ok(Self(timer)),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// Lets the timer run for the first time after `first`, and then at each `interval`. Without times it stands
    /// still.
    pub(super) fn set(&self, first: libc::timespec, interval: libc::timespec) -> io::Result<()> {
        let spec = libc::itimerspec { it_interval: interval, it_value: first };
        let none = ptr::null_mut::<libc::itimerspec>();
        // SAFETY: the number is that of a timer of this process. The kernel reads the struct.
        match unsafe { libc::syscall(libc::SYS_timer_settime, self.0, 0, &raw const spec, none) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the number is that of a timer of this process, which nobody else ends.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.0) };
    }
}

/// No time.
pub(super) const NO_TIME: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

/// Returns a time.
pub(super) fn time(us: u32) -> libc::timespec {
    libc::timespec { tv_sec: (us / 1_000_000).into(), tv_nsec: (us % 1_000_000 * 1000).into() }
}
