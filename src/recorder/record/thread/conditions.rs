//! Lets the conditions of the process watch the calling thread, the main thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::Env;

use crate::record::conditions;
use crate::sampler::v8::{EventLoop, Waker};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::config::Config;

/// Watches the conditions of `config`, if there are any, as long as the environment lives.
///
/// Only the main thread is watched: a worker is mostly there to compute for long.
pub(crate) fn watch_conditions(env: &Env, thread_id: u32, config: &Config) -> Result<(), Error> {
    if thread_id != 0 || config.start.conditions().is_empty() {
        return Ok(());
    }
    let event_loop = EventLoop::untouched(env);
    let waker = Arc::new(Waker::new(event_loop.as_ref())?);
    let closed = Arc::clone(&waker);
    let close = |waker: Arc<Waker>| drop(catch_unwind(AssertUnwindSafe(|| waker.close())));
    env.add_env_cleanup_hook(closed, close).map_err(|_| {
        Error::Unavailable("Node did not add a hook for the end of the thread".into())
    })?;
    conditions::watch(config, waker)
}
