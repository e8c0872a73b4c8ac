//! Recordings that cover their workers: the workers record too, and stop with the recording.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::Mutex;

use super::recording::{RECORDING, ThreadRecording};
pub(crate) use crate::record::link::javascript_threads::note_started_worker;
use crate::sampler::v8::{WorkerFunction, offer_to_workers};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::values::Source;

/// Settings of the recordings that cover their workers, by the recordings' ids.
static COVERING: Mutex<BTreeMap<u32, Config>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread's environment offers its workers the function that records them.
    static HAS_OFFERED: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread's recording cover its workers from now on. `record` records a worker. Returns the
/// recording's id, by which the workers name it, and the name of the binding with the function that
/// records a worker; no name where JavaScript records it.
pub(crate) fn cover_workers(
    record: WorkerFunction,
) -> Result<Option<(u32, Option<&'static str>)>, Error> {
    RECORDING.with_borrow(|recording| {
        let Some(recording) = recording else { return Ok(None) };
        let binding = if recording.sampler.borrow().source() != Source::Inspector {
            Some(offer(record)?)
        } else {
            None
        };
        let id = recording.thread.link.id;
        COVERING.lock().insert(id, recording.config.clone());
        Ok(Some((id, binding)))
    })
}

/// Offers a function to the workers of this thread. Returns the name of its binding.
fn offer(record: WorkerFunction) -> Result<&'static str, Error> {
    static NAME: OnceLock<CString> = OnceLock::new();
    // Another copy of the addon in this process has a binding of its own.
    let name =
        NAME.get_or_init(|| CString::new(format!("cpu-prof-{:p}", &COVERING)).unwrap_or_default());
    if !HAS_OFFERED.get() {
        offer_to_workers(name, record)?;
        HAS_OFFERED.set(true);
    }
    Ok(name.to_str().unwrap_or_default())
}

/// Returns the settings of a recording that covers its workers, as long as it runs.
pub(crate) fn covering_config(recording: u32) -> Option<Config> {
    COVERING.lock().get(&recording).cloned()
}

/// Ends the coverage of a recording's workers, and waits until those that respond have stopped.
pub(super) fn stop_workers(recording: &ThreadRecording) {
    const TIMEOUT: Duration = Duration::from_millis(250);
    let id = recording.thread.link.id;
    if COVERING.lock().remove(&id).is_some() {
        recording.process.writer.stop_workers(id, TIMEOUT);
    }
}
