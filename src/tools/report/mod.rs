//! Where the time went: by process and thread, function, file and package.

pub(crate) mod build;
mod costs;
mod frame_index;
mod package;
mod shape;
#[cfg(test)]
mod tests;
