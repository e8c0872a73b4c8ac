//! The rules of the fields that every event has.

use super::event_text::EventText;
use super::problems::{Problems, Severity};
use crate::format::trace::phase::PhaseKind;

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

/// Returns the kind of a phase; none for an unknown phase.
pub fn kind_of(phase: &str) -> Option<PhaseKind> {
    match phase.as_bytes() {
        [phase] => PhaseKind::of(*phase),
        _ => None,
    }
}

/// Checks the fields of an event.
pub fn fields(kind: PhaseKind, event: &EventText<'_>, to: &mut Problems) {
    if !event.get("name").is_text() {
        let message = "an event needs a name, which is a text: DevTools refuses the file";
        to.add(Severity::Fatal, "name", "name", message);
    }
    if kind != PhaseKind::Metadata && !event.get("ts").is_number() {
        let message = if event.get("ts").is_text() {
            "the time is a text: DevTools cannot place the event"
        } else {
            "an event needs a time (ts) in microseconds"
        };
        to.error("ts", "ts", message);
    }
    for (field, id) in [("pid", event.get("pid")), ("tid", event.get("tid"))] {
        let is_optional = field == "tid" && kind == PhaseKind::Metadata;
        if id.is_null() && !is_optional {
            to.warn("ids", field, "the event belongs to no process or thread");
        } else if !id.is_null() && !id.is_whole() {
            to.warn("ids", field, "an id has to be a whole number");
        }
    }
    if !event.get("cat").is_null() && !event.get("cat").is_text() {
        to.warn("cat", "cat", "categories are one text: 'a,b'");
    }
    if !event.get("args").is_null() && !event.get("args").is_object() {
        to.warn("args", "args", "arguments have to be an object");
    }
    if kind.needs_id() && !has_id(event) {
        to.error("id", "id", "an event of this phase needs an id (or id2)");
    }
    let has_part = |key| !event.get("id2").member(key).is_null();
    if !event.get("id2").is_null() && !has_part("local") && !has_part("global") {
        to.error("id2", "id2", "id2 needs 'local' or 'global'");
    }
    of_kind(kind, event, to);
}

/// Returns whether an event has an id of any kind.
pub fn has_id(event: &EventText<'_>) -> bool {
    [event.get("id"), event.get("id2"), event.get("bind_id")].iter().any(|id| !id.is_null())
}

/// Checks what events of one kind need.
fn of_kind(kind: PhaseKind, event: &EventText<'_>, to: &mut Problems) {
    match kind {
        PhaseKind::Complete => match event.get("dur").number() {
            None => to.warn("dur", "dur", "a call (X) without a duration is not drawn"),
            Some(dur) if dur < 0.0 => to.error("dur", "dur", "the duration is negative"),
            Some(_) => {}
        },
        PhaseKind::Instant => {
            let scope = event.get("s");
            let is_scope = matches!(scope.text().as_deref(), Some("g" | "p" | "t"));
            if !scope.is_null() && !is_scope {
                let scope: String = scope.as_written().chars().take(40).collect();
                to.error("s", "s", format!("{scope} is not a scope: g, p or t"));
            }
        }
        PhaseKind::Counter => {
            let (mut count, mut are_numbers) = (0, true);
            event.get("args").each_member(|_, value| {
                count += 1;
                are_numbers &= value.is_number();
            });
            if count == 0 || !are_numbers {
                to.warn("C", "args", "a counter needs numbers as its arguments");
            }
        }
        PhaseKind::Metadata => {
            let name = event.get("name").text().unwrap_or_default();
            let needs_text = matches!(&*name, "process_name" | "thread_name");
            if needs_text && !event.get("args").member("name").is_text() {
                to.error("M", "args.name", "a name has to be a text");
            } else if !name.is_empty() && !METADATA.contains(&&*name) {
                to.warn("M name", "name", format!("no tool shows the fact '{name}'"));
            }
        }
        PhaseKind::ClockSync if event.get("args").member("sync_id").is_null() => {
            to.error("c", "args.sync_id", "a clock synchronization needs its id");
        }
        PhaseKind::LinkedIds if event.get("args").member("linked_id").is_null() => {
            to.error("=", "args.linked_id", "a link needs the other id");
        }
        _ => {}
    }
}
