//! Sends profiles, whose contents are not known here, to Pyroscope or to a collector of OpenTelemetry.

mod answer;
pub mod counts;
pub mod environment;
mod line;
pub mod options;
mod pause;
mod push_failure;
pub mod query;
pub mod sender;
mod target;
