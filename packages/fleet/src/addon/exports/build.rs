//! What an addon says of itself.
#![allow(unsafe_code)] // napi's macros write it.

use napi_derive::napi;

use cpu_prof_core::base::build_kind::BUILD;

/// Returns the version of the package that this addon belongs to.
#[napi(js_name = "cpuProfVersion", catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns how this addon was built.
#[napi(js_name = "cpuProfBuild", catch_unwind)]
pub(crate) fn build() -> &'static str {
    BUILD
}
