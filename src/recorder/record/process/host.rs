//! Things that exist once per process: its program, its writer thread, its sequence number.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::{FixedOffset, Offset, Utc};
use napi::bindgen_prelude::retain_current_module_for_unload_safety;

use super::{push, signals};
use crate::record::link::pending_exit;
use crate::record::writer::handle::Writer;
use crate::sampler::v8::Callback;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::name_pattern::{FileNames, NameFields};
use cpu_prof_core::base::system;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::program::Program;

/// The process, as its first recording found it.
pub(crate) struct HostProcess {
    /// Program of the thread that was recorded first: the main thread, if it is recorded.
    pub program: Program,
    /// Offset of local time, looked up once: a worker can change the environment that names the
    /// zone.
    time_zone: FixedOffset,
    /// Handle of the writer thread.
    pub writer: Writer,
}

static PROCESS: OnceLock<HostProcess> = OnceLock::new();

impl HostProcess {
    /// Returns the process. The first call starts its threads. `rotate` takes a window; it runs on
    /// each recorded thread. With `push_slice`, slices of this length are sent to a server.
    pub(crate) fn get_or_start(
        program: impl FnOnce() -> Program,
        rotate: Callback,
        push_slice: Option<Duration>,
    ) -> Result<&'static Self, Error> {
        if let Some(process) = PROCESS.get() {
            return Ok(process);
        }
        // Node unloads an addon that only workers loaded when the last of them ends. The threads
        // started here would then run unloaded code.
        retain_current_module_for_unload_safety();
        system::note_recording_process();
        let writer = Writer::start(rotate).map_err(|error| {
            Error::Unavailable(format!("the writer thread could not be started: {error}"))
        })?;
        signals::watch(finish_all)?;
        if let Some(slice) = push_slice {
            push::start(slice);
        }
        let time_zone = FixedOffset::east_opt(system::utc_offset_s()).unwrap_or(Utc.fix());
        let process = Self { program: program(), time_zone, writer };
        // Two threads can get here at once. The writer thread of the second one ends when its queue
        // is dropped.
        Ok(PROCESS.get_or_init(|| process))
    }

    /// Returns the process, if a thread of it is or was recorded.
    pub(crate) fn get() -> Option<&'static Self> {
        PROCESS.get()
    }

    /// Returns the file names for a recording that starts now.
    pub(crate) fn file_names(&self, config: &Config, thread_id: u32) -> FileNames {
        let fields = NameFields {
            started: Utc::now().with_timezone(&self.time_zone),
            pid: self.program.pid,
            thread_id,
            sequence: next_sequence(),
            label: config.label.clone().unwrap_or_default(),
        };
        FileNames::new(config.name.clone(), fields, next_sequence)
    }
}

/// Returns the next `%N`, which counts the recordings of all threads from 1.
fn next_sequence() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Finishes all files before a signal ends the process. Returns within a quarter of a second.
fn finish_all() {
    const TIMEOUT: Duration = Duration::from_millis(250);
    if let Some(process) = PROCESS.get() {
        pending_exit::note(signals::pending_name().map(ProcessEnding::of_signal));
        process.writer.finish_all(TIMEOUT);
    }
}
