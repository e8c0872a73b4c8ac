//! Where the time went: by process and thread, function, line, file and package.

pub(crate) mod build;
pub(in crate::tools) mod costs;
mod detail;
pub(in crate::tools) mod frame_index;
pub(in crate::tools) mod heap;
mod imports;
pub(in crate::tools) mod launchers;
mod lines;
pub(in crate::tools) mod machine;
mod own_files;
pub(in crate::tools) mod owners;
pub(crate) mod page;
pub(in crate::tools) mod path_tree;
mod samples;
mod scripts;
pub(in crate::tools) mod shape;
pub(in crate::tools) mod shared_json;
mod stalls;
#[cfg(test)]
mod tests;
pub(in crate::tools) mod times;
mod tree;
