//! The exports by which a program adds events to its recording.
#![allow(unsafe_code)] // napi's macros write it.

use napi::bindgen_prelude::{Float64Array, Uint16Array};
use napi_derive::napi;
use serde_json::{Map, Value};

use crate::record::observers::http::HttpRequests;
use crate::record::observers::user_events::UserEvents;
use crate::record::thread::recording::{self, with_observer};
use crate::sampler::v8::RequestNotes;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::check::one_event::problem_of;
use cpu_prof_core::format::trace::write::event::At;

/// Returns what the calling thread's recording wants beside the profile, as bits: 1 for user timings, 2
/// for requests of HTTP, 4 for what TypeScript's compiler works on.
#[napi(js_name = "cpuProfWantedTimings", catch_unwind)]
pub(crate) fn wanted_timings() -> u32 {
    let Some(categories) = recording::categories() else { return 0 };
    let bit = |category, bit| if categories.has(category) { bit } else { 0 };
    bit(Category::Timings, 1) | bit(Category::Http, 2) | bit(Category::TypeScript, 4)
}

/// Adds an event of any phase, as JSON, to the calling thread's recording. Fills in what is missing.
/// Returns what is wrong with the event.
#[napi(js_name = "cpuProfEmit", catch_unwind)]
pub(crate) fn emit(json: String) -> Option<String> {
    let at = with_observer(UserEvents::now)?;
    let mut event: Value = match serde_json::from_str(&well_formed(json)) {
        Ok(event) => event,
        Err(error) => return Some(format!("the event is not JSON: {error}")),
    };
    if let Value::Object(event) = &mut event {
        set_clock(event, system::node_clock_lead_us());
        fill_in(event, at);
    }
    let problem = problem_of(&event);
    if let (None, Value::Object(event)) = (&problem, &mut event) {
        name_end(event);
        with_observer(|own: &UserEvents| own.add(|events| events.push(event)));
    }
    problem
}

/// Turns a time by Node's clock, which is `lead_us` ahead, into one by the trace's clock.
fn set_clock(event: &mut Map<String, Value>, lead_us: i64) {
    if lead_us == 0 || event.get("ph").is_some_and(|phase| phase == "M") {
        return;
    }
    let turned = event.get("ts").and_then(|ts| match ts.as_i64() {
        Some(us) => Some(us.saturating_sub(lead_us).into()),
        None => ts.as_f64().map(|us| (us - lead_us as f64).into()),
    });
    if let Some(turned) = turned {
        event.insert("ts".into(), turned);
    }
}

/// Adds what an event needs and does not have: its category, its process, thread and time, and the
/// scope of a moment.
fn fill_in(event: &mut Map<String, Value>, At { pid, tid, ts }: At) {
    let is_fact = event.get("ph").is_some_and(|phase| phase == "M");
    let is_moment = event.get("ph").is_some_and(|phase| phase == "I" || phase == "i");
    let mut default = |key: &str, value: Value| {
        event.entry(key).or_insert(value);
    };
    default("cat", "user".into());
    default("pid", pid.into());
    default("tid", tid.into());
    default("ts", if is_fact { 0 } else { ts }.into());
    default("args", Map::new().into());
    if is_moment {
        default("s", "t".into());
    }
}

/// Gives the end of a call the name of its beginning: DevTools refuses a trace with an event without a
/// name.
fn name_end(event: &mut Map<String, Value>) {
    let name = event.get("name").and_then(Value::as_str).map(str::to_owned);
    match event.get("ph").and_then(Value::as_str) {
        Some("B") => {
            with_observer(|own: &UserEvents| own.begin_call(&name.unwrap_or_default()));
        }
        Some("E") => {
            let begun = with_observer(UserEvents::end_call).flatten();
            event.insert("name".into(), name.or(begun).unwrap_or_default().into());
        }
        _ if name.is_none() => drop(event.insert("name".into(), "".into())),
        _ => {}
    }
}

/// Returns by how much the clock of `process.hrtime` is ahead of the trace's, microseconds.
#[napi(js_name = "cpuProfClockLead", catch_unwind)]
pub(crate) fn clock_lead() -> f64 {
    system::node_clock_lead_us() as f64
}

/// Adds a mark. `start_us` is its time by the clock of `process.hrtime`, microseconds; `start_ms` by
/// that of `performance.now()`, milliseconds. Without them it marks this moment. `detail` is JSON.
#[napi(js_name = "cpuProfMark", catch_unwind)]
pub(crate) fn mark(
    name: String,
    detail: Option<String>,
    start_us: Option<f64>,
    start_ms: Option<f64>,
) {
    let start = start_us.zip(start_ms);
    let detail = detail.map(well_formed);
    let start = start.map(|(us, ms)| (us as i64, ms));
    with_observer(|own: &UserEvents| own.mark(&name, detail.as_deref(), start));
}

/// Adds a time that has ended. `duration_us` is in microseconds, the others are as for a mark.
#[napi(js_name = "cpuProfMeasure", catch_unwind)]
pub(crate) fn measure(
    name: String,
    detail: Option<String>,
    start_us: f64,
    start_ms: f64,
    duration_us: f64,
) {
    let (start, detail) = ((start_us as i64, start_ms), detail.map(well_formed));
    with_observer(|own: &UserEvents| {
        own.measure(&name, detail.as_deref(), start, duration_us as i64);
    });
}

/// Lets requests that have ended be taken from arrays in which JavaScript notes them. `clock_offset_us` is
/// the time of the clock of `process.hrtime` at which that of `performance.now()` was 0, microseconds.
#[napi(js_name = "cpuProfUseRequestNotes", catch_unwind)]
pub(crate) fn use_request_notes(numbers: Float64Array, units: Uint16Array, clock_offset_us: f64) {
    let notes = RequestNotes::new(numbers, units);
    with_observer(|http: &HttpRequests| http.use_notes(notes, clock_offset_us as i64));
}

/// Tells that JavaScript has noted a first request.
#[napi(js_name = "cpuProfHasRequests", catch_unwind)]
pub(crate) fn has_requests() {
    with_observer(HttpRequests::has_some);
}

/// Takes the requests that JavaScript has noted.
#[napi(js_name = "cpuProfTakeRequests", catch_unwind)]
pub(crate) fn take_requests() {
    with_observer(HttpRequests::take);
}

/// Begins a span. Returns the span's number.
#[napi(js_name = "cpuProfBeginSpan", catch_unwind)]
pub(crate) fn begin_span(name: String, detail: Option<String>) -> Option<u32> {
    let detail = detail.map(well_formed);
    with_observer(|own: &UserEvents| own.begin_span(&name, detail.as_deref()))
}

/// Ends a span.
#[napi(js_name = "cpuProfEndSpan", catch_unwind)]
pub(crate) fn end_span(name: String, number: u32) {
    with_observer(|own: &UserEvents| own.end_span(&name, number));
}

/// Puts U+FFFD in place of each half of a character, which no UTF-8 has, as JavaScript's
/// `toWellFormed` does. `json` is of `JSON.stringify`, which escapes a `\ud…` for halves only.
fn well_formed(json: String) -> String {
    const HALF: &str = "\\ud";
    if !json.contains(HALF) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let length = if escape.starts_with(HALF) { "\\ud800".len() } else { "\\n".len() };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        text.push_str(if escape.starts_with(HALF) { "\u{fffd}" } else { escape });
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::format::trace::write::events::Events;

    #[test]
    fn a_time_by_another_clock_is_turned_into_one_of_the_trace() {
        for (text, lead_us, expected) in [
            (r#"{"ph":"I","ts":90}"#, 40, Some(50.0)),
            (r#"{"ph":"I","ts":90.5}"#, 40, Some(50.5)),
            (r#"{"ph":"I","ts":90}"#, 0, Some(90.0)),
            (r#"{"ph":"M","ts":0}"#, 40, Some(0.0)),
            (r#"{"ph":"I"}"#, 40, None),
        ] {
            let Value::Object(mut event) = serde_json::from_str(text).unwrap() else { panic!() };
            set_clock(&mut event, lead_us);
            assert_eq!(event.get("ts").and_then(Value::as_f64), expected, "{text}");
        }
    }

    #[test]
    fn half_a_character_is_replaced_unless_it_is_text() {
        for (json, expected) in [
            (r#""a\ud800b""#, "\"a\u{fffd}b\""),
            (r#""\\ud800\\\udfff\n""#, "\"\\\\ud800\\\\\u{fffd}\\n\""),
            (r#""\u0007\ud83d""#, "\"\\u0007\u{fffd}\""),
            (r#""ü\ud8""#, "\"ü\u{fffd}"),
        ] {
            assert_eq!(well_formed(json.into()), expected);
        }
    }

    #[test]
    fn an_event_is_filled_in_and_keeps_its_own_values() {
        let encoded = |text: &str| {
            let Value::Object(mut event) = serde_json::from_str(text).unwrap() else { panic!() };
            fill_in(&mut event, At { pid: 42, tid: 3, ts: 99 });
            let mut events = Events::default();
            events.push(&event);
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
