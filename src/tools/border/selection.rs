//! The part of recordings that JavaScript asks for.
#![allow(unsafe_code)] // napi's macros write it.

use std::path::PathBuf;

use napi_derive::napi;

use super::work::paths;
use crate::names::originals::Places;
use crate::read::filter::{Filter, StackFilter};
use crate::read::label_filter::LabelFilter;
use crate::read::selection::Selection;
use crate::read::slice::SliceLimits;

/// The part of recordings that a tool shows. Lists of texts are empty for everything.
#[napi(object)]
pub struct JsSelection {
    /// Start of the slice: milliseconds after the first recording's start, or before the last one's
    /// end if negative. May be infinite.
    pub from: Option<f64>,
    /// End of the slice, likewise.
    pub to: Option<f64>,
    /// Whether functions and lines are those of the sources.
    pub source_maps: bool,
    /// The folder below which sources and maps are read.
    pub sources_in: Option<String>,
    /// Folders with the symbols of native modules.
    pub symbols: Vec<String>,
    /// Parts of commands, or pids.
    pub process: Vec<String>,
    /// Parts of names of threads, or thread ids.
    pub thread: Vec<String>,
    /// Names of packages.
    pub package: Vec<String>,
    /// Parts of the names or the places of functions that stacks must have.
    pub focus: Vec<String>,
    /// Parts of the names or the places of functions that stacks must not have.
    pub ignore: Vec<String>,
    /// Labels that samples must have: `key=value`.
    pub label: Vec<String>,
}

impl From<JsSelection> for Selection {
    fn from(selection: JsSelection) -> Self {
        let JsSelection { from, to, source_maps, sources_in, symbols, .. } = selection;
        let JsSelection { process, thread, package, focus, ignore, label, .. } = selection;
        let stacks = StackFilter::new(&package, &focus, &ignore);
        Self {
            slice: SliceLimits::of_ms(from, to),
            filter: Filter::new(&process, &thread, stacks).with_labels(LabelFilter::new(&label)),
            source_maps,
            places: Places { within: sources_in.map(PathBuf::from), symbols: paths(symbols) },
        }
    }
}
