//! The exports by which a program labels its work.
#![allow(unsafe_code)] // napi's macros write it.

use std::cell::{Cell, RefCell};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::record::observers::labels::{self, SetId, ThreadLabels};
use crate::record::thread::recording::{self, with_observer};
use crate::sampler::v8::{LabelSource, SlotSearch};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system::sampling_signal;

thread_local! {
    /// The search for the place of the thread's asynchronous context.
    static SEARCH: RefCell<Option<SlotSearch>> = const { RefCell::new(None) };
    /// The place that was found, until it is proven.
    static FOUND: Cell<Option<LabelSource>> = const { Cell::new(None) };
}

/// Returns whether this system lets labels be recorded.
#[napi(js_name = "cpuProfCanLabel", catch_unwind)]
pub(crate) fn can_label() -> bool {
    sampling_signal::IS_AVAILABLE
}

/// Returns the id of a label set: that of the set `outer` with further labels, a key and its value in turn. The
/// number is negative if nobody has asked for the set before: it may never be asked for again.
#[napi(js_name = "cpuProfLabelSet", catch_unwind)]
pub(crate) fn label_set(outer: u32, labels: Vec<String>) -> i32 {
    let SetId { id, is_new } = labels::id_with(outer, labels, each_sampled);
    // Ids are that small.
    let id = i32::try_from(id).unwrap_or(i32::MAX);
    if is_new { -id } else { id }
}

/// Calls `each` with the ids of this thread's samples that the writer thread has not taken yet.
fn each_sampled(each: &mut dyn FnMut(u32)) {
    with_observer(|labels: &ThreadLabels| labels.each_sampled(each));
}

/// Lets the calling thread's labels be recorded from now on, in this recording and later ones.
fn use_source(source: LabelSource) {
    labels::use_source(source);
    recording::read_again();
}

/// Returns the number of the generation of the calling thread's label sets. With the next one, ids that were asked
/// for in this one can be forgotten.
#[napi(js_name = "cpuProfLabelGeneration", catch_unwind)]
pub(crate) fn label_generation() -> u32 {
    labels::generation()
}

/// Looks for the place of the current asynchronous context. Returns whether there is a context.
#[napi(js_name = "cpuProfFindContext", catch_unwind)]
pub(crate) fn find_context(env: Env) -> bool {
    let search = SlotSearch::begin(&env);
    let is_found = search.is_some();
    SEARCH.set(search);
    is_found
}

/// Looks again in another context. `storage` is the `AsyncLocalStorage` whose value is read from now on.
/// Returns whether the place is certain.
#[napi(js_name = "cpuProfFindContextAgain", catch_unwind)]
pub(crate) fn find_context_again(env: Env, storage: Object<'_>) -> bool {
    FOUND.set(SEARCH.take().and_then(|search| LabelSource::frames(&env, search, &storage)));
    FOUND.get().is_some()
}

/// Returns the value of the storage in the current context, read as in a signal handler.
#[napi(js_name = "cpuProfReadLabels", catch_unwind)]
pub(crate) fn read_labels() -> Option<i32> {
    FOUND.get()?.read_now()
}

/// Lets the calling thread's labels be recorded, from the place that was found.
#[napi(js_name = "cpuProfUseContext", catch_unwind)]
pub(crate) fn use_context() {
    if let Some(source) = FOUND.take() {
        use_source(source);
    }
}

/// Returns whether the current asynchronous context has no frame.
#[napi(js_name = "cpuProfIsOutside", catch_unwind)]
pub(crate) fn is_outside(env: &Env) -> bool {
    labels::source().is_some_and(|source| source.is_outside(env))
}

/// Returns the frame of the current asynchronous context, which `cpuProfEnterFrame` takes.
#[napi(js_name = "cpuProfFrame", catch_unwind)]
pub(crate) fn frame(env: &Env) -> Option<Object<'_>> {
    labels::source()?.frame(env)
}

/// Makes a frame that of the rest of the current asynchronous context, if the context has none. Returns
/// whether it has the frame now.
#[napi(js_name = "cpuProfEnterFrame", catch_unwind)]
pub(crate) fn enter_frame(env: &Env, frame: Object<'_>) -> bool {
    labels::source().is_some_and(|source| source.enter(env, &frame))
}

/// Lets the calling thread's labels be recorded, from an array of one number that JavaScript writes and
/// never gives away.
#[napi(js_name = "cpuProfUseCell", catch_unwind)]
pub(crate) fn use_cell(cell: Int32Array) {
    if let Some(source) = LabelSource::cell(cell) {
        use_source(source);
    }
}

/// Tells the user that the calling thread's labels are not recorded.
#[napi(js_name = "cpuProfRefuseLabels", catch_unwind)]
pub(crate) fn refuse_labels(reason: String) {
    FOUND.set(None);
    warn_once(&Error::Labels(reason));
}
