//! A function around V8's handler of the sampling signal.
//!
//! V8 sets its handler when the first profile of the process starts, and puts the handler from before
//! back when the last one stops. So ours is set after a start, and V8 removes ours with its own.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

pub use super::mapped_file::read_memory;
use super::stopped_thread::StoppedThread;

/// Whether this system lets a function run around V8's handler. With musl this was never tried.
pub const IS_AVAILABLE: bool = !cfg!(target_env = "musl") && mem::size_of::<usize>() == 8;

/// A function that runs in the signal handler, and calls V8's handler.
pub type Around = fn(v8: &dyn Fn(), thread: StoppedThread);

type SignalHandler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

static AROUND: OnceLock<Around> = OnceLock::new();
/// Address of V8's handler, which is one function for the life of the process.
static V8_HANDLER: AtomicUsize = AtomicUsize::new(0);

/// Lets `around` run for each sampling signal, if V8's own handler is set now. `of_v8` is the address of any
/// function of V8. Returns whether `around` runs.
///
/// A handler of others is left alone: it may call ours, which would then call itself.
pub fn wrap(of_v8: usize, around: Around) -> bool {
    static CHANGING: Mutex<()> = Mutex::new(());
    if !IS_AVAILABLE {
        return false;
    }
    let _changing = CHANGING.lock();
    // SAFETY: any thread may read and change an action. The new one is V8's own but for the handler, which
    // is never unloaded.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        if libc::sigaction(libc::SIGPROF, ptr::null(), &mut action) != 0 {
            return false;
        }
        let handler = action.sa_sigaction;
        if handler == on_signal as *const () as usize {
            return true;
        }
        let takes_info = action.sa_flags & libc::SA_SIGINFO != 0;
        let is_v8 = || handler == V8_HANDLER.load(Ordering::Relaxed) || is_in_image(handler, of_v8);
        if !takes_info || !is_v8() {
            return false;
        }
        AROUND.get_or_init(|| around);
        V8_HANDLER.store(handler, Ordering::Release);
        action.sa_sigaction = on_signal as *const () as usize;
        libc::sigaction(libc::SIGPROF, &action, ptr::null_mut()) == 0
    }
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
    let v8 = || {
        let handler = V8_HANDLER.load(Ordering::Acquire);
        if handler != 0 {
            // SAFETY: the address was that of a handler with this signature.
            let handler = unsafe { mem::transmute::<usize, SignalHandler>(handler) };
            handler(signal, info, context);
        }
    };
    match AROUND.get() {
        // SAFETY: the argument is that of this handler.
        Some(around) => around(&v8, unsafe { StoppedThread::new(context) }),
        None => v8(),
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
        let of_v8 = libc::getpid as *const () as usize;
        assert!(!wrap(of_v8, |v8, _| v8()));
        assert_eq!(action(), libc::SIG_DFL);
        // SAFETY: the same.
        unsafe { libc::signal(libc::SIGPROF, address) };
        assert!(!wrap(of_v8, |v8, _| v8()));
        assert_eq!(action(), address);
    }
}
