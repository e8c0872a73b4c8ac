//! The problems of one file.

use crate::base::cold_sort::ColdSort;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Problems of one kind that are listed one by one.
const MAX_OF_A_KIND: usize = 5;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// DevTools cannot load the file.
    Fatal,
    /// A part of the file is not shown, or is shown wrongly.
    Error,
    /// The file is against the rules of its format, or a tool leaves something out.
    Warning,
}

/// A problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    /// Line of the file, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Path of the field within its event or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub message: String,
    /// Further problems of this kind.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// Collects the problems of a file.
#[derive(Debug, Default)]
pub struct Problems {
    /// Line of the file that is checked, from 1; 0 for the file as a whole.
    pub line: usize,
    list: Vec<Problem>,
    /// Count and last index of each kind.
    kinds: FxHashMap<(&'static str, String), (usize, usize)>,
}

impl Problems {
    /// Adds a problem. `kind` tells problems of one kind by one word.
    pub(super) fn add(
        &mut self,
        severity: Severity,
        kind: &'static str,
        field: &str,
        message: impl Into<String>,
    ) {
        // The nodes of a list are of one kind, whatever their indices.
        let (list, rest) = field.split_once('[').unwrap_or((field, ""));
        let of_kind = [list, rest.split_once(']').map_or("", |(_, rest)| rest)].concat();
        let (count, last) = self.kinds.entry((kind, of_kind)).or_default();
        *count += 1;
        if *count > MAX_OF_A_KIND {
            self.list[*last].more += 1;
            return;
        }
        *last = self.list.len();
        let field = (!field.is_empty()).then(|| field.to_owned());
        let (line, message) = (self.line, message.into());
        self.list.push(Problem { severity, line, field, message, more: 0 });
    }

    pub fn fatal(&mut self, message: impl Into<String>) {
        self.add(Severity::Fatal, "file", "", message);
    }

    pub fn error(&mut self, kind: &'static str, field: &str, message: impl Into<String>) {
        self.add(Severity::Error, kind, field, message);
    }

    pub fn warn(&mut self, kind: &'static str, field: &str, message: impl Into<String>) {
        self.add(Severity::Warning, kind, field, message);
    }

    /// Adds the problems of a part of the file.
    pub fn add_all(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    /// Returns the problems in the order of the file.
    pub fn into_list(mut self) -> Vec<Problem> {
        self.list.cold_sort_by_key(|problem| problem.line);
        self.list
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
