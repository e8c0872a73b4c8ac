//! The functions that JavaScript calls to work on recordings.

mod follow;
mod given;
mod run;
mod tools;
