//! Sends profiles, whose contents are not known here, to Pyroscope or to a collector of OpenTelemetry.

mod answer;
mod counts;
mod line;
pub(crate) mod options;
mod pause;
mod push_failure;
pub(crate) mod query;
pub(crate) mod sender;
mod target;
