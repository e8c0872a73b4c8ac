//! Which files of a partition count: what follows from the names of its files and from its changes alone.

pub(crate) mod change;
pub(crate) mod removal;
pub(crate) mod replacement;
pub(crate) mod standing;
#[cfg(test)]
mod tests;
