//! What one process did in a slice, encoded for a server.

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::names::ProfileNames;
use cpu_prof_remote::push::options::ServerKind;
use cpu_prof_remote::push::query::PushMeta;
use cpu_prof_session::formats::otlp;
use cpu_prof_session::formats::pprof::write::write_series;
use cpu_prof_session::model::Session;

/// A body, and what it is of.
#[derive(Debug)]
pub(crate) struct EncodedProfile {
    pub meta: PushMeta,
    /// Gzipped.
    pub body: Vec<u8>,
}

/// Encodes the only process of a session, whose only clock has the times of the slice; none without a
/// process.
pub(super) fn encode(
    session: &Session,
    kind: ServerKind,
    names: &ProfileNames,
) -> io::Result<Option<EncodedProfile>> {
    let ([process], [clock]) = (&session.processes[..], &session.clocks[..]) else {
        return Ok(None);
    };
    let wall_ms = |at_us: i64| (clock.wall_us(at_us).unwrap_or(0).max(0) / 1000) as f64;
    let meta = PushMeta {
        from_ms: wall_ms(clock.start_us),
        until_ms: wall_ms(clock.end_us),
        sample_rate: (1_000_000 / session.interval_us().max(1)).max(1) as f64,
        ..names.meta(&process.name)
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    match kind {
        // The server makes a series of each set of labels, so only those of the program count.
        ServerKind::Pyroscope => write_series(session, &mut gzip)?,
        ServerKind::Otlp => {
            otlp::write(session, &names.attributes(&process.name, process.pid), &mut gzip)?;
        }
    }
    Ok(Some(EncodedProfile { meta, body: gzip.finish()? }))
}
