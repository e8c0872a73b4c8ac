//! Events at other times.

use serde_json::Value;

use super::head::EventHead;
use crate::format::ascii_json::encode;
use crate::profile::time_shift::TimeShift;

/// Members of a profile's data that are times.
const TIMES: [&str; 2] = ["startTime", "endTime"];

/// Returns an event with its times moved; none if the event has no time. `head` is that of the event.
pub fn moved(event: &[u8], head: &EventHead, shift: TimeShift) -> Option<Vec<u8>> {
    let ts = head.ts(event).filter(|_| head.phase != b'M')?;
    let moved = head.with_whole_ts(event, shift.moved(ts));
    let has_times = match head.name(event) {
        b"Profile" | b"CpuProfile" => true,
        b"ProfileChunk" => memchr::memmem::find(event, b"\"endTime\"").is_some(),
        _ => false,
    };
    if !has_times {
        return Some(moved);
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(&moved) else { return Some(moved) };
    for place in ["/args/data", "/args/data/cpuProfile"] {
        let Some(data) = json.pointer_mut(place) else { continue };
        for time in TIMES {
            if let Some(us) = data.get(time).and_then(Value::as_f64) {
                data[time] = shift.moved(us.round() as i64).into();
            }
        }
    }
    let mut out = Vec::with_capacity(moved.len());
    encode(&mut out, &json);
    Some(out)
}

/// Returns the value of a member of a `.cpuprofile` with its time moved; none if the member is not a
/// time.
pub(crate) fn moved_member(key: &str, value: &[u8], shift: TimeShift) -> Option<Vec<u8>> {
    if shift.is_none() || !TIMES.contains(&key) {
        return None;
    }
    let us: f64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    Some(shift.moved(us.round() as i64).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_by(us: i64, event: &str) -> String {
        let head = EventHead::of_any(event.as_bytes()).unwrap();
        let shift = TimeShift { us, has_zero: false };
        let moved = moved(event.as_bytes(), &head, shift);
        moved.map_or(event.to_owned(), |moved| String::from_utf8(moved).unwrap())
    }

    #[test]
    fn all_times_of_an_event_are_moved() {
        for (event, expected) in [
            (
                r#"{"name":"x","ph":"X","ts":5.5,"dur":3}"#,
                r#"{"name":"x","ph":"X","ts":105.5,"dur":3}"#,
            ),
            (r#"{"name":"x","ph":"I","ts":0}"#, r#"{"name":"x","ph":"I","ts":0}"#),
            (r#"{"name":"x","ph":"M","ts":7}"#, r#"{"name":"x","ph":"M","ts":7}"#),
            (
                r#"{"args":{"data":{"startTime":4}},"name":"Profile","ph":"P","ts":5}"#,
                r#"{"args":{"data":{"startTime":104}},"name":"Profile","ph":"P","ts":105}"#,
            ),
            (
                r#"{"args":{"data":{"endTime":6,"timeDeltas":[1]}},"name":"ProfileChunk","ph":"P","ts":5}"#,
                r#"{"args":{"data":{"endTime":106,"timeDeltas":[1]}},"name":"ProfileChunk","ph":"P","ts":105}"#,
            ),
        ] {
            assert_eq!(moved_by(100, event), expected);
        }
    }

    #[test]
    fn a_time_of_0_moves_where_times_count_from_0() {
        let shift = TimeShift { us: 9, has_zero: true };
        assert_eq!(shift.moved(0), 9);
        assert_eq!(moved_member("startTime", b"1", shift).unwrap(), b"10");
        assert_eq!(moved_member("samples", b"1", shift), None);
    }
}
