//! What a session says otherwise than its files do, once all of the files are read.

pub(super) mod blocked_calls;
pub(super) mod evaluated;
pub(super) mod node_files;
pub(super) mod pool_waits;
pub(super) mod wasm;
