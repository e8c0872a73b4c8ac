//! Converts a file to the format of the output's extension.

pub(crate) mod convert;
pub(crate) mod replay;
#[cfg(test)]
mod tests;
