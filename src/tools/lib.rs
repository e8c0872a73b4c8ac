//! Work on recordings that are finished: the addon of the command line, of `merge()` and `report()`.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

#[cfg(test)]
mod agreement;
mod check;
mod compare;
mod convert;
mod exports;
mod follow;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod lake;
mod merge;
mod page;
mod push;
mod read;
mod report;
mod shared;
