//! The functions that JavaScript calls to work on recordings.

mod follow;
mod run;
mod tools;
