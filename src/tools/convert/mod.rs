//! Converts a file to the format of the output's extension.

pub(crate) mod convert;
#[cfg(test)]
mod tests;
