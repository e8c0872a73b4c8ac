//! The rules of single events. An event that breaks one is not shown by DevTools, or makes DevTools
//! refuse the whole file. So all tools repair the event in the same way, or leave it out.

use std::borrow::Cow;

use super::edit::EventEdit;
use super::head::{EventHead, Member};
use cpu_prof_core::format::json_walk::find_member;
use cpu_prof_core::format::number::digits;
use cpu_prof_core::format::trace::event_names::{PROFILE_EVENTS, WHOLE_PROFILE};
use cpu_prof_core::format::trace::phase::PhaseKind;

/// Returns whether an event can stay, and adds to `edit` what has to be repaired.
pub fn keep(head: &EventHead, event: &[u8], edit: &mut EventEdit) -> bool {
    let Some(kind) = PhaseKind::of(head.phase) else { return false };
    if head.has_escaped_key || !has_ids(kind, head, event) || !has_facts(kind, head, event) {
        return false;
    }
    match head.place(Member::Ts) {
        _ if kind == PhaseKind::Metadata => {}
        Some(ts) => match head.ts(event) {
            // Some writers put a time into a string.
            Some(us) if event[ts.start] == b'"' => edit.replace(ts, us),
            Some(_) => {}
            None => return false,
        },
        None => return false,
    }
    // Hermes puts the number of a thread into a string.
    if let Some(tid) = head.place(Member::Tid)
        && let Some(number) = event[tid.clone()].strip_prefix(b"\"")
        && let Some(number) = number.strip_suffix(b"\"").and_then(digits)
    {
        edit.replace(tid, number);
    }
    repair_name(head, event, edit);
    if let Some(dur) = head.place(Member::Dur)
        && kind == PhaseKind::Complete
        && event[dur.start] == b'-'
    {
        edit.replace(dur, 0);
    }
    if let Some(scope) = head.place(Member::Scope)
        && kind == PhaseKind::Instant
        && ![&b"\"g\""[..], b"\"p\"", b"\"t\""].contains(&&event[scope.clone()])
    {
        edit.replace(scope, "\"t\"");
    }
    true
}

/// Gives an event without a name an empty one. Resolves escapes of a name, because a reader that
/// resolves them can take the event for another.
fn repair_name(head: &EventHead, event: &[u8], edit: &mut EventEdit) {
    if !head.has_name {
        let start = event.iter().position(|byte| *byte == b'{').unwrap_or_default() + 1;
        let name = head.name_place();
        match name.is_empty() {
            true => edit.replace(start..start, "\"name\":\"\","),
            false => edit.replace(name, "\"\""),
        }
    } else if head.name(event).contains(&b'\\')
        && let Some(Cow::Owned(name)) = head.name_text(event)
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
    {
        edit.replace(head.name_place(), name);
    }
}

fn has_ids(kind: PhaseKind, head: &EventHead, event: &[u8]) -> bool {
    let has = |member| head.place(member).is_some();
    let name = head.name(event);
    let is_part = PROFILE_EVENTS.contains(&name);
    let is_profile = is_part || name == WHOLE_PROFILE;
    if (is_part && !has(Member::Id)) || (is_profile && head.number(Member::Pid, event).is_none()) {
        return false;
    }
    if let Some(ids) = head.written(Member::Id2, event)
        && !["local", "global"].iter().any(|key| member_of(ids, key).is_some())
    {
        return false;
    }
    !kind.needs_id() || has(Member::Id) || has(Member::Id2) || has(Member::BindId)
}

/// Returns whether an event has the arguments without which it says nothing.
fn has_facts(kind: PhaseKind, head: &EventHead, event: &[u8]) -> bool {
    let args = head.written(Member::Arguments, event).unwrap_or_default();
    match kind {
        PhaseKind::Metadata if matches!(head.name(event), b"process_name" | b"thread_name") => {
            member_of(args, "name").is_some_and(|name| name.starts_with(b"\""))
        }
        PhaseKind::ClockSync => member_of(args, "sync_id").is_some(),
        PhaseKind::LinkedIds => member_of(args, "linked_id").is_some(),
        _ => true,
    }
}

/// Returns the value of an object's member, as it is written; none if there is none, or `null`.
fn member_of<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let value = &object[find_member(object, key)?];
    (value != b"null").then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the event as it is kept; none if it is left out.
    fn kept(event: &str) -> Option<String> {
        let head = EventHead::of_any(event.as_bytes()).unwrap();
        let mut edit = EventEdit::default();
        if !keep(&head, event.as_bytes(), &mut edit) {
            return None;
        }
        let mut out = Vec::new();
        edit.apply(event.as_bytes(), &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn sound_events_stay_as_they_are() {
        for event in [
            r#"{"name":"a","ph":"X","pid":1,"tid":1,"ts":1.5,"dur":0}"#,
            r#"{"name":"a","ph":"I","ts":-1,"s":null}"#,
            r#"{"name":"a","ph":"I","ts":1,"tid":"-1"}"#,
            r#"{"name":"a","ph":"i","ts":1,"s":"g","args":7}"#,
            r#"{"name":"","ph":"b","ts":1,"id2":{"local":"0x1"}}"#,
            r#"{"name":"\u00fc \"x\"","ph":"E","ts":1}"#,
            r#"{"name":"thread_name","ph":"M","args":{"name":""}}"#,
            r#"{"name":"other","ph":"M","ts":"x"}"#,
            r#"{"name":"clock_sync","ph":"c","ts":1,"args":{"sync_id":"a"}}"#,
        ] {
            assert_eq!(kept(event).as_deref(), Some(event));
        }
    }

    #[test]
    fn what_a_viewer_needs_is_repaired() {
        for (event, expected) in [
            (r#"{"ph":"E","ts":1}"#, r#"{"name":"","ph":"E","ts":1}"#),
            (r#" {"ph":"E","name":null,"ts":1}"#, r#" {"ph":"E","name":"","ts":1}"#),
            (r#"{"ph":"B","name":[1],"ts":1}"#, r#"{"ph":"B","name":"","ts":1}"#),
            (
                r#"{"ph":"P","name":"Profile\u0043hunk","pid":1,"id":1,"ts":1}"#,
                r#"{"ph":"P","name":"ProfileChunk","pid":1,"id":1,"ts":1}"#,
            ),
            (
                r#"{"ph":"B","name":"a","ts":1,"tid":"007"}"#,
                r#"{"ph":"B","name":"a","ts":1,"tid":7}"#,
            ),
            (r#"{"ph":"B","name":"a","ts":"12.5"}"#, r#"{"ph":"B","name":"a","ts":12}"#),
            (
                r#"{"ph":"X","name":"a","ts":1,"dur":-0.5}"#,
                r#"{"ph":"X","name":"a","ts":1,"dur":0}"#,
            ),
            (r#"{"ph":"I","name":"a","ts":1,"s":"x"}"#, r#"{"ph":"I","name":"a","ts":1,"s":"t"}"#),
        ] {
            assert_eq!(kept(event).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_no_viewer_can_place_is_left_out() {
        for event in [
            r#"{"name":"a","ts":1}"#,
            r#"{"name":"a","ph":"Q","ts":1}"#,
            r#"{"name":"a","ph":7,"ts":1}"#,
            r#"{"name":"a","ph":"X"}"#,
            r#"{"name":"a","ph":"X","ts":"soon"}"#,
            r#"{"name":"a","ph":"X","ts":1e999}"#,
            r#"{"name":"a","ph":"b","ts":1}"#,
            r#"{"name":"a","ph":"b","ts":1,"id2":{"local":null}}"#,
            r#"{"name":"a","ph":"X","ts":1,"id2":7}"#,
            r#"{"name":"ProfileChunk","ph":"P","pid":1,"ts":1,"bind_id":1}"#,
            r#"{"name":"Profile","ph":"P","pid":"main","ts":1,"id":1}"#,
            r#"{"name":"CpuProfile","ph":"I","ts":1}"#,
            r#"{"name":"thread_name","ph":"M","args":{"name":7}}"#,
            r#"{"name":"thread_name","ph":"M"}"#,
            r#"{"name":"a","ph":"c","ts":1,"args":{}}"#,
            r#"{"name":"a","ph":"=","ts":1,"id":1,"args":{"linked_id":null}}"#,
            r#"{"name":"a","ph":"X","ts":1,"na\u006de":7}"#,
        ] {
            assert_eq!(kept(event), None, "{event}");
        }
    }
}
