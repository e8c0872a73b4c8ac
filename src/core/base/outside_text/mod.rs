//! Decides what text of the outside may enter a recording: of command lines, of requests, and of the URLs of
//! scripts. Secrets stay outside, and no text is long.
//!
//! `lib/observed/request-name.js` follows the same rule for requests, because it runs with each request.

mod address;
mod command_line;
mod event_name;
mod opaque;
mod request_path;
mod secret_name;
mod short;

pub use address::script_url;
pub(crate) use command_line::runs_code;
pub use command_line::{command, node_options, process_label, words};
pub use event_name::{event_name, holds_request};

#[cfg(test)]
mod tests;
