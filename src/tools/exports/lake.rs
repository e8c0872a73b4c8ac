//! Functions that JavaScript calls to make the tables of a run for a lake, and to work with a lake. The work runs on other threads; requests and answers
//! are JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::selection::JsSelection;
use super::work::{Work, error_for_user, json, paths};
use crate::lake::tables::lake_tables as write_tables;
use crate::read::selection::Selection;
use cpu_prof_fleet::lake::handle::Lake;
use cpu_prof_fleet::lake::wait::wait_for;
use cpu_prof_fleet::store::failure::LakeError;

/// Reads the address of a lake, `variables` are those of an object store: `AWS_…`. Nothing is opened.
#[napi(js_name = "cpuProfLakeOpen", catch_unwind)]
pub(crate) fn open(
    lake: String,
    variables: HashMap<String, String>,
) -> Result<External<Arc<Lake>>> {
    let lake = Lake::of(lake, variables.into_iter().collect());
    lake.map(|lake| External::new(Arc::new(lake))).map_err(|error| error_for_user(error.0))
}

/// Returns whether a lake is in an object store.
#[napi(js_name = "cpuProfLakeIsRemote", catch_unwind)]
pub(crate) fn is_remote(lake: &External<Arc<Lake>>) -> bool {
    lake.is_remote()
}

/// Adds a run. Takes an `AddRequest`, and returns an `AddOutcome`.
#[napi(js_name = "cpuProfLakeAdd", catch_unwind)]
pub(crate) fn add(lake: &External<Arc<Lake>>, request: String) -> AsyncTask<Work> {
    task(lake, request, async |lake, request| lake.add(&request).await)
}

/// Tells what is live, and gets the files. Takes a `LiveRequest`, and returns a `LiveAnswer`.
#[napi(js_name = "cpuProfLakeLive", catch_unwind)]
pub(crate) fn live(lake: &External<Arc<Lake>>, request: String) -> AsyncTask<Work> {
    task(lake, request, async |lake, request| lake.live(&request).await)
}

/// Commits a change. Takes a `CommitRequest`, and returns whether no other change has the number.
#[napi(js_name = "cpuProfLakeCommit", catch_unwind)]
pub(crate) fn commit(lake: &External<Arc<Lake>>, request: String) -> AsyncTask<Work> {
    task(lake, request, async |lake, request| lake.commit(&request).await)
}

/// Removes what nobody reads. Takes a `SweepRequest`, and returns the count of removed files.
#[napi(js_name = "cpuProfLakeSweep", catch_unwind)]
pub(crate) fn sweep(lake: &External<Arc<Lake>>, request: String) -> AsyncTask<Work> {
    task(lake, request, async |lake, request| lake.sweep(&request).await)
}

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
        let tables = write_tables(&paths(inputs), &facts, folder.as_ref(), &selection)?;
        json(&tables)
    })
}

/// Reads a request, and runs what it asks for.
fn task<R: DeserializeOwned, A: Serialize>(
    lake: &External<Arc<Lake>>,
    request: String,
    work: impl AsyncFnOnce(&Lake, R) -> std::result::Result<A, LakeError> + Send + 'static,
) -> AsyncTask<Work> {
    let lake = Arc::clone(lake);
    Work::task(move || {
        let request = serde_json::from_str(&request).map_err(|error| error.to_string())?;
        let answer = wait_for(work(&lake, request)).map_err(|error| error.0)?;
        json(&answer)
    })
}
