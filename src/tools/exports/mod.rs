//! The functions that JavaScript calls to work on recordings.

mod blame;
mod follow;
mod given;
mod lake;
mod push;
mod run;
mod tools;
