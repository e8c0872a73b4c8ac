//! Where the time went: by process and thread, function, line, file and package.

mod built_ins;
mod detail;
mod imports;
pub(crate) mod json;
mod lines;
pub(crate) mod page_lists;
mod projects;
pub(crate) mod report;
mod scripts;
mod stalls;
#[cfg(test)]
mod tests;
mod tree;
mod typescript;
pub(crate) mod user_files;
