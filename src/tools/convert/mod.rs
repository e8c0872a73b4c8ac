//! Converts a file to the format of the output's extension.

pub mod convert;
#[cfg(test)]
mod tests;
