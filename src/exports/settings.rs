//! What JavaScript asks about settings, without recording anything.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;

use napi_derive::napi;

use crate::base::name_pattern::NamePattern;
use crate::record::process::read_config;

/// Returns one sentence on what is wrong with settings for other processes, or nothing. `options`
/// override the environment; their values are text.
#[napi(js_name = "cpuProfCheckSettings", catch_unwind)]
pub(crate) fn check_settings(options: HashMap<String, String>) -> Option<String> {
    read_config(|name| options.get(name).cloned(), &[]).err().map(|error| error.to_string())
}

/// Returns whether a recording with the name `pattern` may be written to `path`, which has an
/// extension. Both count from the same folder. An invalid pattern names no file.
#[napi(js_name = "cpuProfIsRecordingName", catch_unwind)]
pub(crate) fn is_recording_name(pattern: String, path: String) -> bool {
    NamePattern::parse(&pattern).is_ok_and(|pattern| pattern.matches(&path))
}
