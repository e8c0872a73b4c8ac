//! Converts a file to the format of the output's extension.

pub(crate) mod convert;
mod converted_files;
pub(crate) mod replay;
#[cfg(test)]
mod tests;
