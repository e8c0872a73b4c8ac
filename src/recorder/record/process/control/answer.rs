//! Does what a request asks for, and answers with one line of JSON.

use std::path::Path;

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use super::request::{BadRequest, Request, VERSION, read};
use crate::record::process::armed::{
    self, ArmedState, ProcessStart, Refusal, RunningRecording, StoppedProcess,
};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::base::system;

/// A reply.
#[derive(Serialize)]
struct Reply<'a> {
    v: u64,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Done {
        status: Box<Status<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stopped: Option<StoppedProcess>,
    },
    Refused {
        error: BadRequest,
    },
}

/// What an armed process is, and does.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    pid: u32,
    ppid: Option<u32>,
    node: &'a str,
    label: String,
    script: Option<&'a str>,
    argv: &'a [String],
    cwd: &'a str,
    dir: &'a Path,
    armed_ms: u64,
    threads: usize,
    conditions: Vec<&'a str>,
    recording: Option<&'a RunningRecording>,
    last: Option<&'a StoppedProcess>,
}

impl<'a> Status<'a> {
    fn of(state: &'a ArmedState) -> Self {
        let ArmedState { program, config, since_ms, threads, recording, last } = state;
        Self {
            pid: program.pid,
            ppid: system::parent_id(),
            node: &program.node,
            label: program.command_label(),
            script: program.argv.get(1).map(String::as_str),
            argv: &program.argv,
            cwd: &program.cwd,
            dir: &config.dir,
            armed_ms: *since_ms,
            threads: *threads,
            conditions: config.start.conditions().iter().map(|each| each.text.as_str()).collect(),
            recording: recording.as_ref(),
            last: last.as_ref(),
        }
    }
}

/// Returns the reply to a line.
pub(super) fn answer(line: &[u8]) -> Vec<u8> {
    let done = read(line).and_then(obey);
    let state = armed::state();
    let outcome = match (done, &state) {
        (Ok(stopped), Some(state)) => {
            Outcome::Done { status: Box::new(Status::of(state)), stopped }
        }
        (Ok(_), None) => Outcome::Refused { error: Refusal::Idle.into() },
        (Err(error), _) => Outcome::Refused { error },
    };
    reply(outcome)
}

/// Returns the reply to a peer whose request could not be read, for this reason.
pub(super) fn refuse(why: String) -> Vec<u8> {
    reply(Outcome::Refused { error: BadRequest::new("request", why) })
}

fn reply(outcome: Outcome<'_>) -> Vec<u8> {
    serde_json::to_vec(&Reply { v: VERSION, outcome }).unwrap_or_default()
}

fn obey(request: Request) -> Result<Option<StoppedProcess>, BadRequest> {
    match request {
        Request::Status => Ok(None),
        Request::Stop => Ok(Some(armed::stop_all()?)),
        Request::Start { by, settings, for_ } => {
            let config = armed::settings_with(&settings)?;
            let reason = StartReason::Request { by };
            armed::start_all(ProcessStart { config, reason, for_ })?;
            Ok(None)
        }
    }
}

impl From<Error> for BadRequest {
    fn from(error: Error) -> Self {
        let code = if error.is_wrong_setting() { "setting" } else { "unavailable" };
        Self::new(code, error.to_string())
    }
}

impl From<Refusal> for BadRequest {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Busy(recording) => Self::new("busy", busy(&recording)),
            Refusal::Idle => Self::new("idle", "the process is not being recorded".into()),
            Refusal::Unavailable(why) => Self::new("unavailable", why),
        }
    }
}

/// Returns who has started the recording that runs, and when.
fn busy(recording: &RunningRecording) -> String {
    let who = match &recording.reason {
        StartReason::Request { by } => by,
        StartReason::Condition { reason, .. } => reason,
    };
    let since = i64::try_from(recording.since_ms).ok().and_then(DateTime::from_timestamp_millis);
    let since = since.unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true);
    format!("the process is being recorded already, since {since}, by {who}")
}
