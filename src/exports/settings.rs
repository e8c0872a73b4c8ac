//! Settings, checked without recording anything.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;

use napi_derive::napi;

use crate::record::process::read_config;

/// What is wrong with settings that are to be given to other processes: one sentence, or nothing.
/// `options` go before the environment; their values are written as text.
#[napi(catch_unwind)]
pub(crate) fn check_settings(options: HashMap<String, String>) -> Option<String> {
    read_config(|name| options.get(name).cloned()).err().map(|error| error.to_string())
}
