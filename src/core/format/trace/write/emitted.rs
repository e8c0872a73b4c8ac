//! Events that the program itself adds to its trace.

use serde_json::{Map, Value};

use super::events::Events;
use crate::format::ascii_json::encode;

/// Adds what an event needs and does not have: its category, its process, thread and time, and the
/// scope of a moment.
pub fn fill_in(event: &mut Map<String, Value>, pid: u32, tid: u32, now_us: i64) {
    let is_fact = event.get("ph").is_some_and(|phase| phase == "M");
    let is_moment = event.get("ph").is_some_and(|phase| phase == "I" || phase == "i");
    let mut default = |key: &str, value: Value| {
        event.entry(key).or_insert(value);
    };
    default("cat", "user".into());
    default("pid", pid.into());
    default("tid", tid.into());
    default("ts", if is_fact { 0 } else { now_us }.into());
    default("args", Map::new().into());
    if is_moment {
        default("s", "t".into());
    }
}

/// Encodes an event.
pub fn push(events: &mut Events, event: &Map<String, Value>) {
    let mut text = Vec::new();
    encode(&mut text, event);
    events.push_encoded(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_filled_in_and_keeps_its_own_values() {
        let encoded = |text: &str| {
            let Value::Object(mut event) = serde_json::from_str(text).unwrap() else { panic!() };
            fill_in(&mut event, 42, 3, 99);
            let mut events = Events::default();
            push(&mut events, &event);
            String::from_utf8(events.as_bytes().to_vec()).unwrap()
        };
        let text = encoded(r#"{"args":{"ü":1},"ph":"I","name":"a"}"#);
        assert_eq!(
            text,
            r#"{"args":{"\u00fc":1},"cat":"user","name":"a","ph":"I","pid":42,"s":"t","tid":3,"ts":99}"#
        );
        assert_eq!(
            encoded(
                r#"{"ph":"b","name":"a","cat":"c","id":"0x1","ts":5,"pid":1,"tid":2,"scope":"x"}"#
            ),
            r#"{"args":{},"cat":"c","id":"0x1","name":"a","ph":"b","pid":1,"scope":"x","tid":2,"ts":5}"#
        );
        assert!(encoded(r#"{"ph":"M","name":"f","args":{}}"#).contains(r#""ts":0"#));
    }
}
