//! Functions that JavaScript calls to follow recordings that grow.
#![allow(unsafe_code)] // napi's macros write it.

use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, paths};
use cpu_prof_tools::follow::follower::{Follower, LookTime};
use cpu_prof_tools::follow::view::{RowKind, view};
use cpu_prof_tools::read::selection::Selection;

/// Returns a follower, for `followLook`, which has looked at nothing.
#[napi(js_name = "cpuProfFollow", catch_unwind)]
pub(crate) fn follow() -> External<Arc<Mutex<Follower>>> {
    External::new(Arc::default())
}

/// Looks at the last seconds of files and folders. `by` is `function`, `file`, `package`, `thread`, `label`
/// or `label:<key>`; `top` limits the rows by each time. The slice of the selection is of no use. Returns a `LiveView`.
#[napi(js_name = "cpuProfFollowLook", catch_unwind)]
pub(crate) fn follow_look(
    follower: &External<Arc<Mutex<Follower>>>,
    inputs: Vec<String>,
    seconds: f64,
    by: String,
    top: u32,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let (follower, selection) = (Arc::clone(follower), Selection::from(selection));
    Work::task(move || {
        let kind = RowKind::of(&by).ok_or_else(|| format!("'{by}' is not a kind of rows"))?;
        let inputs = paths(inputs);
        // A look that panicked leaves files that the next look reads from their starts, or as they are.
        let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
        let look = follower.look(&inputs, LookTime::Last((seconds * 1e6) as i64), &selection);
        Ok(view(&look, &kind, top as usize)?)
    })
}
