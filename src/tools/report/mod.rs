//! Where the time went: by process and thread, function, line, file and package.

pub(crate) mod build;
mod costs;
mod detail;
mod frame_index;
mod heap;
mod imports;
mod launchers;
mod lines;
mod machine;
mod own_files;
mod owners;
pub(crate) mod page;
mod path_tree;
mod samples;
mod scripts;
mod shape;
mod stalls;
#[cfg(test)]
mod tests;
mod tree;
