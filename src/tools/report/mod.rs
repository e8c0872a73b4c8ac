//! Where the time went: by process and thread, function, line, file and package.

mod detail;
mod imports;
pub mod json;
mod modules;
pub mod page_lists;
mod projects;
pub mod report;
mod scripts;
mod stalls;
#[cfg(test)]
mod tests;
mod tree;
mod typescript;
pub mod user_files;
