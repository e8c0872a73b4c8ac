//! The ids that link the events of another tool's trace: of spans, flows, objects and stack frames.
//!
//! Viewers look for such ids in the whole trace. So the ids of the second file and of later files
//! change, and events of unrelated files are not linked by chance.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use crate::merge::inputs::event::SoundEvent;
use cpu_prof_core::format::json_walk::{value_length, walk_object};
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::Member;

/// The ids of one trace.
#[derive(Debug, Default, Clone, Copy)]
pub struct ForeignIds {
    /// Number of the trace. The ids of trace 0 stay.
    trace: usize,
}

/// Phases of events that their ids link: spans, flows, objects and contexts. The id of a counter is
/// a part of its name.
const LINKED_PHASES: &[u8] = b"bneSTpFstfNOD()";

/// The name of references to objects, which can be anywhere in the arguments.
static REFERENCE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));

const KEY: &[u8] = b"\"id_ref\"";

impl ForeignIds {
    /// Returns the ids of a trace by its number.
    pub(crate) fn of_trace(trace: usize) -> Self {
        Self { trace }
    }

    /// Replaces the ids of an event by those in the output.
    pub fn change(&self, event: SoundEvent<'_>, edit: &mut EventEdit) {
        if self.trace == 0 {
            return;
        }
        let SoundEvent { text, head } = event;
        let place = |member| event.place(member);
        let mut replace = |id: Range<usize>| {
            let new_id = self.id(&written(&text[id.clone()]));
            edit.replace(id, format_args!("\"{new_id}\""));
        };
        let own_id = place(Member::Id).filter(|_| LINKED_PHASES.contains(&head.phase));
        for id in own_id.into_iter().chain(place(Member::BindId)) {
            replace(id);
        }
        if let Some(ids) = place(Member::Id2) {
            let start = ids.start;
            // Anything but an object stays.
            let _ = walk_object(&text[ids], |_, id| replace(start + id.start..start + id.end));
        }
        if let Some(args) = place(Member::Arguments) {
            for at in REFERENCE.find_iter(&text[args.clone()]) {
                reference(text, args.start + at).into_iter().for_each(&mut replace);
            }
        }
        for frame in place(Member::StackFrame).into_iter().chain(place(Member::EndStackFrame)) {
            let new_id = Value::from(self.stack_frame_id(&written(&text[frame.clone()])));
            edit.replace(frame, new_id);
        }
    }

    /// Changes the ids of the dictionary of stack frames.
    pub(super) fn stack_frames(&self, frames: Map<String, Value>) -> Map<String, Value> {
        let change = |(id, mut frame): (String, Value)| {
            if let Some(parent) = frame.get_mut("parent") {
                *parent = self.stack_frame(parent);
            }
            (self.stack_frame_id(&id), frame)
        };
        frames.into_iter().map(change).collect()
    }

    /// Returns the id in the output: hexadecimal, because some viewers read ids as numbers.
    fn id(&self, id: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self.trace, id).hash(&mut hasher);
        format!("{:#x}", hasher.finish())
    }

    fn stack_frame(&self, id: &Value) -> Value {
        self.stack_frame_id(&text(id)).into()
    }

    fn stack_frame_id(&self, id: &str) -> String {
        if self.trace == 0 { id.to_owned() } else { format!("{}.{id}", self.trace) }
    }
}

/// Returns the place of the id of a reference, whose key may be at a place in a valid event; none for a
/// text that is no key, and for an id that is neither a string nor a number.
fn reference(event: &[u8], at: usize) -> Option<Range<usize>> {
    let skip_space = |from: usize| {
        let length = event.get(from..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some(from + length)
    };
    let colon = skip_space(at + KEY.len()).filter(|at| event[*at] == b':')?;
    let start = skip_space(colon + 1)?;
    let is_id = matches!(event[start], b'"' | b'-' | b'0'..=b'9');
    let length = value_length(&event[start..]).ok().filter(|_| is_id)?;
    Some(start..start + length)
}

/// Returns the text of an id as an event has it.
fn written(id: &[u8]) -> Cow<'_, str> {
    if let [b'"', inside @ .., b'"'] = id
        && !inside.contains(&b'\\')
        && let Ok(inside) = str::from_utf8(inside)
    {
        return Cow::Borrowed(inside);
    }
    Cow::Owned(text(&serde_json::from_slice(id).unwrap_or_default()))
}

fn text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::formats::trace::event::head::EventHead;
    use serde_json::json;

    fn changed(trace: usize, event: &Value) -> Option<Value> {
        let text = event.to_string();
        let head = EventHead::of_any(text.as_bytes()).unwrap();
        let mut edit = EventEdit::default();
        let event = SoundEvent { text: text.as_bytes(), head: &head };
        ForeignIds::of_trace(trace).change(event, &mut edit);
        let mut changed = Vec::new();
        edit.apply(text.as_bytes(), &mut changed);
        (!edit.is_empty()).then(|| serde_json::from_slice(&changed).unwrap())
    }

    #[test]
    fn ids_that_were_equal_stay_equal_within_a_trace_only() {
        let id = |trace, event: Value, pointer| changed(trace, &event).unwrap()[pointer].clone();
        let begin = json!({ "ph": "b", "id": "0x1" });
        let flow = json!({ "ph": "X", "bind_id": "0x1" });
        assert_eq!(id(1, begin.clone(), "id"), id(1, flow.clone(), "bind_id"));
        assert_ne!(id(1, begin.clone(), "id"), id(2, begin.clone(), "id"));
        assert_eq!(changed(0, &begin), None);
        assert_eq!(changed(0, &flow), None);
        let object = json!({ "ph": "N", "id": 7 });
        let snapshot = json!({ "ph": "I", "args": { "a": [{ "id_ref": 7 }] } });
        assert_eq!(id(1, object, "id"), changed(1, &snapshot).unwrap()["args"]["a"][0]["id_ref"]);
        let local = json!({ "ph": "e", "id2": { "local": "0x1" } });
        assert_eq!(changed(1, &local).unwrap()["id2"]["local"], id(1, begin, "id"));
    }

    #[test]
    fn references_are_found_wherever_they_are() {
        let event = r#"{"ph":"X","args":{"id_ref" : "0x1","x":["id_ref",{"id_ref":7}, "\"id_ref\":1"],
            "y":{"id_ref":"a\"\\"},"id_ref":{"id_ref":1.5}}}"#;
        let changed = changed(1, &serde_json::from_str(event).unwrap());
        let id = |id: Value| ForeignIds::of_trace(1).id(&text(&id));
        let args = changed.unwrap()["args"].clone();
        assert_eq!(args["x"][0], "id_ref");
        assert_eq!(args["x"][1]["id_ref"], id(json!(7)));
        assert_eq!(args["x"][2], "\"id_ref\":1");
        assert_eq!(args["y"]["id_ref"], id(json!("a\"\\")));
        assert_eq!(args["id_ref"]["id_ref"], id(json!(1.5)));
        let spaced = br#"{"ph":"X","args":{"id_ref" : "0x1"}}"#;
        let head = EventHead::of_any(spaced).unwrap();
        let mut edit = EventEdit::default();
        ForeignIds::of_trace(1).change(SoundEvent { text: spaced, head: &head }, &mut edit);
        assert!(!edit.is_empty());
    }

    #[test]
    fn other_events_stay() {
        for event in [
            json!({ "ph": "C", "id": "a", "name": "bytes" }),
            json!({ "ph": "X", "id": 1 }),
            json!({ "ph": "P", "id": "0x1", "name": "Profile" }),
            json!({ "ph": "I" }),
        ] {
            assert_eq!(changed(1, &event), None);
        }
    }

    #[test]
    fn stack_frames_change_together_with_their_events() {
        let ids = ForeignIds::of_trace(2);
        let event = changed(2, &json!({ "ph": "X", "sf": 5, "esf": "6" })).unwrap();
        assert_eq!((&event["sf"], &event["esf"]), (&json!("2.5"), &json!("2.6")));
        let frames = json!({ "5": { "name": "f", "parent": 6 }, "6": { "name": "g" } });
        let Value::Object(frames) = frames else { unreachable!() };
        assert_eq!(
            Value::from(ids.stack_frames(frames)),
            json!({ "2.5": { "name": "f", "parent": "2.6" }, "2.6": { "name": "g" } })
        );
    }
}
