//! The functions that JavaScript and the recorder call.

mod build;
mod lake;
mod push;
