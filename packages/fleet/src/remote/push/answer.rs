//! What an answer of the server means for a payload.

use std::time::{Duration, SystemTime};

use http::Response;
use http::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use prost::Message;

use super::options::ServerKind;
use super::pause::asked_pause;
use super::push_failure::PushFailure;
use crate::http_client::net_failure::NetFailure;

/// What happens to a payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server has the payload.
    Sent,
    /// The server does not want the payload, and never will.
    Refused(PushFailure),
    /// Another attempt can help, after the pause that the server asks for.
    Again(PushFailure, Option<Duration>),
}

/// Judges an answer. What cannot be read of a good answer counts as none: the payload has arrived, and would be
/// there twice if it were sent again.
pub(super) fn verdict_of(kind: ServerKind, answer: &Response<Vec<u8>>) -> Verdict {
    let status = answer.status().as_u16();
    let failure = PushFailure::Status(status);
    match status {
        // A proxy that wants a login answers 200 too.
        200..=299 if media_of(answer.headers()) == "text/html" => {
            Verdict::Refused(PushFailure::OtherServer)
        }
        200..=299 if kind == ServerKind::Otlp => verdict_of_collector(answer),
        200..=299 => Verdict::Sent,
        408 | 429 | 500.. => {
            let asked = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            Verdict::Again(failure, asked.and_then(|value| asked_pause(value, SystemTime::now())))
        }
        _ => Verdict::Refused(failure),
    }
}

/// Judges a request without an answer. A wrong name can be one of a network that comes back, so it is tried again.
pub(super) fn verdict_of_failure(failure: NetFailure) -> Verdict {
    match failure {
        NetFailure::Untrusted(_) | NetFailure::Garbage => {
            Verdict::Refused(PushFailure::Net(failure))
        }
        _ => Verdict::Again(PushFailure::Net(failure), None),
    }
}

/// Judges an answer of 2xx of a collector, which can reject profiles there.
fn verdict_of_collector(answer: &Response<Vec<u8>>) -> Verdict {
    // A collector answers in the format of the request.
    if media_of(answer.headers()) == "application/json" {
        return Verdict::Refused(PushFailure::OtherServer);
    }
    match rejected_profiles(answer.body()) {
        Some(count) if count > 0 => Verdict::Refused(PushFailure::Rejected(count)),
        _ => Verdict::Sent,
    }
}

/// Returns the type of an answer's body, in lower case.
fn media_of(headers: &HeaderMap) -> String {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The answer of a collector, `ExportProfilesServiceResponse`.
#[derive(Clone, PartialEq, Message)]
struct ExportAnswer {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

/// What a collector took in part.
#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_profiles: i64,
}

/// Returns the count of profiles that a collector rejected. None for what is no such message.
fn rejected_profiles(body: &[u8]) -> Option<i64> {
    let answer = ExportAnswer::decode(body).ok()?;
    Some(answer.partial_success.map_or(0, |partial| partial.rejected_profiles))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(kind: ServerKind, status: u16, header: (&str, &str), body: &[u8]) -> Verdict {
        let answer = Response::builder().status(status).header(header.0, header.1);
        verdict_of(kind, &answer.body(body.to_vec()).unwrap())
    }

    #[test]
    fn statuses_decide() {
        use ServerKind::{Otlp, Pyroscope};
        let plain = ("x", "y");
        for kind in [Otlp, Pyroscope] {
            for status in [200, 202, 204] {
                assert_eq!(judged(kind, status, plain, b""), Verdict::Sent);
            }
            for status in [301, 307, 400, 401, 404, 413, 422] {
                let refused = Verdict::Refused(PushFailure::Status(status));
                assert_eq!(judged(kind, status, ("retry-after", "1"), b""), refused);
            }
            for status in [408, 429, 500, 502, 503, 504] {
                let again =
                    Verdict::Again(PushFailure::Status(status), Some(Duration::from_secs(7)));
                assert_eq!(judged(kind, status, ("retry-after", "7"), b""), again);
            }
        }
        let page = ("content-type", "text/html; charset=utf-8");
        assert_eq!(
            judged(Pyroscope, 200, page, b"<html>"),
            Verdict::Refused(PushFailure::OtherServer)
        );
        assert_eq!(judged(Otlp, 200, page, b"<html>"), Verdict::Refused(PushFailure::OtherServer));
    }

    #[test]
    fn a_collector_rejects_within_a_good_answer() {
        let kind = ServerKind::Otlp;
        let plain = ("content-type", "application/x-protobuf");
        // field 1 {field 1: 3, field 2: "no"}
        let body = [0x0a, 6, 0x08, 3, 0x12, 2, b'n', b'o'];
        let rejected = Verdict::Refused(PushFailure::Rejected(3));
        assert_eq!(judged(kind, 200, plain, &body), rejected);
        for body in [&[][..], &[0x0a, 0], &[0x0a, 2, 0x08, 0], &[0x0a, 9, 1], b"OK", &[0xff; 30]] {
            assert_eq!(judged(kind, 200, plain, body), Verdict::Sent, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            rejected_profiles(&body);
        }
    }
}
