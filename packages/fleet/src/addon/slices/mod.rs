//! Cuts recordings into slices of time, and encodes each process of a slice for a server of profiles.

pub(crate) mod names;
pub(crate) mod payload;
pub(crate) mod pusher;
pub(crate) mod reader;

#[cfg(test)]
mod tests;
