//! Compares values of runs that JavaScript has read elsewhere.

use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use super::tools::Work;
use crate::compare::given::compare_given;

/// Compares rows of values, `[{base, head, sampled}]` as JSON: one value for each run, in the same unit as
/// `sampled`, the time between two samples. Returns `{noise, differences}`, a difference for each row.
#[napi(js_name = "cpuProfDifferences", catch_unwind)]
pub(crate) fn differences(rows: String) -> AsyncTask<Work> {
    Work::task(move || compare_given(&rows))
}
