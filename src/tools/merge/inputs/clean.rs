//! Takes secrets out of the events of recordings that older versions have written: events that are copied.

use serde_json::Value;

use super::event::SoundEvent;
use cpu_prof_core::base::outside_text::{event_name, holds_request, process_label, script_url};
use cpu_prof_core::format::ascii_json::encode_raw;
use cpu_prof_core::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use cpu_prof_core::format::trace::write::timing::USER_TIMING;
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::Member;

/// Adds to `edit` what takes secrets out of an event: out of names, details of requests, labels of processes
/// and URLs. The frames of profiles are looked at elsewhere.
pub(crate) fn clean(event: SoundEvent<'_>, edit: &mut EventEdit) {
    if event.is_profile() {
        return;
    }
    match event.name() {
        b"process_labels" => change_texts(event, edit, &["/labels"], process_label),
        b"TimeStamp" => {
            let change = |text: &str| event_name(text).into_owned();
            change_texts(event, edit, &["/data/name", "/data/message"], change);
        }
        name if name == SCRIPT_SOURCE_MAP.as_bytes() => {
            change_texts(event, edit, &["/data/url"], |url| script_url(url).into_owned());
        }
        _ if event.head.categories(event.text).any(|each| each == USER_TIMING.as_bytes()) => {
            clean_timing(event, edit);
        }
        _ => {}
    }
}

fn clean_timing(event: SoundEvent<'_>, edit: &mut EventEdit) {
    if let Some(name) = event.head.name_text(event.text)
        && let cleaned = event_name(&name)
        && *cleaned != *name
        && let Some(text) = encode_raw(&cleaned)
    {
        let place = event.head.name_place();
        edit.replace(place.start - 1..place.end + 1, text.get());
    }
    let is_of_request = |text: &&str| text.contains(r#"{\"req\":{"#);
    let Some(arguments) = event.arguments().filter(is_of_request) else { return };
    let Ok(mut value) = serde_json::from_str::<Value>(arguments) else { return };
    for place in ["", "/data"] {
        if let Some(members) = value.pointer_mut(place).and_then(Value::as_object_mut)
            && members.get("detail").and_then(Value::as_str).is_some_and(holds_request)
        {
            members.remove("detail");
        }
    }
    replace_arguments(event, edit, &value);
}

/// Changes texts in the arguments of an event; `places` are JSON pointers.
fn change_texts(
    event: SoundEvent<'_>,
    edit: &mut EventEdit,
    places: &[&str],
    change: impl Fn(&str) -> String,
) {
    let arguments = event.arguments().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(mut arguments) = arguments else { return };
    let mut is_changed = false;
    for place in places {
        if let Some(member) = arguments.pointer_mut(place)
            && let Some(text) = member.as_str()
        {
            let changed = change(text);
            is_changed |= changed != text;
            *member = changed.into();
        }
    }
    if is_changed {
        replace_arguments(event, edit, &arguments);
    }
}

fn replace_arguments(event: SoundEvent<'_>, edit: &mut EventEdit, arguments: &Value) {
    if let (Some(place), Some(text)) = (event.place(Member::Arguments), encode_raw(arguments)) {
        edit.replace(place, text.get());
    }
}
