//! Functions that JavaScript calls to make the tables of a run for a lake, and to work with a lake. The work runs on other threads; requests and answers
//! are JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tables::tables::lake_tables as write_tables;
use cpu_prof_core::base::settings::length;
use cpu_prof_remote::lake::handle::Lake;
use cpu_prof_remote::lake::wait::wait_for;
use cpu_prof_remote::store::TIME_VARIABLE;
use cpu_prof_remote::store::failure::LakeError;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, error_for_user, json, paths};
use cpu_prof_tools::read::selection::Selection;

/// Reads the address of a lake, `variables` are those of an object store: `AWS_…`. Nothing is opened.
#[napi(js_name = "cpuProfLakeOpen", catch_unwind)]
pub(crate) fn open(
    lake: String,
    variables: HashMap<String, String>,
) -> Result<External<Arc<Lake>>> {
    let lake = Lake::of(lake, variables.into_iter().map(in_seconds).collect());
    lake.map(|lake| External::new(Arc::new(lake))).map_err(error_for_user)
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

/// Writes the length of time that a variable has as the number of seconds that `fleet` reads. Leaves what is not
/// a length: it can be a number already.
fn in_seconds((name, value): (String, String)) -> (String, String) {
    let length =
        Some(&value).filter(|_| name == TIME_VARIABLE).and_then(|value| length::parse(value));
    let seconds = length.map(|length| length.as_secs_f64().to_string());
    (name, seconds.unwrap_or(value))
}

/// Reads a request, and runs what it asks for.
fn task<R: DeserializeOwned, A: Serialize>(
    lake: &External<Arc<Lake>>,
    request: String,
    work: impl AsyncFnOnce(&Lake, R) -> std::result::Result<A, LakeError> + Send + 'static,
) -> AsyncTask<Work> {
    let lake = Arc::clone(lake);
    Work::task(move || {
        let request = serde_json::from_str(&request)?;
        let answer = wait_for(work(&lake, request))?;
        json(&answer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_request_is_a_length_or_a_number_of_seconds() {
        let read = |value: &str| in_seconds((TIME_VARIABLE.into(), value.into())).1;
        for (value, seconds) in [
            ("30s", "30"),
            ("500ms", "0.5"),
            ("1ms", "0.001"),
            ("2m", "120"),
            ("0.5", "0.5"),
            ("1000000d", "86400000000"),
            ("soon", "soon"),
        ] {
            assert_eq!(read(value), seconds);
        }
        let other = in_seconds(("AWS_REGION".into(), "1m".into()));
        assert_eq!(other.1, "1m");
    }
}
