//! Cuts recordings into windows of time, and encodes each process of a window for a server of profiles.

pub(crate) mod names;
pub(crate) mod payload;
pub(crate) mod pusher;
pub(crate) mod reader;

#[cfg(test)]
mod tests;
