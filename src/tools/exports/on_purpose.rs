//! The errors that JavaScript gets on purpose.

use napi::bindgen_prelude::Error;

/// Returns an error with a message for the user. By the beginning of the message, JavaScript knows the error from
/// a caught panic, which is a defect.
pub(super) fn error_for_user(message: impl AsRef<str>) -> Error {
    Error::from_reason(format!("cpu-prof: {}", message.as_ref()))
}
