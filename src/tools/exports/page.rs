//! The function that JavaScript calls for the data of an HTML report.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_tools::analysis::process::session_view::SessionView;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, paths};
use cpu_prof_tools::page::page as page_build;
use cpu_prof_tools::read::selection::Selection;
use cpu_prof_tools::report::page_lists::page_lists;

/// Reads files and folders for an HTML report. Returns the data of the page.
#[napi(js_name = "cpuProfPage", catch_unwind)]
pub(crate) fn page(inputs: Vec<String>, selection: JsSelection) -> AsyncTask<Work> {
    let selection = Selection::from(selection);
    Work::task(move || {
        let loaded = selection.load(&paths(inputs), ReadScope::ALL)?;
        let view = SessionView::of(&loaded.session);
        let lists = page_lists(&view)?;
        Ok(page_build::page(&loaded, &view, lists)?)
    })
}
