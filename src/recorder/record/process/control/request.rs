//! Reads the requests of peers: one line of JSON each.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use cpu_prof_core::base::settings::config::SETTINGS;

/// The version of requests and replies.
pub(super) const VERSION: u64 = 1;

/// Settings that a process has before it is started, so that no request has them.
const OF_THE_PROCESS: [&str; 3] = ["start", "socket", "workers"];

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Tell what the process does.
    Status,
    /// Start recording all threads.
    Start {
        /// Who asks.
        by: String,
        /// Settings by their names in code.
        settings: HashMap<String, String>,
        /// Time after which the recording ends by itself.
        for_: Option<Duration>,
    },
    /// Stop the recording.
    Stop,
}

/// Why a request was refused.
#[derive(Debug, Serialize)]
pub(super) struct BadRequest {
    /// Kind of the problem.
    pub code: &'static str,
    /// A sentence for the user.
    pub message: String,
}

impl BadRequest {
    /// Returns a problem of a kind.
    pub(super) fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }
}

/// A request as it was written.
#[derive(Deserialize)]
struct Written {
    v: u64,
    #[serde(rename = "do")]
    verb: String,
    by: Option<String>,
    #[serde(default)]
    settings: HashMap<String, String>,
    #[serde(rename = "forMs")]
    for_ms: Option<u64>,
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Request, BadRequest> {
    let wrong = |why: String| BadRequest::new("request", why);
    let value: Value = serde_json::from_slice(line).map_err(|why| wrong(why.to_string()))?;
    match value.get("v").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => {
            let why = format!(
                "the process has version {VERSION} of the protocol, not {other}; use the cpu-prof that it \
                 has loaded"
            );
            return Err(BadRequest::new("version", why));
        }
        None => return Err(wrong("the version, v, is missing".into())),
    }
    let written: Written = serde_json::from_value(value).map_err(|why| wrong(why.to_string()))?;
    debug_assert_eq!(written.v, VERSION);
    match written.verb.as_str() {
        "status" => Ok(Request::Status),
        "stop" => Ok(Request::Stop),
        "start" => Ok(Request::Start {
            by: one_line(written.by.as_deref().unwrap_or("a request")),
            settings: known(written.settings)?,
            for_: written.for_ms.map(time).transpose()?,
        }),
        other => Err(wrong(format!("there is no request {}", one_line(other)))),
    }
}

fn known(settings: HashMap<String, String>) -> Result<HashMap<String, String>, BadRequest> {
    let is_known = |name: &&String| {
        let known = SETTINGS.iter().any(|setting| setting.name == name.as_str());
        known && !OF_THE_PROCESS.contains(&name.as_str())
    };
    match settings.keys().find(|name| !is_known(name)) {
        Some(unknown) => {
            let why = format!("a request has no setting {}", one_line(unknown));
            Err(BadRequest::new("setting", why))
        }
        None => Ok(settings),
    }
}

fn time(ms: u64) -> Result<Duration, BadRequest> {
    /// A month, and what `cpu-prof record` adds so that it ends the recording itself.
    const MOST_MS: u64 = 31 * 24 * 3_600_000 + 60_000;
    match ms {
        1..=MOST_MS => Ok(Duration::from_millis(ms)),
        _ => Err(BadRequest::new("request", format!("forMs is from 1 to {MOST_MS}"))),
    }
}

/// Returns a text as it may stand in a message and in a trace: short, without control characters.
fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> &'static str {
        read(line.as_bytes()).unwrap_err().code
    }

    #[test]
    fn requests_are_read() {
        assert_eq!(read(br#"{"v":1,"do":"status"}"#).unwrap(), Request::Status);
        assert_eq!(read(br#"{"v":1,"do":"stop","later":[]}"#).unwrap(), Request::Stop);
        let start = br#"{"v":1,"do":"start","by":"a\nb","settings":{"dir":"/x"},"forMs":20}"#;
        let settings = HashMap::from([("dir".to_owned(), "/x".to_owned())]);
        let for_ = Some(Duration::from_millis(20));
        assert_eq!(read(start).unwrap(), Request::Start { by: "a b".into(), settings, for_ });
    }

    #[test]
    fn a_recording_takes_a_month_at_most() {
        // What the command line allows, with the margin of `cpu-prof record`.
        let month = br#"{"v":1,"do":"start","forMs":2678410000}"#;
        assert!(matches!(read(month), Ok(Request::Start { for_: Some(_), .. })));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "garbage",
            "[]",
            "7",
            "{}",
            r#"{"v":1}"#,
            r#"{"v":"1","do":"status"}"#,
            r#"{"v":1,"do":7}"#,
            r#"{"v":1,"do":"explode"}"#,
            r#"{"v":1,"do":"start","settings":{"dir":7}}"#,
            r#"{"v":1,"do":"start","settings":[]}"#,
            r#"{"v":1,"do":"start","by":{}}"#,
            r#"{"v":1,"do":"start","forMs":0}"#,
            r#"{"v":1,"do":"start","forMs":-1}"#,
            r#"{"v":1,"do":"start","forMs":2678460001}"#,
            r#"{"v":1,"do":"start","forMs":18446744073709551615}"#,
        ] {
            assert_eq!(code(line), "request", "{line}");
        }
        assert_eq!(code(&"[".repeat(60_000)), "request");
        assert_eq!(code(r#"{"v":2,"do":"status"}"#), "version");
        for name in ["colour", "start", "socket", "workers", "__proto__"] {
            let line = format!(r#"{{"v":1,"do":"start","settings":{{"{name}":"x"}}}}"#);
            assert_eq!(code(&line), "setting", "{name}");
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let line = format!(r#"{{"v":1,"do":"start","by":"{}"}}"#, "é".repeat(5000));
        let Ok(Request::Start { by, .. }) = read(line.as_bytes()) else { panic!("no start") };
        assert_eq!(by.chars().count(), 200);
    }
}
