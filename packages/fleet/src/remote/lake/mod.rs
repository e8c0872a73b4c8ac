//! What the commands do with a lake.

pub mod add;
mod cache;
pub mod commit;
pub mod handle;
pub mod read;
mod snapshot;
pub mod sweep;
mod temporary;
mod upload;
pub mod wait;
