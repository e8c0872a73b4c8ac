//! Helpers that the tests of several files share.

use std::cell::Cell;
use std::path::Path;

use chrono::DateTime;

use crate::base::settings::name_pattern::{FileNames, NameFields, NamePattern};

thread_local! {
    static SEQUENCE: Cell<u32> = const { Cell::new(1) };
}

/// Returns the names `out001`, `out002`, …: one list for each test's thread.
pub fn numbered_names() -> FileNames {
    fn next() -> u32 {
        SEQUENCE.set(SEQUENCE.get() + 1);
        SEQUENCE.get()
    }
    let started = DateTime::UNIX_EPOCH.fixed_offset();
    let fields = NameFields { started, pid: 1, thread_id: 0, sequence: 1, label: String::new() };
    FileNames::new(NamePattern::parse("out%N").unwrap(), fields, next)
}

/// Returns the names in a folder, sorted.
pub fn list(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
