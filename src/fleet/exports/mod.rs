//! The functions that JavaScript calls to keep runs on other machines.

mod lakes;
