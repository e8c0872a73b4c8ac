//! For machines on which no frame is missing that could be shown.

use super::v8_code::{CodeKind, V8Code};
use super::{MissingFrame, StoppedStack};

pub(super) fn missing(_: CodeKind, _: &V8Code, _: &StoppedStack<'_>) -> Option<MissingFrame> {
    None
}

/// Returns that no address is known to be the interpreter's, so that nothing is proven.
pub(super) fn is_interpreter(_: u64, _: &V8Code) -> bool {
    false
}
