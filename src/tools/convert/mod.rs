//! Converts a file to the format of the output's extension.

mod converted_files;
mod output_format;
pub(crate) mod run;
#[cfg(test)]
mod tests;
