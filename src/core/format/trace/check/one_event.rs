//! Checks an event that a program is about to add to a trace.

use serde_json::Value;

use super::event_text::EventText;
use super::fields::{fields, kind_of};
use super::problems::{Problem, Problems, Severity};
use crate::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use crate::format::trace::event_names::{COUNTERS, FRAMES, PROFILE_EVENTS, WHOLE_PROFILE};
use crate::format::trace::phase::PhaseKind;
use crate::format::trace::write::unrecorded::UNRECORDED_PROGRAMS;

/// Returns whether readers find the profile, its threads or what belongs to them by an event of this name.
fn is_reserved(name: &str) -> bool {
    let bytes = name.as_bytes();
    let lists: [&[&[u8]]; 4] = [&PROFILE_EVENTS, &[WHOLE_PROFILE], &FRAMES, &COUNTERS];
    lists.iter().any(|names| names.contains(&bytes))
        || [SCRIPT_SOURCE_MAP, UNRECORDED_PROGRAMS, "native.threads"].contains(&name)
}

/// Returns why an event cannot be added: the field, and its rule.
pub fn problem_of(event: &Value) -> Option<String> {
    if !event.is_object() {
        return Some("an event has to be an object".into());
    }
    let Some(phase) = event["ph"].as_str() else {
        return Some("ph: an event needs its phase, a text of one letter".into());
    };
    let Some(kind) = kind_of(phase) else {
        return Some(format!("ph: '{phase}' is not a phase of the Trace Event Format"));
    };
    let name = event["name"].as_str().unwrap_or_default();
    if is_reserved(name) {
        return Some(format!("name: '{name}' is the name of an event that makes up the profile"));
    }
    let mut named = event.clone();
    if event["name"].is_null() && !kind.needs_name() {
        // The name of such an event is filled in.
        named["name"] = "".into();
    }
    let text = named.to_string();
    let mut problems = Problems::default();
    fields(kind, &EventText::read(&text)?, &mut problems);
    if kind == PhaseKind::ObjectSnapshot && event["args"]["snapshot"].is_null() {
        problems.error("O", "args.snapshot", "a snapshot (O) needs its contents");
    }
    // Other tools may show a fact that this one does not know.
    let counts =
        |problem: &Problem| kind != PhaseKind::Metadata || problem.severity != Severity::Warning;
    let first = problems.into_list().into_iter().find(counts)?;
    Some(match first.field {
        Some(field) => format!("{field}: {}", first.message),
        None => first.message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(event: &str) -> Option<String> {
        problem_of(&serde_json::from_str(event).unwrap())
    }

    #[test]
    fn a_problem_names_its_field() {
        for (event, field) in [
            (r#"[1]"#, "an event has to be"),
            (r#"{"name":"a"}"#, "ph: "),
            (r#"{"name":"a","ph":"Q"}"#, "ph: 'Q'"),
            (r#"{"ph":"X","pid":1,"tid":0,"ts":1,"dur":1}"#, "name: "),
            (r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":1}"#, "dur: "),
            (r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":1,"dur":-1}"#, "dur: "),
            (r#"{"name":"a","ph":"b","pid":1,"tid":0,"ts":1}"#, "id: "),
            (r#"{"name":"a","ph":"I","pid":1,"tid":0,"ts":1,"s":"x"}"#, "s: "),
            (r#"{"name":"a","ph":"I","pid":1,"tid":0,"ts":"1"}"#, "ts: "),
            (r#"{"name":"a","ph":"I","pid":"1","tid":0,"ts":1}"#, "pid: "),
            (r#"{"name":"a","ph":"C","pid":1,"tid":0,"ts":1,"args":{"x":"1"}}"#, "args: "),
            (r#"{"name":"a","ph":"O","id":1,"pid":1,"tid":0,"ts":1}"#, "args.snapshot: "),
            (r#"{"name":"a","ph":"c","pid":1,"tid":0,"ts":1}"#, "args.sync_id: "),
            (r#"{"name":"a","ph":"=","id":1,"pid":1,"tid":0,"ts":1}"#, "args.linked_id: "),
            (r#"{"name":"Profile","ph":"P","pid":1,"tid":0,"ts":1}"#, "name: "),
        ] {
            let found = problem(event).unwrap_or_default();
            assert!(found.starts_with(field), "{event}: {found}");
        }
    }

    #[test]
    fn names_by_which_readers_find_the_profile_are_reserved() {
        for name in [
            "ProfileChunk",
            "CpuProfile",
            "TracingStartedInBrowser",
            "ScriptSourceMap",
            "thread.flush",
            "native.threads",
            "programs.unrecorded",
        ] {
            let found = problem(&format!(r#"{{"name":"{name}","ph":"X"}}"#)).unwrap_or_default();
            assert!(found.starts_with("name: "), "{name}: {found}");
        }
    }

    #[test]
    fn events_within_the_rules_have_no_problem() {
        for event in [
            r#"{"name":"a","ph":"B","pid":1,"tid":0,"ts":1,"stack":["f"],"args":{}}"#,
            r#"{"ph":"E","pid":1,"tid":0,"ts":1}"#,
            r#"{"name":"a","ph":"X","pid":1,"tid":0,"ts":1,"dur":2,"tts":1,"tdur":1}"#,
            r#"{"name":"a","ph":"n","id2":{"local":"0x1"},"pid":1,"tid":0,"ts":1}"#,
            r#"{"name":"my_fact","ph":"M","pid":1,"tid":0,"ts":0,"args":{"x":1}}"#,
            r#"{"name":"a","ph":"(","id":"0x7","pid":1,"tid":0,"ts":1}"#,
        ] {
            assert_eq!(problem(event), None, "{event}");
        }
    }
}
