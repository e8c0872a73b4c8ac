//! The function that JavaScript calls to check files and folders.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_tools::border::work::{Work, json, paths};
use cpu_prof_tools::check::check as check_run;

/// Checks files and folders. Returns a `Check`.
#[napi(js_name = "cpuProfCheck", catch_unwind)]
pub(crate) fn check(inputs: Vec<String>) -> AsyncTask<Work> {
    Work::task(move || json(&check_run::check(&paths(inputs))))
}
