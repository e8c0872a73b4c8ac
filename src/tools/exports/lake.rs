//! The function that JavaScript calls to make the tables of a run for a lake.
#![allow(unsafe_code)] // napi's macros write it.

use std::path::PathBuf;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::tools::{JsSelection, Work};
use crate::lake::tables::lake_tables as write_tables;
use crate::read::selection::Selection;

/// Reads files and folders, and writes the tables of their run into a folder. `facts` is JSON: what the user
/// knows about the run. Returns a `LakeTables`.
#[napi(js_name = "cpuProfLakeTables", catch_unwind)]
pub(crate) fn lake_tables(
    inputs: Vec<String>,
    facts: String,
    folder: String,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || {
        let inputs: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
        let tables = write_tables(&inputs, &facts, folder.as_ref(), &selection)?;
        serde_json::to_string(&tables).map_err(|error| error.to_string())
    })
}
