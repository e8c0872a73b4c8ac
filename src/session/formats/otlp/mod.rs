//! Profiles of OpenTelemetry's protocol, as of opentelemetry-proto 1.10.0 (`profiles/v1development`):
//! <https://github.com/open-telemetry/opentelemetry-proto>.

mod attributes;
mod dictionary;
mod message;
mod request;

use std::io::{self, Write};

use prost::Message;

use crate::model::Session;

/// Writes all threads as a request to a collector. `resource` has attributes of what was profiled: keys and
/// values. The last value of a key counts.
pub fn write(
    session: &Session,
    resource: &[(String, String)],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&request::of(session, resource).encode_to_vec())
}

#[cfg(test)]
mod tests;
