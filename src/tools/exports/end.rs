//! Functions by which the command line ends its process.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_core::base::system::{self, NextTurn};

/// Returns when the event loop of this process turns next: `never`, `at once` or `later`; nothing where `endNow`
/// is not possible.
#[napi(
    js_name = "cpuProfNextTurn",
    catch_unwind,
    ts_return_type = "'never' | 'at once' | 'later' | null"
)]
pub(crate) fn next_turn(env: Env) -> Option<&'static str> {
    Some(match state(env)? {
        NextTurn::Never => "never",
        NextTurn::AtOnce => "at once",
        NextTurn::Later => "later",
    })
}

/// Ends this process if nothing keeps it alive. Does nothing otherwise.
#[napi(js_name = "cpuProfEndNow", catch_unwind)]
pub(crate) fn end_now(env: Env, code: i32) {
    if state(env) == Some(NextTurn::Never) {
        system::end_now(code);
    }
}

fn state(env: Env) -> Option<NextTurn> {
    system::next_turn(env.get_uv_event_loop().ok()?.cast_const().cast())
}
