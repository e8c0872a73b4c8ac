//! Where the time went: by process and thread, function, line, file and package.

mod detail;
mod imports;
pub(crate) mod json;
mod lines;
mod native_causes;
mod native_threads;
pub(crate) mod page_lists;
pub(crate) mod report;
mod scripts;
mod stalls;
#[cfg(test)]
mod tests;
mod tree;
pub(crate) mod user_files;
