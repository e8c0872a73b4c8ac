//! The functions that JavaScript calls to work on recordings.

mod run;
mod tools;
