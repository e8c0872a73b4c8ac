//! Functions that JavaScript calls to write files that are whole or not there.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_core::files::atomic;
use cpu_prof_core::files::temporary::remove_partial;
use cpu_prof_tools::border::work::Work;

/// Writes a text into a file, which is whole or not there, or into a device or a pipe. Compresses a
/// file whose name ends in `.gz`. Returns nothing.
#[napi(js_name = "cpuProfWriteFile", catch_unwind)]
pub(crate) fn write_file(path: String, text: String) -> AsyncTask<Work> {
    Work::task(move || {
        atomic::write(path.as_ref(), text.as_bytes())?;
        Ok(String::new())
    })
}

/// Removes unfinished files, for a process that is about to end.
#[napi(js_name = "cpuProfAbandonFiles", catch_unwind)]
pub(crate) fn abandon_files() {
    remove_partial();
}
