//! How the process is about to end, once it is.

use parking_lot::Mutex;

use cpu_prof_core::profile::ending::ProcessEnding;

static ENDING: Mutex<Option<ProcessEnding>> = Mutex::new(None);

/// Notes how the process is about to end; none if it goes on.
pub(crate) fn note(ending: Option<ProcessEnding>) {
    *ENDING.lock() = ending;
}

/// Notes that the process goes on after a signal that seemed to end it.
pub(crate) fn note_survival() {
    ENDING.lock().take_if(|ending| ending.signal.is_some());
}

/// Returns how the process is about to end, if it is.
pub(crate) fn pending_exit() -> ProcessEnding {
    ENDING.lock().clone().unwrap_or_default()
}
