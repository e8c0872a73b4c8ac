//! Sends the recordings of this process to a server: a thread that calls the library of the package
//! @org/cpu-prof-fleet.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use crate::record::link::growing_traces;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::push_request::{FUNCTION, PushRequest};
use cpu_prof_core::base::settings::push::PREFIX;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::loaded_library::LibraryFunction;

/// The shortest time between two calls.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// The library, or why there is none.
static LIBRARY: Mutex<Result<PathBuf, String>> = Mutex::new(Err(String::new()));

/// Sets where the library is, or why there is none.
pub(crate) fn set_library(library: Result<PathBuf, String>) {
    *LIBRARY.lock() = library;
}

/// Starts the thread, which sends slices of this length. The program goes on if there can be no thread.
pub(super) fn start(slice: Duration) {
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    // Two threads can begin to record at once.
    if IS_STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    growing_traces::begin();
    // The environment can change while the program runs, so it is read now.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .collect();
    if let Err(error) = start_thread(slice, variables) {
        warn_once(&Error::Push(format!("a thread could not be started: {error}")));
    }
}

fn start_thread(slice: Duration, variables: HashMap<String, String>) -> io::Result<()> {
    system::with_signals_blocked(|| {
        thread::Builder::new().name("cpu-prof-push".into()).spawn(move || {
            // Most processes of a build end before, and never load the library.
            thread::sleep(slice);
            if let Err(reason) = run(slice, variables) {
                warn_once(&Error::Push(reason));
            }
        })
    })?;
    Ok(())
}

/// Sends until that is in vain. Returns the reason if nothing could be sent.
fn run(slice: Duration, variables: HashMap<String, String>) -> Result<(), String> {
    let library = LIBRARY.lock().clone()?;
    let function = LibraryFunction::load(&library, FUNCTION)
        .map_err(|error| format!("{error}; install @org/cpu-prof-fleet again"))?;
    let mut request = PushRequest {
        version: env!("CARGO_PKG_VERSION").into(),
        variables,
        slice_ms: slice.as_millis() as u64,
        files: Vec::new(),
    };
    loop {
        let paths = growing_traces::paths();
        request.files = paths.iter().filter_map(|path| Some(path.to_str()?.to_owned())).collect();
        let text = serde_json::to_vec(&request).map_err(|error| error.to_string())?;
        // A negative number tells that the reason is on stderr.
        let Ok(wait_ms) = u64::try_from(function.call(&text)) else { return Ok(()) };
        thread::sleep(Duration::from_millis(wait_ms).max(SHORTEST_WAIT));
    }
}
