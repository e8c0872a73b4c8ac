//! Questions of JavaScript about settings, answered without recording anything.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;

use napi_derive::napi;

use crate::base::name_pattern::NamePattern;
use crate::base::run_folder;
use crate::base::system;
use crate::record::process::read_config;

/// Returns one sentence on what is wrong with settings for other processes, or nothing. `options`
/// override the environment; their values are text.
#[napi(js_name = "cpuProfCheckSettings", catch_unwind)]
pub(crate) fn check_settings(options: HashMap<String, String>) -> Option<String> {
    read_config(|name| options.get(name).cloned(), &[]).err().map(|error| error.to_string())
}

/// Lets the programs that this process starts inherit these open files, under the same numbers.
#[napi(js_name = "cpuProfPassOn", catch_unwind)]
pub(crate) fn pass_on(files: Vec<i32>) {
    files.into_iter().for_each(system::pass_on);
}

/// Returns the folder of the `cpu-prof run` that `node_options`, the text of `NODE_OPTIONS`, belongs
/// to.
#[napi(js_name = "cpuProfRunFolder", catch_unwind)]
pub(crate) fn run_folder(node_options: String) -> Option<String> {
    run_folder::folder(&node_options).map(|folder| folder.to_string_lossy().into_owned())
}

/// Returns whether a recording with the name `pattern` may be written to `path`, which has an
/// extension. Both count from the same folder. An invalid pattern names no file.
#[napi(js_name = "cpuProfIsRecordingName", catch_unwind)]
pub(crate) fn is_recording_name(pattern: String, path: String) -> bool {
    NamePattern::parse(&pattern).is_ok_and(|pattern| pattern.matches(&path))
}
