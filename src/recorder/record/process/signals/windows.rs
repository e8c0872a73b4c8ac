//! Finishes the recordings before an event of the console ends the process: Ctrl-C, Ctrl-Break, or the
//! end of the console.
//!
//! Windows calls the handlers of a process on a thread of its own, the last one first. This handler
//! passes each event on, so the event takes its normal course: libuv calls the program's listeners of
//! SIGINT, SIGBREAK or SIGHUP, or Windows ends the process. Which of both is not known here. If the program
//! listens and goes on, its next samples replace the end of the trace.
//!
//! `process.kill()` and `TerminateProcess` end a process at once, and call no handler.
#![allow(unsafe_code)]

use std::io;
use std::panic::catch_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Foundation::{FALSE, TRUE};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::start::StartSignal;

/// The events that end a process by default, with the names that Node gives them.
const EVENTS: [(u32, &str); 3] =
    [(CTRL_C_EVENT, "SIGINT"), (CTRL_BREAK_EVENT, "SIGBREAK"), (CTRL_CLOSE_EVENT, "SIGHUP")];

/// The event that is being handled: its index in `EVENTS`, counted from 1.
static PENDING: AtomicU32 = AtomicU32::new(0);
static FINISH_ALL: OnceLock<fn()> = OnceLock::new();

/// Installs the handler, once per process. The handler calls `finish_all`.
pub(in crate::record) fn watch(finish_all: fn()) -> Result<(), Error> {
    static IS_WATCHING: OnceLock<bool> = OnceLock::new();
    FINISH_ALL.get_or_init(|| finish_all);
    // SAFETY: may be called on any thread. The addon is never unloaded, so the function stays.
    let is_watching = *IS_WATCHING
        .get_or_init(|| unsafe { SetConsoleCtrlHandler(Some(on_event), TRUE) != FALSE });
    if is_watching {
        return Ok(());
    }
    Err(Error::Unavailable("the handler of console events could not be installed".into()))
}

/// Does nothing: the handler stays before those of the program.
pub(crate) fn arm() {}

/// Does nothing: Windows has no such signals, and the setting refuses them.
pub(in crate::record) fn listen(
    _: &[StartSignal],
    _: impl Fn(StartSignal) + Send + 'static,
) -> io::Result<Vec<StartSignal>> {
    Ok(Vec::new())
}

/// Returns whether an event has come that most likely ends the process.
pub(crate) fn is_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// Returns the name of an event that has come and most likely ends the process.
pub(in crate::record) fn pending_name() -> Option<&'static str> {
    let index = PENDING.load(Ordering::Relaxed).checked_sub(1)?;
    EVENTS.get(index as usize).map(|(_, name)| *name)
}

/// Handles an event, and passes the event on.
unsafe extern "system" fn on_event(event: u32) -> BOOL {
    if let Some(index) = EVENTS.iter().position(|(each, _)| *each == event) {
        PENDING.store(index as u32 + 1, Ordering::Relaxed);
        // Unwinding into the system would end the process in another way.
        let _ = catch_unwind(|| {
            if let Some(finish_all) = FINISH_ALL.get() {
                finish_all();
            }
        });
        // The program may listen, and go on.
        PENDING.store(0, Ordering::Relaxed);
    }
    FALSE
}
