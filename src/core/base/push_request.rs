//! What the recorder asks of the tools when the process sends its own recordings.

use std::collections::HashMap;
use std::ffi::CStr;

use serde::{Deserialize, Serialize};

/// The function of the tools' library that takes a request: a text and its length, bytes. It returns the time
/// to the next call, milliseconds, or a negative number if another call is in vain.
pub const FUNCTION: &CStr = c"cpu_prof_push";

/// The type of that function.
pub type PushFunction = unsafe extern "C" fn(request: *const u8, length: usize) -> i64;

/// A request, as JSON. The variables have secrets, so there is no `Debug`.
#[derive(Serialize, Deserialize)]
pub struct PushRequest {
    /// Version of the recorder.
    pub version: String,
    /// Variables of the environment, as they were when the process started.
    pub variables: HashMap<String, String>,
    /// Length of a slice, milliseconds.
    pub slice_ms: u64,
    /// Traces of the process that grow, or have ended not long ago.
    pub files: Vec<String>,
}
