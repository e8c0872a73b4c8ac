//! Requests of HTTP as user timings, each in the track of its kind.
//!
//! A busy server has tens of thousands of them in a second. So they are written without a struct for serde
//! and without format strings.

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
        let mut encoded = Vec::with_capacity(name.len() + 2);
        encode(&mut encoded, &name);
        let id = span_id(self.at, self.number);
        let both = (encoded.as_slice(), id.as_str());
        events.push_with(|bytes| {
            self.write_head(bytes, both, "b", self.at.ts);
            bytes.extend_from_slice(br#""startTime":"#);
            encode(bytes, &self.start_ms);
            self.write_detail(bytes);
            bytes.extend_from_slice(b"}}");
        });
        events.push_with(|bytes| {
            self.write_head(bytes, both, "e", self.at.ts + self.duration_us);
            bytes.extend_from_slice(b"}}");
        });
    }

    /// Writes an event up to its arguments. Both events have the name, as JSON, and the id.
    fn write_head(&self, bytes: &mut Vec<u8>, (name, id): (&[u8], &str), phase: &str, ts: i64) {
        let category = USER_TIMING.as_bytes();
        let parts: [&[u8]; 8] = [
            br#"{"cat":""#,
            category,
            br#"","name":"#,
            name,
            br#","ph":""#,
            phase.as_bytes(),
            br#"","id2":{"local":""#,
            id.as_bytes(),
        ];
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(br#""},"pid":"#);
        encode(bytes, &self.at.pid);
        bytes.extend_from_slice(br#","tid":"#);
        encode(bytes, &self.at.tid);
        bytes.extend_from_slice(br#","ts":"#);
        encode(bytes, &ts);
        bytes.extend_from_slice(br#","args":{"#);
    }

    /// Writes how DevTools draws the request: JSON as a text.
    fn write_detail(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(
            br#","detail":"{\"devtools\":{\"dataType\":\"track-entry\",\"track\":\""#,
        );
        bytes.extend_from_slice(self.track.as_bytes());
        bytes.extend_from_slice(br#"\",\"color\":\"primary\",\"properties\":["#);
        if let Some(status) = self.status {
            bytes.extend_from_slice(br#"[\"status\",\""#);
            encode(bytes, &status);
            bytes.extend_from_slice(br#"\"]"#);
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
