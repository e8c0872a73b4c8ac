//! Requests of HTTP as user timings, each in the track of its kind.
//!
//! A busy server has tens of thousands of them in a second. So they are written without serde, in a
//! third of the time.

use std::io::Write;

use super::event::At;
use super::events::Events;
use super::timing::{USER_TIMING, span_id};
use crate::format::ascii_json::encode;

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct HttpRequest {
    /// Number of the span in its thread.
    pub number: u32,
    /// The track that DevTools draws, which needs no escape in JSON.
    pub track: &'static str,
    /// Status of the response.
    pub status: Option<u32>,
    /// Thread and start.
    pub at: At,
    /// Start by the program's clock, milliseconds.
    pub start_ms: f64,
    /// Length, microseconds.
    pub duration_us: i64,
}

impl HttpRequest {
    /// Adds the start and the end of the request, whose name is its method and path.
    pub fn add_to(&self, events: &mut Events, name: &str) {
        let At { pid, tid, ts } = self.at;
        let (id, end) = (span_id(self.at, self.number), ts + self.duration_us);
        let mut encoded = Vec::with_capacity(name.len() + 2);
        encode(&mut encoded, &name);
        let name = std::str::from_utf8(&encoded).unwrap_or("\"\"");
        events.push_with(|bytes| {
            // Writing to memory cannot fail.
            let _ = write!(
                bytes,
                r#"{{"cat":"{USER_TIMING}","name":{name},"ph":"b","id2":{{"local":"{id}"}},"pid":{pid},"tid":{tid},"ts":{ts},"args":{{"startTime":"#,
            );
            encode(bytes, &self.start_ms);
            self.write_detail(bytes);
            bytes.extend_from_slice(b"}}");
        });
        events.push_with(|bytes| {
            let _ = write!(
                bytes,
                r#"{{"cat":"{USER_TIMING}","name":{name},"ph":"e","id2":{{"local":"{id}"}},"pid":{pid},"tid":{tid},"ts":{end},"args":{{}}}}"#,
            );
        });
    }

    /// Writes how DevTools draws the request: JSON as a text.
    fn write_detail(&self, bytes: &mut Vec<u8>) {
        let _ = write!(
            bytes,
            r#","detail":"{{\"devtools\":{{\"dataType\":\"track-entry\",\"track\":\"{}\",\"color\":\"primary\",\"properties\":["#,
            self.track
        );
        if let Some(status) = self.status {
            let _ = write!(bytes, r#"[\"status\",\"{status}\"]"#);
        }
        bytes.extend_from_slice(br#"]}}""#);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::write::timing::{self, Timing};

    #[test]
    fn a_request_is_the_user_timing_of_its_kind() {
        for (status, properties) in [(Some(404), r#"["status","404"]"#), (None, "")] {
            let name = "GET /\"ü\"\n";
            let at = At { pid: 42, tid: 1, ts: 80_500 };
            let start_ms = 80.123_456_789;
            let detail = format!(
                r#"{{"devtools":{{"dataType":"track-entry","track":"fetch","color":"primary","properties":[{properties}]}}}}"#
            );
            let (mut expected, id) = (Events::default(), span_id(at, 7));
            Timing { name, at, start_ms, detail: Some(&detail) }.begin(&mut expected, &id);
            timing::end(&mut expected, At { ts: 90_500, ..at }, name, &id);

            let mut events = Events::default();
            let (number, track) = (7, "fetch");
            HttpRequest { number, track, status, at, start_ms, duration_us: 10_000 }
                .add_to(&mut events, name);
            let text = |events: &Events| String::from_utf8(events.as_bytes().to_vec()).unwrap();
            assert_eq!(text(&events), text(&expected));
        }
    }
}
