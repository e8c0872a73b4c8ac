//! The functions that JavaScript calls to work on recordings.

mod follow;
mod given;
mod lake;
mod run;
mod tools;
