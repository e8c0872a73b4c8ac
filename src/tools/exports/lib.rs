//! The addon of the command line, of `merge()` and `report()`: the functions that JavaScript calls to work on
//! recordings.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

mod check;
mod compare;
mod convert;
mod end;
mod files;
mod follow;
mod merge;
mod page;
mod report;
mod run;
