//! What the commands do with a lake.

pub(crate) mod add;
mod cache;
pub(crate) mod commit;
pub(crate) mod handle;
pub(crate) mod read;
mod snapshot;
pub(crate) mod sweep;
mod temporary;
mod upload;
