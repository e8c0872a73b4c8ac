//! Runs work that waits for files and servers.

use tokio::runtime;

use super::handle::AT_ONCE;
use crate::store::failure::LakeError;

/// Runs work to its end on the calling thread.
pub fn wait_for<A>(work: impl Future<Output = Result<A, LakeError>>) -> Result<A, LakeError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(AT_ONCE)
        .build()
        .map_err(|error| LakeError(format!("threads cannot be started: {error}")))?;
    runtime.block_on(work)
}
