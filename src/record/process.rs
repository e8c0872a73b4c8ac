//! What there is once in a process: its program, its writer, its settings, its sequence number.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::{FixedOffset, Local};

use crate::base::config::Config;
use crate::base::error::Error;
use crate::profile::program::Program;
use crate::record::signals;
use crate::record::writer::Writer;
use crate::sampler::v8::Callback;

/// The process, as its first recording found it.
pub(crate) struct HostProcess {
    /// Its program: that of the main thread, if it is recorded at all.
    pub program: Program,
    /// Local time, looked up once: the environment that names the zone may change under a worker.
    pub time_zone: FixedOffset,
    /// Its background thread.
    pub writer: Writer,
}

static PROCESS: OnceLock<HostProcess> = OnceLock::new();

impl HostProcess {
    /// The process; on first use its writer is started.
    pub(crate) fn get_or_start(
        program: impl FnOnce() -> Program,
        rotate: Callback,
    ) -> Result<&'static Self, Error> {
        if let Some(process) = PROCESS.get() {
            return Ok(process);
        }
        let writer = Writer::start(rotate).map_err(|error| {
            Error::Unavailable(format!("no thread could be started to write its trace: {error}"))
        })?;
        signals::watch(last_windows)?;
        let process = Self { program: program(), time_zone: *Local::now().offset(), writer };
        // Two threads can be the first; the loser's writer ends when its queue is dropped.
        Ok(PROCESS.get_or_init(|| process))
    }
}

/// `%N`: counts the process's recordings from 1, across its threads.
pub(crate) fn next_sequence() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The settings of all that is recorded from the preload on. They are those of the first thread's
/// start: the program may change its environment and its working directory.
pub(crate) fn preload_config() -> Result<&'static Config, Error> {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config);
    }
    let config = read_config(|_| None)?;
    Ok(CONFIG.get_or_init(|| config))
}

/// The settings as they are now: options in code go before the environment.
pub(crate) fn read_config(option: impl Fn(&str) -> Option<String>) -> Result<Config, Error> {
    // Not the program's, which is text: a directory's name may be any bytes.
    let cwd = std::env::current_dir().unwrap_or_default();
    Config::read(option, |name| std::env::var_os(name), &cwd)
}

/// A signal is about to take the process, after this or a quarter of a second.
fn last_windows() {
    const PATIENCE: Duration = Duration::from_millis(250);
    if let Some(process) = PROCESS.get() {
        process.writer.last_windows(PATIENCE);
    }
}
