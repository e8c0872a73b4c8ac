//! Functions that JavaScript calls to convert files and folders.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_session::formats::registry::FORMATS;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, json, paths};
use cpu_prof_tools::convert::convert as convert_run;
use cpu_prof_tools::read::selection::Selection;

/// Returns the formats that `convert` writes as JSON, a list.
#[napi(js_name = "cpuProfFormats", catch_unwind)]
pub(crate) fn formats() -> String {
    serde_json::to_string(&FORMATS).unwrap_or_default()
}

/// Converts files and folders. Returns a `ConvertResult`.
#[napi(js_name = "cpuProfConvert", catch_unwind)]
pub(crate) fn convert(
    inputs: Vec<String>,
    output: String,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || json(&convert_run::convert(&paths(inputs), output.as_ref(), &selection)?))
}
