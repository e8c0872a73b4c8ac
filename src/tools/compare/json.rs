//! The shape of a comparison's JSON. `index.d.ts` describes each type and field under the same name.

use std::path::PathBuf;

use serde::Serialize;

use super::items::Measure;
use super::noise::NoiseModel;
use cpu_prof_core::files::input::{Failed, lossy_list};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Comparison<'a> {
    pub version: u32,
    pub base: ComparedSide,
    pub head: ComparedSide,
    pub noise: NoiseModel,
    pub rows: Vec<ComparedRow<'a>>,
    #[serde(serialize_with = "lossy_list")]
    pub repaired: &'a [PathBuf],
    pub failed: &'a [Failed],
    pub notes: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ComparedSide {
    pub runs: usize,
    pub inputs: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct ComparedRow<'a> {
    pub kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub owner: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<&'a str>,
    #[serde(skip_serializing_if = "is_one")]
    pub functions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<ComparedPlace<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<ComparedPlace<'a>>,
    pub measure: Measure,
    pub unit: &'static str,
    pub base: f64,
    pub head: f64,
    pub difference: f64,
    pub low: f64,
    pub high: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    pub changed: bool,
}

/// A renamed or moved function in the base runs, or the code that calls a function of Node or a native
/// one, which has a line.
#[derive(Debug, Serialize)]
pub(super) struct ComparedPlace<'a> {
    pub name: &'a str,
    pub file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i32>,
}

fn is_one(count: &usize) -> bool {
    *count == 1
}
