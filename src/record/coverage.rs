//! Recordings that cover their workers: the workers record too, and stop with the recording.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::state::{RECORDING, ThreadRecording};
use crate::base::config::Config;

/// Settings of the recordings that cover their workers, by the recordings' ids.
static COVERING: Mutex<BTreeMap<u32, Config>> = Mutex::new(BTreeMap::new());

/// Lets this thread's recording cover its workers from now on. Returns the recording's id, by which
/// the workers name it.
pub(crate) fn cover_workers() -> Option<u32> {
    RECORDING.with_borrow(|recording| {
        let recording = recording.as_ref()?;
        COVERING.lock().insert(recording.link.id(), recording.config.clone());
        Some(recording.link.id())
    })
}

/// Returns the settings of a recording that covers its workers, as long as it runs.
pub(crate) fn covering_config(recording: u32) -> Option<Config> {
    COVERING.lock().get(&recording).cloned()
}

/// Ends the coverage of a recording's workers, and waits until those that respond have stopped.
pub(super) fn stop_workers(recording: &ThreadRecording) {
    const TIMEOUT: Duration = Duration::from_millis(250);
    let id = recording.link.id();
    if COVERING.lock().remove(&id).is_some() {
        recording.process.writer.stop_workers(id, TIMEOUT);
    }
}
