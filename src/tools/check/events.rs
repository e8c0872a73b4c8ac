//! The events of a trace, one by one.

use serde_json::Value;

use super::phases::PhaseKind;
use super::problems::{Problems, Severity};
use super::profiles::Profiles;
use super::spans::UnclosedSpans;

/// Names of facts about processes and threads that a tool shows or uses.
const METADATA: [&str; 10] = [
    "process_name",
    "process_labels",
    "process_sort_index",
    "process_uptime_seconds",
    "thread_name",
    "thread_sort_index",
    "num_cpus",
    "clock_sync",
    "stackFrames",
    "trace_buffer_overflowed",
];

/// Checks the events of a trace.
#[derive(Debug, Default)]
pub(super) struct EventChecks {
    spans: UnclosedSpans,
    profiles: Profiles,
    /// Count of the events.
    count: u64,
    /// Whether there is an event besides names.
    has_others: bool,
}

impl EventChecks {
    /// Checks an event in a line of the file.
    pub(super) fn event(&mut self, event: &Value, line: usize, to: &mut Problems) {
        self.count += 1;
        self.has_others |= event["ph"] != "M";
        if !event.is_object() {
            return to.error("object", line, "", "an event has to be an object");
        }
        let Some(phase) = event["ph"].as_str() else {
            return to.error("ph", line, "ph", "an event needs its phase, a text of one letter");
        };
        let Some(kind) = PhaseKind::of(phase) else {
            return to.error("phase", line, "ph", format!("'{phase}' is not a phase"));
        };
        fields(kind, event, line, to);
        if !kind.needs_id() || has_id(event) {
            self.spans.event(kind, event, line, to);
        }
        if kind == PhaseKind::Sample {
            self.profiles.event(event, line, to);
        }
    }

    /// Adds what only the end of the trace shows.
    pub(super) fn finish(self, to: &mut Problems) -> (u64, usize, u64) {
        if self.count == 0 {
            to.warn("empty", 0, "traceEvents", "the trace has no events");
        } else if !self.has_others {
            to.warn("empty", 0, "traceEvents", "the trace has names only");
        }
        self.profiles.finish(to);
        self.spans.finish(to);
        (self.count, self.profiles.count(), self.profiles.samples)
    }
}

/// Checks the fields of an event.
pub(super) fn fields(kind: PhaseKind, event: &Value, line: usize, to: &mut Problems) {
    let has = |field: &str| !event[field].is_null();
    if !event["name"].is_string() {
        let message = "an event needs a name, which is a text: DevTools refuses the file";
        to.add(Severity::Fatal, "name", line, "name", message);
    }
    if kind != PhaseKind::Metadata && !event["ts"].is_number() {
        let message = if event["ts"].is_string() {
            "the time is a text: DevTools cannot place the event"
        } else {
            "an event needs a time (ts) in microseconds"
        };
        to.error("ts", line, "ts", message);
    }
    for field in ["pid", "tid"] {
        let is_optional = field == "tid" && kind == PhaseKind::Metadata;
        match &event[field] {
            Value::Number(number) if !number.is_f64() => {}
            Value::Null if is_optional => {}
            Value::Null => to.warn("ids", line, field, "the event belongs to no process or thread"),
            _ => to.warn("ids", line, field, "an id has to be a whole number"),
        }
    }
    if has("cat") && !event["cat"].is_string() {
        to.warn("cat", line, "cat", "categories are one text: 'a,b'");
    }
    if has("args") && !event["args"].is_object() {
        to.warn("args", line, "args", "arguments have to be an object");
    }
    if kind.needs_id() && !has_id(event) {
        to.error("id", line, "id", "an event of this phase needs an id (or id2)");
    }
    if has("id2") && event["id2"]["local"].is_null() && event["id2"]["global"].is_null() {
        to.error("id2", line, "id2", "id2 needs 'local' or 'global'");
    }
    of_kind(kind, event, line, to);
}

fn has_id(event: &Value) -> bool {
    ["id", "id2", "bind_id"].iter().any(|field| !event[*field].is_null())
}

/// Checks what events of one kind need.
fn of_kind(kind: PhaseKind, event: &Value, line: usize, to: &mut Problems) {
    match kind {
        PhaseKind::Complete => match event["dur"].as_f64() {
            None => to.warn("dur", line, "dur", "a call (X) without a duration is not drawn"),
            Some(dur) if dur < 0.0 => to.error("dur", line, "dur", "the duration is negative"),
            Some(_) => {}
        },
        PhaseKind::Instant => {
            let scope = &event["s"];
            let is_scope = matches!(scope.as_str(), Some("g" | "p" | "t"));
            if !scope.is_null() && !is_scope {
                to.error("s", line, "s", format!("{scope} is not a scope: g, p or t"));
            }
        }
        PhaseKind::Counter => {
            let values = event["args"].as_object();
            let is_number = |value: &Value| value.is_number();
            if values.is_none_or(|values| values.is_empty() || !values.values().all(is_number)) {
                to.warn("C", line, "args", "a counter needs numbers as its arguments");
            }
        }
        PhaseKind::Metadata => {
            let name = event["name"].as_str().unwrap_or_default();
            let needs_text = matches!(name, "process_name" | "thread_name");
            if needs_text && !event["args"]["name"].is_string() {
                to.error("M", line, "args.name", "a name has to be a text");
            } else if !name.is_empty() && !METADATA.contains(&name) {
                to.warn("M name", line, "name", format!("no tool shows the fact '{name}'"));
            }
        }
        PhaseKind::ClockSync if event["args"]["sync_id"].is_null() => {
            to.error("c", line, "args.sync_id", "a clock synchronization needs its id");
        }
        PhaseKind::LinkedIds if event["args"]["linked_id"].is_null() => {
            to.error("=", line, "args.linked_id", "a link needs the other id");
        }
        _ => {}
    }
}
