//! What one process did in a window, encoded for a server.

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use cpu_prof_core::format::otlp;
use cpu_prof_core::format::pprof::write::write_series;
use cpu_prof_core::profile::session::{Process, Session};

/// A format that a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PushFormat {
    /// pprof, with the labels of the program alone: the server makes a series of each set of labels.
    Pyroscope,
    /// Profiles of OpenTelemetry.
    Otlp,
}

/// What a server gets to know beside the profile.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EncodedFacts {
    /// Name of the process: `server.js`.
    pub process: String,
    /// Process id; 0 if unknown.
    pub pid: i64,
    /// Start: milliseconds after 1970.
    pub from_ms: i64,
    /// End: milliseconds after 1970.
    pub until_ms: i64,
    /// Samples in a second.
    pub sample_rate: i64,
}

/// A body, and what it is of.
#[derive(Debug)]
pub(crate) struct EncodedProfile {
    pub facts: EncodedFacts,
    /// Gzipped.
    pub body: Vec<u8>,
}

/// Encodes the only process of a session, whose only clock has the times of the window; none without a
/// process.
pub(super) fn encode(
    session: &Session,
    format: PushFormat,
    attributes: &[(String, String)],
) -> io::Result<Option<EncodedProfile>> {
    let ([process], [clock]) = (&session.processes[..], &session.clocks[..]) else {
        return Ok(None);
    };
    let wall_ms = |at_us: i64| clock.wall_us(at_us).unwrap_or(0).max(0) / 1000;
    let facts = EncodedFacts {
        process: process.name.clone(),
        pid: process.pid,
        from_ms: wall_ms(clock.start_us),
        until_ms: wall_ms(clock.end_us),
        sample_rate: (1_000_000 / session.interval_us().max(1)).max(1),
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    match format {
        PushFormat::Pyroscope => write_series(session, &mut gzip)?,
        PushFormat::Otlp => otlp::write(session, &resource(attributes, process), &mut gzip)?,
    }
    Ok(Some(EncodedProfile { facts, body: gzip.finish()? }))
}

/// Returns the attributes of a process, those of the user first.
fn resource(attributes: &[(String, String)], process: &Process) -> Vec<(String, String)> {
    let mut all = attributes.to_vec();
    let mut add = |key: &str, value: String| {
        if all.iter().all(|(known, _)| known != key) {
            all.push((key.to_owned(), value));
        }
    };
    add("service.name", process.name.clone());
    if process.pid != 0 {
        add("process.pid", process.pid.to_string());
    }
    all
}
