//! The function that JavaScript calls to find the commits at which rows have changed.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::tools::Work;
use crate::compare::changes::change_points::change_points;
use crate::compare::changes::json::ChangeInput;

/// Finds changes in the rows of a `ChangeInput`, which is JSON. Returns `FoundChanges`.
#[napi(js_name = "cpuProfBlame", catch_unwind)]
pub(crate) fn blame(input: String) -> AsyncTask<Work> {
    Work::task(move || {
        let input: ChangeInput = serde_json::from_str(&input).map_err(|error| error.to_string())?;
        let found = change_points(&input)?;
        serde_json::to_string(&found).map_err(|error| error.to_string())
    })
}
