//! The functions that JavaScript calls to keep runs on other machines, and to send profiles to them.

mod lakes;
mod pushes;
mod work;
