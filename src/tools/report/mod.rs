//! Where the time went: by process and thread, function, line, file and package.

mod detail;
mod imports;
pub(crate) mod json;
mod modules;
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
