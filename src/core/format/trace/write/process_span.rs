//! The spans of processes, which DevTools draws in a track of their own.

use serde_json::json;

use super::event::{At, Event};
use super::event_args::{Args, Data};
use super::events::Events;
use crate::profile::ending::ProcessEnding;

/// All categories of the spans.
const CATEGORIES: &str = "devtools.timeline,cpu-prof.processes";

/// The name of the track.
const TRACK: &str = "Processes";

/// When a process or a worker ran.
#[derive(Debug, Clone)]
pub struct ProcessSpan<'a> {
    /// Label.
    pub name: &'a str,
    /// Pid in the trace; none for a worker.
    pub pid: Option<u64>,
    /// Label of the process that started this one; of a worker, its process.
    pub parent: Option<String>,
    /// How the process ended; none for a worker.
    pub ending: Option<&'a ProcessEnding>,
    /// Working directory.
    pub cwd: Option<&'a str>,
    /// Start and end, microseconds.
    pub span_us: (i64, i64),
}

impl<'a> ProcessSpan<'a> {
    /// Returns a worker of a process, without its times.
    pub fn of_worker(name: &'a str, process: &str) -> Self {
        let parent = Some(process.to_owned());
        Self { name, pid: None, parent, ending: None, cwd: None, span_us: (0, 0) }
    }

    /// Adds the span, on no thread: DevTools would draw it there too.
    pub fn add_to(&self, events: &mut Events) {
        let (start, end) = self.span_us;
        let data = Data::TimeStamp {
            message: self.name,
            name: self.name,
            start,
            end,
            track: TRACK,
            track_group: None,
            color: self.color(),
            devtools: &self.devtools(),
        };
        let at = At { pid: 0, tid: 0, ts: start };
        events.push(&Event::moment(CATEGORIES, "TimeStamp", at, Args::Data { data }));
    }

    /// Returns how DevTools draws the span: JSON.
    fn devtools(&self) -> String {
        let mut properties = Vec::new();
        let mut add = |key: &str, value: Option<String>| {
            properties.extend(value.map(|value| [key.to_owned(), value]));
        };
        add("pid", self.pid.map(|pid| pid.to_string()));
        add(if self.pid.is_some() { "parent" } else { "process" }, self.parent.clone());
        add("ended", self.ended());
        add("folder", self.cwd.map(str::to_owned));
        json!({ "dataType": "track-entry", "track": TRACK, "properties": properties }).to_string()
    }

    fn ended(&self) -> Option<String> {
        let ProcessEnding { exit_code, signal, ran_empty } = self.ending?;
        Some(match (exit_code, signal) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => signal.clone(),
            _ if *ran_empty => "nothing was left to do".to_owned(),
            _ => "killed or crashed, or still running".to_owned(),
        })
    }

    fn color(&self) -> &'static str {
        match self.ending {
            None => "secondary",
            Some(ending) if ending.exit_code == Some(0) => "primary",
            Some(ending) if ending.exit_code.is_none() && ending.ran_empty => "primary",
            Some(ending) if !ending.is_known() => "warning",
            Some(_) => "error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::write::events::Events;

    #[test]
    fn a_span_has_the_form_that_devtools_reads() {
        let ending = ProcessEnding::of_exit(3);
        let span = ProcessSpan {
            name: "tsc (pid 7)",
            pid: Some(7),
            parent: Some("nx (pid 1)".into()),
            ending: Some(&ending),
            cwd: None,
            span_us: (10, 30),
        };
        let mut events = Events::default();
        span.add_to(&mut events);
        assert_eq!(
            std::str::from_utf8(events.as_bytes()).unwrap(),
            r#"{"cat":"devtools.timeline,cpu-prof.processes","name":"TimeStamp","ph":"I","s":"t","pid":0,"tid":0,"ts":10,"args":{"data":{"message":"tsc (pid 7)","name":"tsc (pid 7)","start":10,"end":30,"track":"Processes","color":"error","devtools":"{\"dataType\":\"track-entry\",\"properties\":[[\"pid\",\"7\"],[\"parent\",\"nx (pid 1)\"],[\"ended\",\"exit code 3\"]],\"track\":\"Processes\"}"}}}"#
        );
    }
}
