//! The keys of attributes: those of OpenTelemetry's conventions where there are any, else those of our labels.

use std::borrow::Cow;

use super::message::{OtlpKeyValue, OtlpValue};
use crate::formats::stack_tables::sample_labels;
use crate::model::Session;

/// The interpreter or compiler of a frame.
pub(super) const FRAME_TYPE: &str = "profile.frame.type";
/// Values of [`FRAME_TYPE`].
pub(super) const V8: &str = "v8js";
pub(super) const NATIVE: &str = "native";
const THREAD_NAME: &str = "thread.name";
const THREAD_ID: &str = "thread.id";
const PROCESS_ID: &str = "process.pid";
const RUNTIME_NAME: &str = "process.runtime.name";
const RUNTIME_VERSION: &str = "process.runtime.version";
/// Stands before a program's key that is one of the above, or empty.
const PREFIX: &str = "label.";

/// Returns the key of a sample's attribute for the key of a label.
pub(super) fn key_of_label(key: &str) -> Cow<'_, str> {
    match key {
        sample_labels::THREAD => THREAD_NAME.into(),
        sample_labels::WORKER => THREAD_ID.into(),
        sample_labels::PID => PROCESS_ID.into(),
        "" | THREAD_NAME | THREAD_ID | PROCESS_ID => format!("{PREFIX}{key}").into(),
        key => key.into(),
    }
}

/// Returns the attributes of what was profiled: the given ones, and those that recordings tell.
pub(super) fn of_resource(session: &Session, given: &[(String, String)]) -> Vec<OtlpKeyValue> {
    let mut attributes: Vec<OtlpKeyValue> = Vec::new();
    for (number, (key, value)) in given.iter().enumerate() {
        let comes_again = given[number + 1..].iter().any(|(other, _)| other == key);
        if !key.is_empty() && !comes_again {
            attributes.push(attribute(key, value));
        }
    }
    let mut versions = session.processes.iter().map(|process| process.node.as_deref());
    let version = versions.next().flatten();
    let Some(version) = version.filter(|version| versions.all(|other| other == Some(version)))
    else {
        return attributes;
    };
    // The convention for Node has no `v` before the version.
    let version = version.strip_prefix('v').unwrap_or(version);
    for (key, value) in [(RUNTIME_NAME, "nodejs"), (RUNTIME_VERSION, version)] {
        if !given.iter().any(|(known, _)| known == key) {
            attributes.push(attribute(key, value));
        }
    }
    attributes
}

/// Returns an attribute of a resource. By convention, a process id is a number.
fn attribute(key: &str, value: &str) -> OtlpKeyValue {
    let number = value.parse().ok().filter(|_| key == PROCESS_ID);
    let value = number.map_or_else(|| text(value), self::number);
    OtlpKeyValue { key: key.to_owned(), value: Some(value) }
}

/// Returns a value that is a number.
pub(super) fn number(number: i64) -> OtlpValue {
    OtlpValue { text: None, number: Some(number) }
}

/// Returns a value that is a text.
pub(super) fn text(text: &str) -> OtlpValue {
    OtlpValue { text: Some(text.to_owned()), number: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::stack_tables::sample_labels::key_of_program;

    #[test]
    fn keys_of_programs_are_never_ours() {
        let keys = [
            "",
            "label.",
            "thread",
            "thread.name",
            "label.thread",
            "label.thread.name",
            "thread.id",
            "process.pid",
            "pid",
            "route",
        ];
        let mut attributes: Vec<_> = keys
            .iter()
            .map(|key| key_of_label(&key_of_program(key)).into_owned())
            .chain(["thread", "worker", "pid"].map(|key| key_of_label(key).into_owned()))
            .collect();
        assert!(attributes.contains(&"route".to_owned()) && !attributes.contains(&String::new()));
        attributes.sort_unstable();
        attributes.dedup();
        assert_eq!(attributes.len(), keys.len() + 3, "{attributes:?}");
    }
}
