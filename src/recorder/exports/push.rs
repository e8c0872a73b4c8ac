//! The export that lets a process send its own profiles.
#![allow(unsafe_code)] // napi's macros write it.

use napi_derive::napi;

use crate::record::process::push::set_library;

/// Sets the library that sends profiles, or why there is none. Recordings that start later use it.
#[napi(js_name = "cpuProfPushLibrary", catch_unwind)]
pub(crate) fn push_library(path: Option<String>, why: String) {
    set_library(path.map(Into::into).ok_or(why));
}
