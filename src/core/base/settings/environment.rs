//! The settings of this process: of its `cpu-prof run`, and of its environment.

use std::sync::OnceLock;

use super::config::Config;
use super::run_folder::Run;
use crate::base::error::Error;

/// Returns the settings of all preloaded threads; none if the process belongs to a `cpu-prof run`
/// that is over. They are read when the first thread starts: the program may change its environment
/// and its working directory later. `exec_argv` is the thread's `process.execArgv`.
pub fn preload_config(exec_argv: &[String]) -> Result<Option<&'static Config>, Error> {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Some(config));
    }
    if *run() == Run::Over {
        return Ok(None);
    }
    let config = read_config(|_| None, exec_argv)?;
    Ok(Some(CONFIG.get_or_init(|| config)))
}

/// Returns the `cpu-prof run` that this process belongs to, as it was when the first thread started.
pub fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let node_options = std::env::var_os("NODE_OPTIONS").unwrap_or_default();
        Run::find(&node_options.to_string_lossy())
    })
}

/// Reads the settings as they are now. An option in code takes precedence over the settings of a
/// `cpu-prof run`, and these over the environment.
pub fn read_config(
    option: impl Fn(&str) -> Option<String>,
    exec_argv: &[String],
) -> Result<Config, Error> {
    // Node's `process.cwd()` is text, and a folder's name may be any bytes.
    let cwd = std::env::current_dir().unwrap_or_default();
    let variable = |name: &str| run().variable(name).or_else(|| std::env::var_os(name));
    Config::read(option, variable, &cwd, exec_argv)
}
