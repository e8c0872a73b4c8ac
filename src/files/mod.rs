//! Files on the disk, whatever their format.

pub(crate) mod atomic;
pub(crate) mod error;
mod exclusive;
pub(crate) mod find;
pub(crate) mod input;
pub(crate) mod live_trace;
pub(crate) mod own_file;
pub(crate) mod spool;
mod target;
pub(crate) mod temporary;

#[cfg(test)]
mod tests;
