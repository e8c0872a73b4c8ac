//! The settings of this process: of its `cpu-prof run`, and of its environment.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::config::{Config, SETTINGS};
use super::push;
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
    Config::read(option, variable, &cwd, exec_argv)
}

fn variable(name: &str) -> Option<OsString> {
    run().variable(name).or_else(|| std::env::var_os(name))
}

/// What settings are read from, as it was at one moment. Another thread can read the settings from it:
/// the environment itself changes while the program runs, without a lock.
#[derive(Debug)]
pub struct GivenSettings {
    options: HashMap<String, String>,
    variables: HashMap<&'static str, OsString>,
    cwd: PathBuf,
    exec_argv: Vec<String>,
}

impl GivenSettings {
    /// Returns what is given now. `options` are those in code.
    pub fn now(options: HashMap<String, String>, exec_argv: &[String]) -> Self {
        let names = SETTINGS.iter().filter_map(|setting| setting.variable).chain([
            "NODE_OPTIONS",
            push::ADDRESS,
            push::EVERY,
        ]);
        Self {
            options,
            variables: names.filter_map(|name| Some((name, variable(name)?))).collect(),
            cwd: std::env::current_dir().unwrap_or_default(),
            exec_argv: exec_argv.to_vec(),
        }
    }

    /// Reads the settings. `more` are options that take precedence over all.
    pub fn read_with(&self, more: &HashMap<String, String>) -> Result<Config, Error> {
        Config::read(
            |name| more.get(name).or_else(|| self.options.get(name)).cloned(),
            |name| self.variables.get(name).cloned(),
            &self.cwd,
            &self.exec_argv,
        )
    }
}
