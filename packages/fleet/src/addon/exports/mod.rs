//! The functions that JavaScript and the recorder call. They pass values as those of the tools do.

mod build;
mod lake;
mod push;
