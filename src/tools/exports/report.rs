//! The function that JavaScript calls to report on files and folders.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use cpu_prof_tools::analysis::label_costs::LabelBy;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{Work, paths};
use cpu_prof_tools::read::selection::Selection;
use cpu_prof_tools::report::report::{self, ReportOptions};

/// What a report contains.
#[napi(object)]
pub(crate) struct JsReportOptions {
    /// Rows of each list, by each time. May be infinite.
    pub top: f64,
    /// A function of which callers, callees, lines and processes are wanted.
    pub function: Option<String>,
    /// Count of the functions with the most self time of which the same is wanted.
    pub details: u32,
    /// Whether the call tree is wanted.
    pub tree: bool,
    /// Whether the modules are wanted, by the time of loading them.
    pub imports: bool,
    pub projects: bool,
    /// What the list of labels is by: nothing for whole sets, or a key. Missing for the key that tells the most.
    pub label: Option<String>,
    /// The shortest stall that is wanted, milliseconds.
    pub stalls: Option<f64>,
}

impl From<JsReportOptions> for ReportOptions {
    fn from(options: JsReportOptions) -> Self {
        let JsReportOptions { top, function, details, tree, imports, projects, .. } = options;
        let JsReportOptions { label, stalls, .. } = options;
        Self {
            // Conversions saturate: infinity becomes the largest number.
            top: top as usize,
            function,
            details: details as usize,
            has_tree: tree,
            has_imports: imports,
            has_projects: projects,
            by_label: label.map(LabelBy::of_key),
            stalls_us: stalls.map(|ms| (ms * 1000.0) as u64),
        }
    }
}

/// Reports on files and folders. Returns a `Report`.
#[napi(js_name = "cpuProfReport", catch_unwind)]
pub(crate) fn report(
    inputs: Vec<String>,
    options: JsReportOptions,
    selection: JsSelection,
) -> AsyncTask<Work> {
    let (selection, options) = (Selection::from(selection), ReportOptions::from(options));
    Work::task(move || {
        let loaded = selection.load(&paths(inputs), options.scope())?;
        Ok(report::report(&loaded, &options)?)
    })
}
